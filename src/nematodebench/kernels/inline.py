"""Inlining of physics that runs tens of millions of times a second.

An array takes seven machine words to hand over, so calling a helper costs as much as what most of them do. LLVM
inlines small functions by itself; these are to be inlined however large they are.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from nematodebench.kernels.abi import kernel

__all__ = ["inline", "inlined"]

P = ParamSpec("P")
R = TypeVar("R")


def inline(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a kernel: always made part of its caller."""
    dispatcher: Any = function
    dispatcher.targetoptions["forceinline"] = True
    return function


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a helper on the path of every step: a kernel, always made part of its caller."""
    return inline(kernel()(function))
