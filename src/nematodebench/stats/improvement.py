"""How likely a run of one brain beats a run of another, with its interval (EVALUATION.md, comparisons)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, vector
from nematodebench.stats.intervals import t_critical, wilson

__all__ = ["improvement_interval", "placements", "probability_of_improvement"]


def placements(a: FloatArray, b: FloatArray) -> FloatArray:
    """For each value of a the share of b that is below it; ties count one half."""
    ordered = np.sort(b)
    below = np.searchsorted(ordered, a, side="left") + np.searchsorted(ordered, a, side="right")
    shares: FloatArray = below / (2 * b.size)
    return shares


def probability_of_improvement(x: ArrayLike, y: ArrayLike) -> float:
    """The chance that a run of x beats a run of y: Mann-Whitney U / (n m), ties count one half."""
    a, b = vector("x", x), vector("y", y)
    return float(placements(a, b).mean())


def improvement_interval(a: FloatArray, b: FloatArray, paired: bool) -> tuple[float, float]:
    """The 95 % interval of the probability of improvement; (nan, nan) where a side has a single run.

    The variance is Brunner and Munzel's, from the placements of each side in the other. For pairs (a[k] and b[k] of one
    seed) the two placements of a pair are added first, which carries their correlation. The interval is computed on the
    scale of log odds, so that it stays between 0 and 1. Where every run of one side beats every run of the other, the
    variance is unknown, and Wilson's interval of as many runs as the smaller side has stands in.
    """
    chance, n = probability_of_improvement(a, b), min(a.size, b.size)
    if n < 2:
        return math.nan, math.nan
    up, down = placements(a, b), 1.0 - placements(b, a)
    if paired:
        variance, df = float((up + down).var(ddof=1)) / n, n - 1.0
    else:
        va, vb = float(up.var(ddof=1)) / a.size, float(down.var(ddof=1)) / b.size
        variance, spread = va + vb, va**2 / (a.size - 1) + vb**2 / (b.size - 1)
        df = variance**2 / spread if spread > 0 else 1.0
    if chance in (0.0, 1.0):
        return wilson(chance * n, n)
    if variance <= 0.0:
        return chance, chance
    odds, half = math.log(chance / (1 - chance)), t_critical(df) * math.sqrt(variance) / (chance * (1 - chance))
    return _chance(odds - half), _chance(odds + half)


def _chance(odds: float) -> float:
    """The probability of given log odds."""
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0
