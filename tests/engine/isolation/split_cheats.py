"""Brains that look for what they share with the process that all runs are split off from, or for a terminal."""

import contextlib
import ctypes
import fcntl
import os
import stat
import sys
from pathlib import Path
from typing import ClassVar

from cheats import Honest

CAPGET, UNSHARE, MOUNT, SETNS = 125, 272, 165, 308


class HasPrivileges(Honest):
    """Looks for a privilege that is left from where it was split off, and uses it."""

    def __init__(self, *given):
        super().__init__(*given)
        library = ctypes.CDLL(None, use_errno=True)
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        library.syscall(CAPGET, header, sets)
        bounding = [number for number in range(41) if library.prctl(23, number, 0, 0, 0) > 0]
        ambient = [number for number in range(41) if library.prctl(47, 1, number, 0, 0) > 0]
        passed = [name for name, flags in self.spaces.items() if library.syscall(UNSHARE, flags) == 0]
        passed += ["mount"] if library.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0 else []
        passed += ["more privileges"] if library.prctl(39, 0, 0, 0, 0) != 1 else []
        passed += ["no filter"] if library.prctl(21, 0, 0, 0, 0) != 2 else []
        if any(sets) or ambient or passed:
            raise RuntimeError(f"{list(sets)} {bounding} {ambient} {passed}")

    spaces: ClassVar = {
        "user": 0x10000000,
        "mount": 0x00020000,
        "pid": 0x20000000,
        "net": 0x40000000,
        "ipc": 0x08000000,
    }


class FindsDescriptors(Honest):
    """Looks for whatever is open: a way to the host, to where it was split off, or to other runs."""

    def __init__(self, *given):
        super().__init__(*given)
        found = {}
        for number in range(128):
            with contextlib.suppress(OSError):
                found[number] = stat.filemode(os.fstat(number).st_mode)[0]
        if found != {0: "p", 1: "c", 2: "-"}:  # words, nothing, and a file of its own: not even its shared memory
            raise RuntimeError(f"open are {found}")
        if os.read(0, 100):
            raise RuntimeError("somebody else's words can be read")


class ChangesLibraries(Honest):
    """Changes what was imported before any run, and looks whether an earlier run has."""

    def __init__(self, *given):
        super().__init__(*given)
        import numpy as np

        np.random.default_rng()
        if hasattr(np, "mark") or hasattr(sys, "mark") or "mark" in sys.modules or "MARK" in os.environ:
            raise RuntimeError("an earlier run has been here")
        np.mark = sys.mark = sys.modules["mark"] = np
        os.environ["MARK"] = "here"
        np.ndarray.__doc__  # noqa: B018
        page = ctypes.pythonapi.Py_GetVersion
        page.restype = ctypes.c_void_p
        address = page() & ~4095
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), 4096, 3)
        kept = ctypes.string_at(page(), 4)
        if kept == b"mark":
            raise RuntimeError("an earlier run has written to the program itself")
        with contextlib.suppress(Exception):
            ctypes.memmove(page(), b"mark", 4)


class FindsTheStage(Honest):
    """Looks where its temporary folder was made, and for that of others."""

    def __init__(self, *given):
        super().__init__(*given)
        passed = []
        for place in ("/stage", "/stage/mark", "/mark"):
            with contextlib.suppress(OSError):
                (Path(place) / "mark").mkdir()
                passed.append(place)
        if passed or list(Path("/stage").iterdir()):
            raise RuntimeError(f"wrote to {passed}")


class TypesForTheUser(Honest):
    """Types a command into the terminal that the verification was started in, or takes it over."""

    def __init__(self, *given):
        super().__init__(*given)
        places = [*range(3)]
        with contextlib.suppress(OSError):
            places.append(os.open("/dev/tty", os.O_RDWR))
        for place in places:
            if os.isatty(place):
                raise RuntimeError(f"{place} is a terminal")
            for request in (0x5412, 0x541C, 0x540E):
                try:
                    fcntl.ioctl(place, request, b"\n")
                except PermissionError:
                    continue
                except OSError as error:
                    raise RuntimeError(f"the system was asked: {error}") from None
                raise RuntimeError("it typed")
