"""The decorators that compile, and the types of arrays.

Code is generated for one fixed CPU level and kept on disk (:mod:`nematodebench.kernels.target`). With
``NUMBA_DISABLE_JIT=1`` in the environment nothing is compiled: the same source runs in the interpreter, where it can be
stepped through and where a wrong index raises an error.
"""

import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numba
import numba.extending
import numpy as np
from numba.core.registry import CPUDispatcher
from numpy.typing import NDArray

from nematodebench.kernels.target import cache_dir

__all__ = [
    "F32", "F32M", "F64", "F64M", "I64", "INTERPRETED", "U64", "accessor", "first_class", "inline", "inlined",
    "intrinsic", "kernel", "merged",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

F32: TypeAlias = NDArray[np.float32]
F32M: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
F64M: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]

INTERPRETED = bool(numba.config.DISABLE_JIT)
"""Whether kernels are left to the interpreter."""

_COMPILING = threading.Lock()

# Never fastmath: its reciprocal instructions are not fixed by the architecture and would break the bits.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def kernel(
    *, cached: bool = False, allocates: bool = False, also: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator for compiled functions.

    Helpers that other kernels call become part of those; ``cached`` is for the functions Python calls, whose
    machine code is kept on disk. Nothing is compiled before it is first called or passed to :func:`first_class`.
    Functions that make arrays say so (``allocates``): for the others Numba's reference counts, atomic instructions at
    every slice and call, are switched off, which made the step of a small world three times as fast. ``also`` names
    further source files that the machine code depends on.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if INTERPRETED:
            return function
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_dir(function.__code__.co_filename, *also))
        try:
            dispatcher = numba.njit(cache=cached, **_OPTIONS)(function)
            dispatcher.targetoptions["_nrt"] = allocates
            return cast("Callable[P, R]", dispatcher)
        finally:
            numba.config.CACHE_DIR = before

    return decorate


def inline(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a kernel that is always made part of its caller, however large it is.

    LLVM inlines small functions by itself. An array takes seven machine words to hand over, so on the path of every
    step calling a helper costs as much as what most of them do.
    """
    if not INTERPRETED:
        dispatcher: Any = function
        dispatcher.targetoptions["forceinline"] = True
    return function


class _PartOfKernels(CPUDispatcher):  # type: ignore[misc]
    """A compiled function without the code that takes Python's arguments apart."""

    def __call__(self, *given: Any, **named: Any) -> None:
        """Says so, where Numba would jump to code that does not exist."""
        raise TypeError(f"{self.__name__} is a part of the kernels that call it: Python cannot call it.")


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper on the path of every step: a kernel, always made part of its caller.

    Compiled, it cannot be called by Python: what Numba would generate for that takes long to compile.
    """
    if INTERPRETED:
        return function
    dispatcher: Any = inline(kernel()(function))
    dispatcher.targetoptions |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher.__class__ = _PartOfKernels
    return cast("Callable[P, R]", dispatcher)


def merged(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a function whose source becomes part of its one caller before anything is compiled.

    What :func:`inlined` does afterwards costs the time of compiling a function twice.
    """
    return function if INTERPRETED else cast("Callable[P, R]", numba.njit(inline="always", **_OPTIONS)(function))


def accessor(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper that returns an array over memory it was given, which is always made part of its caller.

    Numba lets a kernel return an array only with its reference counts on. They cost nothing here: memory that is read
    by name has no count.
    """
    return inline(kernel(allocates=True)(function))


def intrinsic(python: Callable[P, R]) -> Callable[[Callable[..., Any]], Callable[P, R]]:
    """Decorator for functions that generate LLVM code; ``python`` is what the interpreter does instead."""

    def decorate(function: Callable[..., Any]) -> Callable[P, R]:
        return python if INTERPRETED else cast("Callable[P, R]", numba.extending.intrinsic(function))

    return decorate


class _FirstClass(CPUDispatcher):  # type: ignore[misc]
    """A kernel of one signature. Numba asks for its code at every call that passes it on: here that is a lookup."""

    def keep(self) -> None:
        """Remembers the compiled code and its address."""
        (self._code,) = self.overloads.values()
        self._address = self._code.library.get_pointer_to_function(self._code.fndesc.llvm_cfunc_wrapper_name)

    @property
    def _numba_type_(self) -> Any:
        return self._type

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def get_compile_result(self, signature: Any) -> Any:
        """The compiled code; for any other signature the error that Numba raises."""
        return self._code if signature == self._code.signature else super().get_compile_result(signature)


def first_class(function: Callable[P, R], signature: Any) -> Callable[P, R]:
    """Compiles a kernel for its one signature (or loads it), so that it can be passed to another as an argument."""
    dispatcher: Any = function
    if INTERPRETED or isinstance(dispatcher, _FirstClass):
        return function
    with _COMPILING:
        if not dispatcher.signatures:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
            dispatcher.__class__ = _FirstClass
            dispatcher.keep()
    return function
