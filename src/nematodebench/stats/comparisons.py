"""Is A better than B? Difference with interval, probability of improvement, Holm (EVALUATION.md, comparisons)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, require_unit, vector
from nematodebench.stats.doubt import Doubt, doubt
from nematodebench.stats.improvement import improvement_interval, probability_of_improvement
from nematodebench.stats.intervals import ROUNDING, half_widths, t_critical

__all__ = ["Comparison", "compare", "holm"]

_DOUBTS: tuple[Doubt, ...] = ("few runs", "small group", "long tail")
"""Those of a difference; the first one that is found is named. A side that is all alike adds no error."""


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
        se: Standard error of the difference.
        df: Degrees of freedom of the t statistic.
        improvement_ci95: The 95 % interval of the probability of improvement.
        doubt: Why the interval of the difference may cover less than 93 %; empty where it does not.
    """

    difference: float
    ci95: tuple[float, float]
    p_value: float
    probability_of_improvement: float
    pairs: int
    n_x: int
    n_y: int
    se: float = math.nan
    df: float = math.nan
    improvement_ci95: tuple[float, float] = (math.nan, math.nan)
    doubt: Doubt = ""

    @property
    def runs(self) -> int:
        """The runs that the statistic rests on: pairs, or those of the smaller side."""
        return self.pairs or min(self.n_x, self.n_y)

    @property
    def can_tell(self) -> bool:
        """Whether there are enough runs to say anything: one or two that agree may do so by chance."""
        return self.runs > 2

    @property
    def improvement_doubt(self) -> Doubt:
        """The same of the probability of improvement, which rests on ranks: they have no tails."""
        return "" if self.doubt == "long tail" else self.doubt


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down adjusted p-values, in the order given: compare them with the family's error level."""
    p = require_unit("p_values", vector("p_values", p_values))
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def compare(
    x: ArrayLike, y: ArrayLike, seeds_x: Sequence[int] | None = None, seeds_y: Sequence[int] | None = None,
    pseudo_x: ArrayLike | None = None, pseudo_y: ArrayLike | None = None,
) -> Comparison:  # fmt: skip
    """Compare the run scores of x with those of y.

    Runs are paired by seed when at least half of each side's runs have a partner, and the paired t interval is of the
    pairs only; otherwise the interval is Welch's, of all runs.

    Args:
        x: One score per run.
        y: One score per run.
        seeds_x: The run seeds of x, in the same order; without seeds the comparison is unpaired.
        seeds_y: The run seeds of y.
        pseudo_x: Jackknife pseudo-values of x, for a score that a run does not have on its own: the error is theirs.
        pseudo_y: Those of y.
    """
    a, b = vector("x", x), vector("y", y)
    error_a, error_b = _errors("pseudo_x", pseudo_x, a), _errors("pseudo_y", pseudo_y, b)
    pairs = _pairs(_seed_index("seeds_x", seeds_x, a.size), _seed_index("seeds_y", seeds_y, b.size))
    if pairs:
        rows, partners = (list(side) for side in zip(*pairs, strict=True))
        differences = _settled(a[rows] - b[partners], a, b)
        difference, why = float(differences.mean()), _doubt(a, b, differences)
        errors = _settled(error_a[rows] - error_b[partners], error_a, error_b)
        se, df = _standard_error(errors), len(pairs) - 1.0
        chance = improvement_interval(a[rows], b[partners], paired=True)
    else:
        difference, why = _between_means(a, b), _doubt(a, b)
        se, df = _welch(error_a, error_b)
        chance = improvement_interval(a, b, paired=False)
    ci95, p_value = _t_inference(difference, se, df)
    return Comparison(
        difference, ci95, p_value, probability_of_improvement(a, b), len(pairs), a.size, b.size, se, df, chance, why
    )


def _doubt(a: FloatArray, b: FloatArray, differences: FloatArray | None = None) -> Doubt:
    """Why the interval of a difference may cover too rarely: tails of pairs count, and not those of their sides."""
    found = {doubt(a), doubt(b)}
    if differences is not None:
        found = {*(found - {"long tail"}), doubt(differences)}
    return next((why for why in _DOUBTS if why in found), "")


def _errors(name: str, pseudo: ArrayLike | None, values: FloatArray) -> FloatArray:
    if pseudo is None:
        return values
    found = vector(name, pseudo)
    if found.size != values.size:
        raise ValueError(f"{name} has {found.size} value(s) for {values.size} run(s): pass one for each run")
    return found


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


def _settled(differences: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Differences of pairs; those of a constant that rounding errors alone make unlike are all the same number."""
    if float(np.ptp(differences)) > ROUNDING * max(float(np.abs(a).max()), float(np.abs(b).max())):
        return differences
    return np.full_like(differences, np.median(differences))


def _between_means(a: FloatArray, b: FloatArray) -> float:
    """The difference of the means; 0 where it is a rounding error, as of ten and of seven times 0.1."""
    difference = float(a.mean() - b.mean())
    return difference if abs(difference) > ROUNDING * max(float(np.abs(a).max()), float(np.abs(b).max())) else 0.0


def _standard_error(values: FloatArray) -> float:
    return float(half_widths(values, 1.0)) if values.size > 1 else math.nan


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
