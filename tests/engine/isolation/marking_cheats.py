"""Brains that leave marks outside of their process: on the files of devices, and in what the whole machine counts."""

import contextlib
import ctypes
import os
import stat
from pathlib import Path

from cheats import Honest

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_CLONE, _THREAD_WITH_HANDLE = 56, 0x00010000 | 0x00000800 | 0x00000100 | 0x00001000


class MarksDevices(Honest):
    """Writes a number into the times of device files, which are the host's, by name and by what it prints to."""

    def __init__(self, *given):
        super().__init__(*given)
        passed = []
        for place in (*(f"/dev/{name}" for name in DEVICES), 1):
            with contextlib.suppress(OSError):
                os.utime(place, (4711, 4711))
                passed.append(f"times of {place}")
            with contextlib.suppress(OSError):
                os.chmod(place, stat.S_IMODE(os.stat(place).st_mode))  # noqa: PTH101, PTH116  (it may be a descriptor)
                passed.append(f"mode of {place}")
        if passed:
            raise RuntimeError(f"these passed: {passed}")


class CountsPipes(Honest):
    """Reads the number of a new pipe, and moves it on for the next run: the machine counts them in one row."""

    def __init__(self, *given):
        super().__init__(*given)
        for make in (os.pipe, lambda: os.pipe2(os.O_CLOEXEC)):
            with contextlib.suppress(PermissionError):
                raise RuntimeError(f"pipe {os.fstat(make()[0]).st_ino}")


class CountsItsOwnFiles(Honest):
    """Reads the numbers of the files that tell of its process, which are counted with those of pipes."""

    def __init__(self, *given):
        super().__init__(*given)
        found = [name for name in ("self", "1", "thread-self", "mounts", "net") if Path("/proc", name).exists()]
        if found or len(list(Path("/proc").iterdir())) > 1:
            raise RuntimeError(f"there are {found}")


class HasAHandle(Honest):
    """Starts a thread with a handle whose number counts all processes since the machine was started."""

    def __init__(self, *given):
        super().__init__(*given)
        library, handle = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
        if library.syscall(_CLONE, _THREAD_WITH_HANDLE, 0, ctypes.byref(handle), 0, 0) != -1 or ctypes.get_errno() != 1:
            raise RuntimeError(f"handle {os.fstat(handle.value).st_ino}")
