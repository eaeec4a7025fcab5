"""Intervals of a mean over runs, and the formula of the jackknife (EVALUATION.md, intervals).

Functions with "rows" in their description take any number of leading axes, with the runs on the last one.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import BoolArray, FloatArray, vector
from nematodebench.stats.student import T95

__all__ = [
    "FEW_RUNS", "RESAMPLES", "ROUNDING", "Z95", "IntervalMethod", "are_alike", "critical", "deviations", "half_widths",
    "interval", "is_share", "percentile_interval", "pseudo_values", "t_critical", "wilson",
]  # fmt: skip

IntervalMethod: TypeAlias = Literal["auto", "normal", "t", "bootstrap"]

RESAMPLES = 2000
Z95 = 1.96
"""Half of a normal 95 % interval in standard errors, as the metrics define it."""
FEW_RUNS = 50
"""Below this many runs intervals are Student's."""
ROUNDING = 1e-12
"""Values that differ by less than this share of the largest of them are the same number."""
_TABLE = range(1, len(T95) + 1)


def percentile_interval(replicates: FloatArray) -> tuple[float, float]:
    """The middle 95 % of bootstrap replicates."""
    low, high = np.quantile(replicates, [0.025, 0.975])
    return float(low), float(high)


def t_critical(df: float, level: float = 0.95) -> float:
    """The two-sided point of Student's t (from scipy.special: scipy.stats takes a second to import)."""
    if level == 0.95 and df in _TABLE:
        return T95[int(df) - 1]
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def critical(n: int) -> float:
    """Half of the 95 % interval of a mean of n runs, in standard errors: Student's t below 50 runs, then 1.96."""
    return t_critical(n - 1) if n < FEW_RUNS else Z95


def half_widths(values: FloatArray, factor: float) -> FloatArray:
    """Of rows of runs: factor x std / sqrt(n)."""
    halves: FloatArray = factor * deviations(values) / math.sqrt(values.shape[-1])
    return halves


def are_alike(values: FloatArray) -> BoolArray:
    """Whether the runs of a row differ by no more than rounding errors: how much others would is then unknown."""
    alike: BoolArray = values.max(axis=-1) - values.min(axis=-1) <= ROUNDING * np.abs(values).max(axis=-1)
    return alike


def deviations(values: FloatArray) -> FloatArray:
    """Sample standard deviation of rows of runs: exactly 0 for runs that are all alike.

    The mean of ten times 0.1 is not 0.1 in floating point, so a constant would have a deviation of 10^-17.
    """
    found: FloatArray = np.where(are_alike(values), 0.0, values.std(axis=-1, ddof=1))
    return found


def pseudo_values(whole: ArrayLike, without: FloatArray) -> FloatArray:
    """The jackknife's pseudo-values of a statistic: n x (of all runs) - (n - 1) x (of all runs but one).

    Their spread is that of a mean, so std / sqrt(n) is the statistic's standard error.

    Args:
        whole: The statistic of all runs, one for each row.
        without: Rows of the statistic without run k.
    """
    n = without.shape[-1]
    values: FloatArray = n * np.asarray(whole, dtype=np.float64)[..., np.newaxis] - (n - 1) * without
    return values


def is_share(values: FloatArray) -> bool:
    """Whether all values are 0 or 1, so that their mean is the share of the runs that did something."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share: it has a width also where all runs agree."""
    share, z2 = hits / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At the ends the formula gives the end itself, but for rounding.
    return (0.0 if hits == 0 else centre - half), (1.0 if hits == n else centre + half)


def interval(values: ArrayLike, method: IntervalMethod = "auto", rng: int = 0) -> tuple[float, float]:
    """The 95 % interval of the mean of independent runs; the same input always gives the same interval.

    docs/coverage.md shows how often it covers the mean, and `doubt` tells where that is known to be too rare.

    Args:
        values: One number per run.
        method: "normal" is mean ± 1.96 std/sqrt(n); "t" replaces 1.96 by Student's value; "auto" is "t" below 50 runs
            and "normal" from there on; "bootstrap" is the percentile bootstrap, made for n >= 50.
        rng: Seed of the bootstrap's own generator.

    Returns:
        (low, high); (nan, nan) for a single run, because one value carries no information about its spread.
    """
    if method not in ("auto", "normal", "t", "bootstrap"):
        raise ValueError(f"method is {method!r}: pass 'auto', 'normal', 't' or 'bootstrap'")
    array = vector("values", values)
    n = array.size
    if n == 1:
        return math.nan, math.nan
    if method == "bootstrap":
        picks = np.random.default_rng(rng).integers(0, n, size=(RESAMPLES, n))
        return percentile_interval(array[picks].mean(axis=1))
    factor = {"auto": critical(n), "normal": Z95, "t": t_critical(n - 1)}[method]
    mean, half = float(array.mean()), float(half_widths(array, factor))
    return mean - half, mean + half
