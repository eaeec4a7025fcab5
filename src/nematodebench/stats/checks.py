"""Input checks shared by `stats` and `scoring`: every refusal is one line that names the argument and the way out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BoolArray", "FloatArray", "matrix", "number", "outcomes", "require_unit", "vector"]

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def _numeric(name: str, values: ArrayLike) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is not a regular array of numbers: pass numbers, all rows of one length") from None
    if array.size == 0:
        raise ValueError(f"{name} is empty: pass at least one value")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity: leave missing runs out and report them as missing")
    return array


def _require_ndim(name: str, array: NDArray[Any], ndim: int) -> None:
    if array.ndim != ndim:
        shape = "one-dimensional" if ndim == 1 else f"{ndim}-dimensional"
        raise ValueError(f"{name} has shape {array.shape}: pass a {shape} array")


def number(name: str, value: float, low: float = -np.inf, high: float = np.inf) -> float:
    """A finite number in [low, high], or ValueError."""
    array = _numeric(name, value)
    _require_ndim(name, array, 0)
    result = float(array)
    if not low <= result <= high:
        raise ValueError(f"{name} is {result:g}: pass a number from {low:g} to {high:g}")
    return result


def vector(name: str, values: ArrayLike, least: int = 1) -> FloatArray:
    """A finite one-dimensional float array with at least `least` values, or ValueError."""
    array = _numeric(name, values)
    _require_ndim(name, array, 1)
    if array.size < least:
        raise ValueError(f"{name} has {array.size} value(s): pass at least {least}")
    return array


def matrix(name: str, values: ArrayLike) -> FloatArray:
    """A finite two-dimensional float array, or ValueError."""
    array = _numeric(name, values)
    _require_ndim(name, array, 2)
    return array


def require_unit(name: str, values: ArrayLike) -> FloatArray:
    """A finite float array of any shape with all values in [0, 1], or ValueError."""
    array = _numeric(name, values)
    if array.min() < 0.0 or array.max() > 1.0:
        raise ValueError(f"{name} spans {array.min():g} to {array.max():g}: pass shares from 0 to 1")
    return array


def outcomes(name: str, values: ArrayLike, ndim: int) -> BoolArray:
    """A boolean array of episode outcomes (bool or 0/1) with `ndim` dimensions, or ValueError."""
    array = (
        np.asarray(values) if isinstance(values, np.ndarray) and values.dtype == np.bool_ else _numeric(name, values)
    )
    if array.size == 0:
        raise ValueError(f"{name} is empty: pass at least one episode")
    _require_ndim(name, array, ndim)
    flags: BoolArray = array.astype(np.bool_)
    if array.dtype != np.bool_ and not (array == flags).all():
        raise ValueError(f"{name} holds other values than 0 and 1: pass one success flag per episode")
    return flags
