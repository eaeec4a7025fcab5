"""The two signatures every world and brain is compiled to, and the decorators that do it.

A *world* is two functions, ``reset`` and ``step``, of one signature; a *brain* is four (``init``, ``begin_episode``,
``act``, ``learn``) of another. Because the signatures are fixed, the run loop takes them as first-class compiled
functions: adding a world or a brain compiles that file alone.

World functions take ``(params, state, rng, action, obs, out)``:

| argument | type | meaning |
|---|---|---|
| params | f64[:] | the task's frozen parameters and lookup tables, shared by all runs, never written |
| state | f64[:] | everything the world remembers |
| rng | u64[:] | the episode's own stream (see :mod:`nematodebench.kernels.rng`) |
| action | f32[agent, :] | discrete actions as a number in column 0, effectors in [0, 1] otherwise |
| obs | f32[agent, :] | the observation, overwritten |
| out | f64[:] | ``terminated, truncated, reward of each agent..., metrics...`` |

Brain functions take ``(hyper, ints, mem, rng, obs, action, out)``: constants, sizes and counters, learned memory, the
exploration stream, the observation (one row), the action to fill (one row), and ``terminated, truncated, reward``.
"""

import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numba
import numba.extending
import numpy as np
from numba import types
from numpy.typing import NDArray

from nematodebench.kernels.target import cache_dir

__all__ = [
    "BRAIN",
    "F32",
    "F32M",
    "F64",
    "F64M",
    "I64",
    "OUT_REWARD",
    "OUT_TERMINATED",
    "OUT_TRUNCATED",
    "U64",
    "WORLD",
    "BrainFunction",
    "WorldFunction",
    "brain_kernel",
    "first_class",
    "intrinsic",
    "kernel",
    "world_kernel",
]

P = ParamSpec("P")
R = TypeVar("R")

F32: TypeAlias = NDArray[np.float32]
F32M: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
F64M: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
WorldFunction: TypeAlias = Callable[[F64, F64, U64, F32M, F32M, F64], None]
BrainFunction: TypeAlias = Callable[[F64, I64, F32, U64, F32M, F32M, F64], None]

_f64, _i64, _f32, _u64 = types.float64[::1], types.int64[::1], types.float32[::1], types.uint64[::1]
_f32m = types.float32[:, ::1]
WORLD = types.void(_f64, _f64, _u64, _f32m, _f32m, _f64)
BRAIN = types.void(_f64, _i64, _f32, _u64, _f32m, _f32m, _f64)

OUT_TERMINATED = 0
OUT_TRUNCATED = 1
OUT_REWARD = 2

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
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_dir(function.__code__.co_filename, *also))
        try:
            dispatcher = numba.njit(cache=cached, **_OPTIONS)(function)
            dispatcher.targetoptions["_nrt"] = allocates
            return cast("Callable[P, R]", dispatcher)
        finally:
            numba.config.CACHE_DIR = before

    return decorate


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's decorator for functions that generate LLVM code, typed."""
    return cast("Callable[..., Any]", numba.extending.intrinsic(function))


def world_kernel(function: WorldFunction) -> WorldFunction:
    """Decorator for a world's ``reset`` and ``step``."""
    return kernel(cached=True)(function)


def brain_kernel(function: BrainFunction) -> BrainFunction:
    """Decorator for a brain's ``init``, ``begin_episode``, ``act`` and ``learn``."""
    return kernel(cached=True)(function)


def first_class(function: Callable[P, R], signature: Any) -> Callable[P, R]:
    """Compiles a kernel for its one signature (or loads it), so that it can be passed to another as an argument."""
    dispatcher: Any = function
    with _COMPILING:
        if not dispatcher.signatures:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
    return function
