"""System calls by which a process of ours shuts itself in before it becomes the process of a brain."""

import contextlib
import ctypes
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from nematodebench.engine.isolation.sandbox import STAGE, TEMPORARY
from nematodebench.engine.isolation.seccomp import filter_program

__all__ = ["die_with_parent", "own_name_spaces", "own_temporary_folder", "shut_in"]

_PDEATHSIG, _NO_NEW_PRIVILEGES, _SECCOMP, _AMBIENT, _DROP_FROM_BOUNDING = 1, 38, 22, 47, 24
_CLEAR_ALL, _FILTER, _SIGKILL = 4, 2, 9
_NAME_SPACES = 0x00020000 | 0x08000000 | 0x20000000
"""Mounts, memory that processes share, and numbers of processes."""
_NOSUID, _NODEV, _BIND, _MOVE, _RECURSIVELY = 2, 4, 4096, 8192, 16384
_CAPSET = 91 if platform.machine() == "aarch64" else 126
_CAPABILITIES_VERSION_3 = 0x20080522


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Has the system end this process when the one that started it is gone."""
    _checked(_library().prctl(_PDEATHSIG, _SIGKILL, 0, 0, 0), "to end with its parent")


def own_name_spaces() -> None:
    """The next child is the first process of a world of its own; mounts are this process's own from now on."""
    _checked(_library().unshare(_NAME_SPACES), "name spaces of its own")


def own_temporary_folder(size: int, kept: Sequence[Path]) -> None:
    """An empty ``/tmp`` in memory, which vanishes with the last process that sees it; these paths below it stay."""
    options = f"size={size},mode=1777".encode()
    _mount("tmpfs", STAGE, "tmpfs", _NOSUID | _NODEV, options)
    for path in kept:
        place = STAGE / path.relative_to(TEMPORARY)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        _mount(path, place, "", _BIND | _RECURSIVELY)
    _mount(STAGE, TEMPORARY, "", _MOVE)
    os.chdir(TEMPORARY)


def _mount(what: str | Path, where: Path, kind: str, flags: int, options: bytes | None = None) -> None:
    given = str(what).encode(), str(where).encode(), kind.encode(), flags, options
    _checked(_library().mount(*given), f"{where} of its own")


def shut_in() -> None:
    """Gives up every privilege, and every system call that a brain has no business with. There is no way back."""
    library = _library()
    _checked(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")
    for capability in range(64):
        with contextlib.suppress(OSError):  # it may not have been there
            _checked(library.prctl(_DROP_FROM_BOUNDING, capability, 0, 0, 0), "bounding set")
    _checked(library.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0), "no privilege for programs that it starts")
    header, nothing = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _checked(library.syscall(_CAPSET, header, nothing), "no privileges")
    program = filter_program()
    lines = ctypes.create_string_buffer(program, len(program))

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))

    given = _Program(len(program) // 8, ctypes.addressof(lines))
    _checked(library.prctl(_SECCOMP, _FILTER, ctypes.byref(given), 0, 0), "the filter of system calls")
