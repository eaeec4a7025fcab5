"""Compile options of physics that runs tens of millions of times a second.

Numba counts references to every array it slices or hands to a function that is not inlined, with atomic instructions
that cost more than the step of a small world (125 ns counted, 36 ns not). Functions that allocate nothing need no
counting: what they are given outlives them.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from nematodebench.kernels.abi import kernel

__all__ = ["inlined", "lean"]

P = ParamSpec("P")
R = TypeVar("R")


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a kernel that allocates nothing: compiled without reference counts."""
    dispatcher: Any = function
    dispatcher.targetoptions["_nrt"] = False
    return function


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper on the path of every step: lean, and always part of its caller."""
    compiled = lean(kernel()(function))
    dispatcher: Any = compiled
    dispatcher.targetoptions["forceinline"] = True
    return compiled
