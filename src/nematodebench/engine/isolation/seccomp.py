"""A filter of system calls as a program of the kernel's packet filter: no processes, no sockets, no reaching out.

Threads are allowed (libraries start them), processes are not. Memory that belongs to no address space, as that of
System V or of anonymous files, would escape the limit of the process, so it cannot be had. Runs share the files that
they read, and the files of devices, so nothing is allowed that leaves a mark on a file for another run to see: locks,
leases, watches, times, modes, owners, attributes, and calls that ask or decide what the system keeps of it in memory,
or where. Of ``fcntl`` and ``ioctl``, which know more marks than anybody can list, only those operations are allowed
that libraries need. Pipes, handles of processes, mounts, and the files behind large pages have numbers that the whole
machine counts: whoever makes many moves the count on, and the next run could read it. How much room a disk has is the
same for all runs too. A forbidden call fails with "operation not permitted". A brain cannot ask to outlive the
process that holds its sandbox.
``clone3``, whose flags a filter cannot see, says that it does not exist, and libraries then use ``clone``; ``statx``
likewise, and libraries use ``stat``. So do all calls that are newer than this list.
"""

import struct
from collections.abc import Iterable

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
    "removexattrat": 466, "file_setattr": 469, "statfs": 137, "fstatfs": 138, "ustat": 136, "sysfs": 139,
    "statmount": 457, "listmount": 458, "quotactl_fd": 443, "timer_create": 222, "move_pages": 279, "mbind": 237,
    "migrate_pages": 256, "get_mempolicy": 239,
}  # fmt: skip
"""Numbers of system calls on x86-64 that a brain has no business with."""

_ARCH_X86_64 = 0xC000003E
_CLONE, _CLONE3, _FCNTL, _IOCTL, _MMAP, _PRCTL, _PRLIMIT, _SETRLIMIT, _STATX = 56, 435, 72, 16, 9, 157, 302, 160, 332
_X32, _UNKNOWN = 0x40000000, 463
"""From here on there are calls of another kind, and calls that came after this list was written."""
_SET_PDEATHSIG, _MAP_HUGETLB = 1, 0x40000
_OF_DESCRIPTORS = {
    "DUPFD": 0, "GETFD": 1, "SETFD": 2, "GETFL": 3, "SETFL": 4, "DUPFD_CLOEXEC": 1030, "GETPIPE_SZ": 1032,
    "GET_SEALS": 1034,
}  # fmt: skip
"""What ``fcntl`` may do: nothing that is kept with a file, as locks, leases and hints of how it is written are."""
_OF_STREAMS = {
    "TCGETS": 0x5401, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B, "FIONBIO": 0x5421, "FIONCLEX": 0x5450, "FIOCLEX": 0x5451
}  # fmt: skip
"""What ``ioctl`` may do: ask whether something is a terminal and what is to be read, and nothing to files or disks."""
_OF_USERS = {"NPROC": 6, "MEMLOCK": 8, "SIGPENDING": 11, "MSGQUEUE": 12}
"""Limits of what is counted for all processes of a user: whoever lowers one finds out how many there are."""
_CLONE_THREAD, _CLONE_PIDFD = 0x00010000, 0x00001000
_ALLOW, _EPERM, _ENOSYS, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 24, 32, 40


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _for(call: int, argument: int, test: int, values: Iterable[int], if_true: int, if_not: int) -> list[bytes]:
    """What becomes of a call: one thing if its argument passes the test with one of the values, another if not."""
    tests = [line for value in values for line in (_line(test, value, 0, 1), _line(_RETURN, if_true))]
    return [_line(_EQUAL, call, 0, len(tests) + 2), _line(_LOAD, argument), *tests, _line(_RETURN, if_not)]


def _for_limits() -> list[bytes]:
    """Limits may be asked for, and set where they are this process's own; never those of anybody else."""
    users = [line for value in _OF_USERS.values() for line in (_line(_EQUAL, value, 0, 1), _line(_RETURN, _EPERM))]
    lines = [_line(_LOAD, _FIRST_ARGUMENT), _line(_EQUAL, 0, 1, 0), _line(_RETURN, _EPERM)]
    for half in (_THIRD_ARGUMENT, _THIRD_ARGUMENT + 4):  # where the new limit is; nowhere if the old one is asked for
        lines += [_line(_LOAD, half), _line(_EQUAL, 0, len(users) + 2, 0), _line(_LOAD, _SECOND_ARGUMENT)]
        lines += [*users, _line(_RETURN, _ALLOW)]
    lines.append(_line(_RETURN, _ALLOW))
    return [_line(_EQUAL, _PRLIMIT, 0, len(lines)), *lines]


def filter_program() -> bytes:
    """The program; a process installs it just before it becomes that of a brain."""
    lines = [
        _line(_LOAD, _ARCH),
        _line(_EQUAL, _ARCH_X86_64, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, _X32, 0, 1),
        _line(_RETURN, _KILL),
        _line(_AT_LEAST, _UNKNOWN, 0, 1),
        _line(_RETURN, _ENOSYS),
        _line(_EQUAL, _CLONE, 0, 6),
        _line(_LOAD, _FIRST_ARGUMENT),
        _line(_ANY_BIT, _CLONE_PIDFD, 0, 1),
        _line(_RETURN, _EPERM),
        _line(_ANY_BIT, _CLONE_THREAD, 0, 1),
        _line(_RETURN, _ALLOW),
        _line(_RETURN, _EPERM),
    ]
    for number in (_CLONE3, _STATX):
        lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _ENOSYS)]
    lines += _for(_FCNTL, _SECOND_ARGUMENT, _EQUAL, _OF_DESCRIPTORS.values(), _ALLOW, _EPERM)
    lines += _for(_IOCTL, _SECOND_ARGUMENT, _EQUAL, _OF_STREAMS.values(), _ALLOW, _EPERM)
    lines += _for_limits()
    lines += _for(_SETRLIMIT, _FIRST_ARGUMENT, _EQUAL, _OF_USERS.values(), _EPERM, _ALLOW)
    lines += _for(_PRCTL, _FIRST_ARGUMENT, _EQUAL, [_SET_PDEATHSIG], _EPERM, _ALLOW)  # dies with who holds its sandbox
    lines += _for(_MMAP, _FOURTH_ARGUMENT, _ANY_BIT, [_MAP_HUGETLB], _EPERM, _ALLOW)
    for number in FORBIDDEN.values():
        lines += [_line(_EQUAL, number, 0, 1), _line(_RETURN, _EPERM)]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])
