"""Is A better than B? Difference with interval, probability of improvement, Holm (EVALUATION.md, comparisons)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, require_unit, vector
from nematodebench.stats.values import t_critical

__all__ = ["Comparison", "compare", "holm", "probability_of_improvement"]


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: x minus y.

    Attributes:
        difference: Mean difference (of the pairs when paired, otherwise of the two means).
        ci95: Its 95 % t interval; (nan, nan) when a side has a single run.
        p_value: Two-sided, of the same t statistic; nan when the interval is.
        probability_of_improvement: That a run of x beats a run of y, over all runs of both.
        pairs: Number of pairs by seed; 0 if the runs were compared unpaired.
        n_x: Runs of x.
        n_y: Runs of y.
    """

    difference: float
    ci95: tuple[float, float]
    p_value: float
    probability_of_improvement: float
    pairs: int
    n_x: int
    n_y: int


def probability_of_improvement(x: ArrayLike, y: ArrayLike) -> float:
    """The chance that a run of x beats a run of y: Mann-Whitney U / (n m), ties count one half."""
    a, b = vector("x", x), np.sort(vector("y", y))
    wins = np.searchsorted(b, a, side="left").sum()
    wins_and_ties = np.searchsorted(b, a, side="right").sum()
    return float(wins + wins_and_ties) / (2 * a.size * b.size)


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down adjusted p-values, in the order given: compare them with the family's error level."""
    p = require_unit("p_values", vector("p_values", p_values))
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def compare(
    x: ArrayLike, y: ArrayLike, seeds_x: Sequence[int] | None = None, seeds_y: Sequence[int] | None = None
) -> Comparison:
    """Compare the run scores of x with those of y.

    Runs are paired by seed when at least half of each side's runs have a partner, and the paired t interval is of the
    pairs only; otherwise the interval is Welch's, of all runs.

    Args:
        x: One score per run.
        y: One score per run.
        seeds_x: The run seeds of x, in the same order; without seeds the comparison is unpaired.
        seeds_y: The run seeds of y.
    """
    a, b = vector("x", x), vector("y", y)
    pairs = _pairs(_seed_index("seeds_x", seeds_x, a.size), _seed_index("seeds_y", seeds_y, b.size))
    if pairs:
        gaps = np.array([a[i] - b[j] for i, j in pairs])
        difference, se, df = float(gaps.mean()), _standard_error(gaps), gaps.size - 1.0
    else:
        difference = float(a.mean() - b.mean())
        se, df = _welch(a, b)
    ci95, p_value = _t_inference(difference, se, df)
    chance = probability_of_improvement(a, b)
    return Comparison(difference, ci95, p_value, chance, len(pairs), a.size, b.size)


def _seed_index(name: str, seeds: Sequence[int] | None, runs: int) -> dict[int, int]:
    if seeds is None:
        return {}
    index = {int(seed): k for k, seed in enumerate(seeds)}
    if len(seeds) != runs or len(index) != runs:
        raise ValueError(f"{name} has {len(index)} distinct seed(s) for {runs} run(s): pass one own seed per run")
    return index


def _pairs(index_x: dict[int, int], index_y: dict[int, int]) -> list[tuple[int, int]]:
    shared = [(k, index_y[seed]) for seed, k in index_x.items() if seed in index_y]
    # A few chance partners among many runs would throw most of the data away.
    return shared if 2 * len(shared) >= max(len(index_x), len(index_y)) else []


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan


def _welch(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Standard error of the difference of means and its Welch-Satterthwaite degrees of freedom."""
    va, vb = _standard_error(a) ** 2, _standard_error(b) ** 2
    spread = va**2 / max(a.size - 1, 1) + vb**2 / max(b.size - 1, 1)
    df = (va + vb) ** 2 / spread if spread > 0 else float(a.size + b.size - 2)
    return math.sqrt(va + vb), df


def _t_inference(difference: float, se: float, df: float) -> tuple[tuple[float, float], float]:
    if math.isnan(se):
        return (math.nan, math.nan), math.nan
    if se == 0.0:
        return (difference, difference), 1.0 if difference == 0.0 else 0.0
    from scipy.special import stdtr

    half = t_critical(df) * se
    return (difference - half, difference + half), 2.0 * float(stdtr(df, -abs(difference) / se))
