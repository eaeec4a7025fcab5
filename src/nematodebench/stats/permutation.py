"""Could two samples be exchanged? One-sided permutation test of their means (EVALUATION.md, claims)."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench.stats.checks import FloatArray, vector
from nematodebench.stats.intervals import ROUNDING

__all__ = ["exchange_p_value", "smallest_exchange_p_value"]

_ALL = 200_000
_DRAWN, _AT_ONCE = 99_999, 1_000
_SEED = 2026


def smallest_exchange_p_value(n_x: int, n_y: int) -> float:
    """The smallest p-value that samples of these sizes can have."""
    return 1.0 / math.comb(n_x + n_y, n_x)


def exchange_p_value(x: ArrayLike, y: ArrayLike) -> float:
    """The chance that the mean of x lies this far above that of y, if all values came from one distribution.

    It is exact whatever that distribution is: every way to divide the values counts once. Where there are more than
    200,000 ways, 99,999 of them are drawn from a fixed stream, so that the same values always give the same result.
    """
    a, b = vector("x", x), vector("y", y)
    values = np.concatenate([a, b])
    values = values - values.mean()
    spread = float(np.abs(values).max())
    if spread <= ROUNDING * float(np.abs(a).max() + np.abs(b).max()):
        return 1.0
    # Sums that differ by rounding errors only are ties, and ties count.
    observed = float(values[: a.size].sum()) - 1e-9 * spread
    if math.comb(values.size, a.size) <= _ALL:
        return float((values[_ways(values.size, a.size)].sum(axis=1) >= observed).mean())
    return (1 + _count_drawn(values, a.size, observed)) / (1 + _DRAWN)


@lru_cache(maxsize=2)
def _ways(n: int, k: int) -> NDArray[np.int16]:
    numbers = itertools.chain.from_iterable(itertools.combinations(range(n), k))
    return np.fromiter(numbers, np.int16, math.comb(n, k) * k).reshape(-1, k)


def _count_drawn(values: FloatArray, size: int, observed: float) -> int:
    rng = np.random.default_rng(_SEED)
    count = 0
    for start in range(0, _DRAWN, _AT_ONCE):
        rows = np.tile(values, (min(_AT_ONCE, _DRAWN - start), 1))
        count += int((rng.permuted(rows, axis=1)[:, :size].sum(axis=1) >= observed).sum())
    return count
