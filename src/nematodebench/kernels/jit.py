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

from nematodebench.errors import CompileError
from nematodebench.kernels.code_cache import KernelCache
from nematodebench.kernels.complaints import cannot_be_compiled
from nematodebench.kernels.target import cache_dirs

__all__ = [
    "F32", "F32M", "F64", "F64M", "I64", "INTERPRETED", "U64", "accessor", "first_class", "inline", "inlined",
    "inlined_natively", "intrinsic", "is_ready", "kernel", "merged",
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
_FOR_PYTHON = ("no_cpython_wrapper", "no_cfunc_wrapper")


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
        dispatcher = numba.njit(**_OPTIONS)(function)
        dispatcher.targetoptions["_nrt"] = allocates
        if cached:
            dispatcher._cache = KernelCache(function, lambda: cache_dirs(function.__code__.co_filename, *also))
        else:
            dispatcher.targetoptions |= dict.fromkeys(_FOR_PYTHON, True)
            dispatcher.__class__ = _Helper
        return cast("Callable[P, R]", dispatcher)

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


class _Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that kernels call, compiled without the code that takes Python's arguments apart.

    That code would take a sixth of all compilation. If Python calls the function nevertheless, it is compiled once
    more, with it.
    """

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What Python calls: another compilation of the same function."""
        if "for_python" not in vars(self):
            self.for_python = numba.njit(**_OPTIONS)(self.py_func)
            self.for_python.targetoptions = {**self.targetoptions, **dict.fromkeys(_FOR_PYTHON, False)}
        return self.for_python(*given, **named)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper on the path of every step: a kernel, always made part of its caller."""
    return function if INTERPRETED else inline(kernel()(function))


def inlined_natively(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper of updates that many callers share: made part of them in machine code alone.

    The modules for the browser are compiled from code without optimisation, and every copy is downloaded, so there
    the callers share one.
    """
    return kernel()(function) if numba.config.OPT == 0 else inlined(function)


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
            try:
                dispatcher.compile(signature)
            except Exception as error:
                raise CompileError(cannot_be_compiled(error, function)) from error
            dispatcher.disable_compile()
            dispatcher.__class__ = _FirstClass
            dispatcher.keep()
    return function


def is_ready(function: Callable[..., Any], signature: Any) -> bool:
    """Whether :func:`first_class` would have nothing to compile."""
    dispatcher: Any = function
    if INTERPRETED or dispatcher.signatures:
        return True
    kept = dispatcher._cache
    return isinstance(kept, KernelCache) and kept.holds(signature, dispatcher.targetctx)
