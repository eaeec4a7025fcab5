"""A band that holds for a whole curve at once (EVALUATION.md, comparisons)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, matrix

__all__ = ["BAND_RESAMPLES", "median_band"]

BAND_RESAMPLES = 2000
"""Bootstrap samples of runs: the share of curves within the band is known to half a per cent."""
_LEVEL = 0.95
_PLACES = 1.5
"""So many standard errors of the median's rank, on both sides."""


def median_band(curves: ArrayLike, rng: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The median over runs at every point, and the 95 % band that holds the true median at all points at once.

    The band lies between two order statistics of the runs, the same at every point. Which ones, the runs decide:
    whole runs are drawn again and again, and the band is as wide as the number of runs below the median strays in
    95 % of the draws, at the point where it strays most. So the band knows how the points of a curve depend on each
    other, and assumes no distribution. Of very few runs it goes from the lowest to the highest.

    Args:
        curves: (runs, points) matrix.
        rng: Seed of the bootstrap's own generator: the same input always gives the same band.
    """
    array = matrix("curves", curves)
    runs = array.shape[0]
    ordered, middle = np.sort(array, axis=0), np.median(array, axis=0)
    depth = _depth(ordered, array, np.random.default_rng(rng))
    return middle, ordered[depth], ordered[runs - 1 - depth]


def _depth(ordered: FloatArray, array: FloatArray, generator: np.random.Generator) -> int:
    """How many runs may lie outside the band on each side."""
    runs = array.shape[0]
    times = generator.multinomial(runs, np.full(runs, 1.0 / runs), size=BAND_RESAMPLES).astype(np.float32)
    # The true median is not exactly where that of the runs is: the places on both sides of it count as well.
    shift = round(_PLACES * 0.5 * runs**0.5)
    places = {min(max((runs - 1) // 2 + step, 0), runs - 1) for step in (-shift, 0, shift)}
    strayed = 0.0
    for place in sorted(places):
        below = (array <= ordered[place]).astype(np.float32)
        moved = np.abs(times @ below - below.sum(axis=0)).max(axis=1)
        strayed = max(strayed, float(np.quantile(moved, _LEVEL, method="higher")))
    return int(np.clip(runs / 2 - strayed - 1, 0, (runs - 1) // 2))
