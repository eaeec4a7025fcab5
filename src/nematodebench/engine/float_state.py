"""The state of a processor's floating-point unit, which a library may change and which decides bits.

``torch.set_flush_denormal(True)`` makes numbers below 1e-38 zero for the thread that calls it, and a library may leave
another direction of rounding behind. Both belong to a thread, and new threads inherit them. So every run sets what the
standard (IEEE 754) says, and puts back what it found. Imports no compiler: isolated brains use it too.
"""

import contextlib
import ctypes
import platform
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["standard_floats"]

_BYTES = 512
"""More than the state takes on any processor."""
_X87, _X87_STANDARD = 0, b"\x7f\x03"
_MXCSR, _MXCSR_STANDARD = 28, b"\x80\x1f\x00\x00"
"""Where the two control words of x86-64 lie in the state, and what they are when a process starts: rounding to the
nearest, no exception is trapped, and small numbers are numbers."""
_DEFAULT = ctypes.c_void_p(-1)
"""What glibc calls ``FE_DFL_ENV``."""


@cache
def _library() -> Any:
    """The functions of the C library that read and set the state; None where it has none."""
    try:
        # PyDLL keeps the GIL: letting it go costs more than these functions do.
        library = ctypes.PyDLL("libm.so.6")
        for function in (library.fegetenv, library.fesetenv):
            function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_int
    except (OSError, AttributeError):
        return None
    return library


def _standard(found: "ctypes.Array[ctypes.c_char]") -> Any:
    """The standard state."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return _DEFAULT
    words = bytearray(found.raw)
    words[_X87 : _X87 + 2] = _X87_STANDARD
    words[_MXCSR : _MXCSR + 4] = _MXCSR_STANDARD
    return ctypes.create_string_buffer(bytes(words), _BYTES)


@contextlib.contextmanager
def standard_floats() -> Iterator[None]:
    """Computes as the standard says while the block runs, in this thread; then the state is again what it was."""
    library = _library() if sys.platform.startswith("linux") else None
    if library is None:  # bits are promised for x86-64 under Linux; elsewhere the state stays what it is
        yield
        return
    found = ctypes.create_string_buffer(_BYTES)
    library.fegetenv(found)
    library.fesetenv(_standard(found))
    try:
        yield
    finally:
        library.fesetenv(found)
