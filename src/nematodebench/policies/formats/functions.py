"""Policies that are functions: what they return is the action."""

import copy
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.imports import import_class
from nematodebench.policies.base import Observation, Policy, Use

__all__ = ["FunctionPolicy", "file_of", "read"]


class FunctionPolicy:
    """A callable from an observation to an action; where it has a method ``begin_episode``, that is called too."""

    def __init__(self, function: Callable[[Observation], Any]) -> None:
        self._function = copy.deepcopy(function)  # an object may remember: each run has one of its own

    def begin_episode(self) -> None:
        """Tells an object that wants to know."""
        begin = getattr(self._function, "begin_episode", None)
        if callable(begin):
            begin()

    def act(self, observation: Observation) -> Any:
        """What the function returns."""
        return self._function(observation)


def read(source: str, use: Use) -> Policy:
    """The function of ``module:function`` or ``file.py:function``. Importing it executes its file."""
    if use.sample:
        raise UsageError(f"{source} is a function and returns the action itself: there is nothing to sample.")
    return FunctionPolicy(_function(source))


def file_of(source: str) -> Path | None:
    """The file that defines a function; None where there is none."""
    place = source.rpartition(":")[0]
    _function(source)
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _function(source: str) -> Callable[[Observation], Any]:
    found: Any = import_class("Policy", source, what="function")
    if inspect.isclass(found):
        raise UsageError(
            f"{source} is a class, and a policy is a function. A class is a brain: nematodebench run TASK {source}."
        )
    if not callable(found):
        raise UsageError(f"{source} is no function: it is a {type(found).__name__}.")
    return found  # type: ignore[no-any-return]
