"""Brains that look for a way to tell another run something: what is kept with a file, and what all runs count together.

Most of these carry numbers from one run to the next. A brain that finds one learns through all runs of a session, and
is verified as one that learned in each of them.
"""

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import struct
from pathlib import Path

import numpy as np
from cheats import Honest

_LIBRARY = ctypes.CDLL(None, use_errno=True)
_BUFFER = ctypes.create_string_buffer(4096)
_HERE = 4
_READ = {"F_GET_RW_HINT": 1035, "F_GET_FILE_RW_HINT": 1037}
_WRITTEN = {"F_SET_RW_HINT": 1036, "F_SET_FILE_RW_HINT": 1038}
_OF_FILES = {
    "FIEMAP": 0xC020660B, "FIBMAP": 1, "FS_IOC_GETFLAGS": 0x80086601, "FS_IOC_SETFLAGS": 0x40086602,
    "FS_IOC_GETVERSION": 0x80087601, "FS_IOC_SETVERSION": 0x40087602, "FS_IOC_FSGETXATTR": 0x801C581F,
    "FS_IOC_ADD_ENCRYPTION_KEY": 0xC0506617, "FS_IOC_GET_ENCRYPTION_KEY_STATUS": 0xC080661A,
    "FS_IOC_ENABLE_VERITY": 0x40806685, "FICLONE": 0x40049409, "FIDEDUPERANGE": 0xC0189436, "FITRIM": 0xC0185879,
    "BLKGETSIZE64": 0x80081272, "RNDGETENTCNT": 0x80045200, "RNDADDTOENTCNT": 0x40045201, "TIOCSETD": 0x5423,
}  # fmt: skip


def call(number, *given):
    """A system call; OSError where it is refused."""
    found = _LIBRARY.syscall(number, *(ctypes.c_long(one) if isinstance(one, int) else one for one in given))
    if found < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return found


class Tries(Honest):
    """Tries one thing after another, and says which were not refused."""

    def __init__(self, *given):
        super().__init__(*given)
        passed = []
        for name, attempt in self.attempts():
            with contextlib.suppress(OSError, ValueError):
                attempt()
                passed.append(name)
        if passed:
            raise RuntimeError(f"these passed: {passed}")

    def attempts(self):
        """Names, and what is tried."""
        raise NotImplementedError


class HintsAtFiles(Tries):
    """Says how a library's file, or a device, will be written: the system keeps that for whoever asks next."""

    def attempts(self):
        for place in (np.__file__, "/dev/null", "/usr"):
            file = os.open(place, os.O_RDONLY)
            for name, what in {**_READ, **_WRITTEN}.items():
                yield f"{name} {place}", lambda file=file, what=what: fcntl.fcntl(file, what, struct.pack("Q", _HERE))


class AsksFileSystems(Tries):
    """Asks disks and devices where something lies, or to keep something."""

    def attempts(self):
        for place in (np.__file__, "/dev/urandom", 2):
            file = place if place == 2 else os.open(place, os.O_RDONLY)
            for name, what in _OF_FILES.items():
                yield f"{name} {place}", lambda file=file, what=what: fcntl.ioctl(file, what, bytearray(512))


class AsksForRoom(Tries):
    """Asks how much room the disk has: what another run prints would take some of it."""

    def attempts(self):
        places = {"/usr": os.statvfs, "/": os.statvfs, 2: os.fstatvfs}
        yield from ((f"room in {place}", lambda ask=ask, place=place: ask(place)) for place, ask in places.items())
        yield "ustat", lambda: call(136, Path("/usr").stat().st_dev, _BUFFER)
        if os.fstat(2).st_dev != Path("/tmp").stat().st_dev:
            yield "print to a disk of the host's", lambda: None


class OpensTerminals(Tries):
    """Opens a terminal, which runs that go on at the same time could write to and read from."""

    def attempts(self):
        yield "a pair", os.openpty
        yield "a name", lambda: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        yield "a folder of them", Path("/dev/pts/here").mkdir
        yield "those of others", Path("/dev/pts/0").stat


class CountsSignals(Tries):
    """Takes all timers, or signals that wait, which are counted for all processes of the user together."""

    def attempts(self):
        made = ctypes.c_int()
        event = struct.pack("QiI48x", 0, 0, signal.SIGRTMIN)
        for what, given in {"a timer": event, "a timer without a signal": struct.pack("QiI48x", 0, 0, 1)}.items():
            yield what, lambda given=given: call(222, 1, ctypes.create_string_buffer(given, 64), ctypes.byref(made))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN + 3})
        yield "a signal that waits", lambda: call(234, os.getpid(), _LIBRARY.gettid(), int(signal.SIGRTMIN) + 3)


class CountsFilesInMemory(Tries):
    """Makes thousands of files in memory, and looks for a descriptor whose file has a number from the same row."""

    def attempts(self):
        for number in range(3, 128):
            yield f"descriptor {number}", lambda number=number: os.fstat(number)
        before = os.fstat(2).st_ino, Path("/tmp").stat().st_ino
        for _ in range(2000):
            mmap.mmap(-1, 4096, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()
        # A folder of its own counts from one; the folders on the way to the brain's files come before the errors.
        if max(before) > 50 or before != (os.fstat(2).st_ino, Path("/tmp").stat().st_ino):
            yield f"numbers {before}", lambda: None


class CountsThreads(Tries):
    """Lowers a limit on what all runs of a user have together, and sees by trying how much of it they have.

    Where a verifier is not root, this read the number of threads of the runs beside it exactly.
    """

    def attempts(self):
        for name in ("NPROC", "MEMLOCK", "SIGPENDING", "MSGQUEUE"):
            which = getattr(resource, f"RLIMIT_{name}", {"SIGPENDING": 11, "MSGQUEUE": 12}.get(name))
            lower = ctypes.create_string_buffer(struct.pack("QQ", 1, resource.getrlimit(which)[1]))
            yield f"prlimit {name}", lambda which=which, lower=lower: call(302, 0, which, lower, 0)
            yield f"setrlimit {name}", lambda which=which, lower=lower: call(160, which, lower)
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))  # its own are for it to lower
        asked = ctypes.create_string_buffer(16)
        if call(302, 0, 6, 0, asked) != 0 or resource.getrlimit(resource.RLIMIT_NOFILE) != (100, 100):
            raise RuntimeError("limits cannot be asked for")


class TakesLargePages(Tries):
    """Asks for large pages: the machine has one stock of them, and counts the files behind them."""

    def attempts(self):
        for extra in (0, 0x4000):  # the other one takes none of the stock
            flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x40000 | extra
            yield f"flags {flags:x}", lambda flags=flags: mmap.mmap(-1, 2 << 20, flags=flags)


class FillsPipes(Tries):
    """Makes its pipe larger, which is counted for all pipes of the user."""

    def attempts(self):
        yield "its size", lambda: fcntl.fcntl(0, 1031, 1 << 20)
        yield "whose signal", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        yield "which signal", lambda: fcntl.fcntl(0, 10, int(signal.SIGUSR1))


class PlacesPages(Tries):
    """Moves a page of a library to another part of the machine's memory, or asks where it is."""

    def attempts(self):
        address = ctypes.addressof(_BUFFER) & ~4095
        calls = {"move_pages": 279, "mbind": 237, "migrate_pages": 256, "get_mempolicy": 239}
        for name, number in calls.items():
            yield name, lambda number=number: call(number, 0 if number == 279 else address, 0, 0, 0, 0, 0)


class AsksForMounts(Tries):
    """Asks for numbers of mounts, which count all sandboxes that there ever were, and for calls that nobody knows."""

    def attempts(self):
        yield "statx", lambda: call(332, -100, ctypes.c_char_p(b"/tmp"), 0, 0x4000, _BUFFER)
        request = ctypes.create_string_buffer(struct.pack("IIQQ", 24, 0, (1 << 64) - 1, 0))
        yield "listmount", lambda: call(458, request, _BUFFER, 16, 0)
        yield "statmount", lambda: call(457, request, _BUFFER, 512, 0)
        for number in (139, 443, *range(463, 500)):
            yield f"call {number}", lambda number=number: call(number, 0, 0, 0, 0, 0)


class PrintsAndLeaves(Honest):
    """Prints more than anybody reads, then its last words, and is gone."""

    def begin_episode(self):
        for _ in range(30):
            os.write(2, b"x" * 999 + b"\n")
        os.write(2, b"these are my last words\n")
        os._exit(3)
