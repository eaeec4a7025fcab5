"""The named memory of a compiled brain as data: all that changes in a run, also what is only scratch."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine.python_state import UnavailableError
from nematodebench.kernels.memory import Memory

__all__ = ["put_back", "remembered"]


def remembered(view: Memory) -> Iterator[tuple[str, NDArray[Any]]]:
    """Names and copies of everything that is not fixed by config and body."""
    for name, field in type(view).fields.items():
        if field.part is not None:
            yield from ((f"{name}.{inner}", value) for inner, value in remembered(getattr(view, name)))
        elif not field.is_loaded and field.kind != "constants":
            yield name, np.array(getattr(view, name), dtype=field.element)


def put_back(view: Memory, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Fills a memory with what another of the same declaration held."""
    wanted = dict(remembered(view))
    for name in sorted({*wanted, *arrays}):
        if name not in wanted:
            raise UnavailableError("", f"its memory has no {name!r} here")
        if name not in arrays:
            raise UnavailableError("", f"its memory has a {name!r} here, which was not saved")
        if (wanted[name].shape, wanted[name].dtype) != (arrays[name].shape, arrays[name].dtype):
            here, there = (f"{one.dtype}{list(one.shape)}" for one in (wanted[name], arrays[name]))
            raise UnavailableError("", f"its memory {name!r} is {here}, in the file it is {there}")
    for name, value in arrays.items():
        _set(view, name, value)


def _set(view: Any, name: str, value: NDArray[Any]) -> None:
    *parts, own = name.split(".")
    for part in parts:
        view = getattr(view, part)
    if type(view).fields[own].is_array:
        getattr(view, own)[...] = value
    else:
        setattr(view, own, value.item())
