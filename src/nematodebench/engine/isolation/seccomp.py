"""A filter of system calls as a program of the kernel's packet filter: no processes, no sockets, no reaching out.

Threads are allowed (libraries start them), processes are not. Memory that belongs to no address space, as that of
System V or of anonymous files, would escape the limit of the process, so it cannot be had. Runs share the files that
they read, and the files of devices, so nothing is allowed that leaves a mark on a file for another run to see: locks,
leases, watches, times, modes, owners, attributes, and calls that ask or decide what the system keeps of it in memory.
Pipes, and handles of processes, have numbers that the whole machine counts: whoever makes many moves the count on, and
the next run could read it. A forbidden call fails with "operation not permitted". A brain cannot ask to outlive the
process that holds its sandbox.
``clone3``, whose flags a filter cannot see, says that it does not exist, and libraries then use ``clone``.
"""

import struct

__all__ = ["FORBIDDEN", "filter_program"]

FORBIDDEN = {
    "fork": 57, "vfork": 58, "kill": 62, "tkill": 200, "ptrace": 101, "socket": 41, "socketpair": 53, "connect": 42,
    "bind": 49, "listen": 50, "accept": 43, "accept4": 288, "sendto": 44, "sendmsg": 46, "execveat": 322,
    "process_vm_readv": 310, "process_vm_writev": 311, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
    "pivot_root": 155, "chroot": 161, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "keyctl": 250, "add_key": 248, "request_key": 249,
    "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438, "open_by_handle_at": 304, "setsid": 112,
    "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64, "mq_open": 240, "memfd_create": 319, "memfd_secret": 447,
    "flock": 73, "inotify_init": 253, "inotify_init1": 294, "inotify_add_watch": 254, "fanotify_init": 300,
    "mincore": 27, "fadvise64": 221, "readahead": 187, "cachestat": 451, "preadv2": 327, "pwritev2": 328,
    "name_to_handle_at": 303, "process_madvise": 440, "process_mrelease": 448, "kcmp": 312, "syslog": 103,
    "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "fsmount": 432, "fspick": 433, "mount_setattr": 442, "quotactl": 179, "acct": 163, "modify_ldt": 154,
    "iopl": 172, "ioperm": 173, "delete_module": 176, "sethostname": 170, "setdomainname": 171,
    "sysinfo": 99, "io_setup": 206, "sync": 162, "syncfs": 306, "sync_file_range": 277, "getcpu": 309,
    "personality": 135, "init_module": 175, "finit_module": 313, "kexec_load": 246, "reboot": 169, "swapon": 167,
    "pipe": 22, "pipe2": 293, "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93,
    "lchown": 94, "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
    "lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    "removexattrat": 466, "file_setattr": 469,
}  # fmt: skip
"""Numbers of system calls on x86-64 that a brain has no business with."""

_ARCH_X86_64 = 0xC000003E
_CLONE, _CLONE3, _FCNTL, _IOCTL, _PRCTL, _PRLIMIT, _X32 = 56, 435, 72, 16, 157, 302, 0x40000000
_SET_PDEATHSIG = 1
_MARKS = {"SETLK": 6, "SETLKW": 7, "OFD_SETLK": 37, "OFD_SETLKW": 38, "SETLEASE": 1024, "NOTIFY": 1026}
"""What ``fcntl`` can leave on a file that others see."""
_TYPING = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSCTTY": 0x540E}
"""What ``ioctl`` can do to a terminal: type for its user, take it over."""
_CLONE_THREAD, _CLONE_PIDFD = 0x00010000, 0x00001000
_ALLOW, _EPERM, _ENOSYS, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def filter_program() -> bytes:
    """The program; bubblewrap installs it just before it starts the brain's process."""
    lines = [
        _line(_LOAD, _ARCH),
        _line(_EQUAL, _ARCH_X86_64, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, _X32, 0, 1),
        _line(_RETURN, _KILL),
        _line(_EQUAL, _CLONE3, 0, 1),
        _line(_RETURN, _ENOSYS),
        _line(_EQUAL, _CLONE, 0, 6),
        _line(_LOAD, _FIRST_ARGUMENT),
        _line(_ANY_BIT, _CLONE_PIDFD, 0, 1),
        _line(_RETURN, _EPERM),
        _line(_ANY_BIT, _CLONE_THREAD, 0, 1),
        _line(_RETURN, _ALLOW),
        _line(_RETURN, _EPERM),
    ]
    for call, forbidden in ((_FCNTL, _MARKS), (_IOCTL, _TYPING)):
        tests = [line for what in forbidden.values() for line in (_line(_EQUAL, what, 0, 1), _line(_RETURN, _EPERM))]
        lines += [_line(_EQUAL, call, 0, len(tests) + 2), _line(_LOAD, _SECOND_ARGUMENT), *tests]
        lines += [_line(_RETURN, _ALLOW)]
    own = [_line(_LOAD, _FIRST_ARGUMENT), _line(_EQUAL, 0, 0, 1), _line(_RETURN, _ALLOW), _line(_RETURN, _EPERM)]
    lines += [_line(_EQUAL, _PRLIMIT, 0, len(own)), *own]  # limits of nobody else
    stays = [_line(_LOAD, _FIRST_ARGUMENT), _line(_EQUAL, _SET_PDEATHSIG, 0, 1), _line(_RETURN, _EPERM)]
    stays += [_line(_RETURN, _ALLOW)]
    lines += [_line(_EQUAL, _PRCTL, 0, len(stays)), *stays]  # it dies with whoever holds its sandbox
    for number in FORBIDDEN.values():
        lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _EPERM)]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])
