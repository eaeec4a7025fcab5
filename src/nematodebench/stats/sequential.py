"""Decisions while runs come in: group-sequential tests that keep their error rate (EVALUATION.md, verdicts).

Looking again and again at growing data and stopping at the first p-value below 5 % would be wrong far more often than
in 5 % of all cases. Here the looks are fixed beforehand and share the error: the chance that any of them errs is at
most the sum of theirs, whatever the data and however the looks depend on each other.
"""

from __future__ import annotations

import itertools

from nematodebench.stats.comparisons import Comparison
from nematodebench.stats.verdicts import EQUIVALENCE_LEVEL, LEVEL, SMALLEST_EFFECT, Verdict, verdict

__all__ = ["FIRST_LOOK", "look_levels", "look_sizes", "sequential_verdict"]

FIRST_LOOK = 10
_GROWTH = 1.6


def look_sizes(most: int) -> list[int]:
    """After how many runs of each side the data are looked at: 10, then 1.6 times as many, the last time at `most`."""
    if most < 3:
        raise ValueError(f"most is {most}: pass at least 3 runs, fewer decide nothing")
    sizes = itertools.takewhile(
        lambda n: _GROWTH * n <= 1.25 * most, (round(FIRST_LOOK * _GROWTH**k) for k in range(99))
    )
    return [*(n for n in sizes if n < most), most]


def look_levels(most: int, level: float) -> list[float]:
    """The level of each look. They add up to `level`; the last look, which all runs enter, has two shares."""
    looks = len(look_sizes(most))
    shares = [1.0] * (looks - 1) + [2.0]
    return [level * share / sum(shares) for share in shares]


def sequential_verdict(comparison: Comparison, look: int, most: int, smallest: float = SMALLEST_EFFECT) -> Verdict:
    """Judges what is known at a look.

    Args:
        comparison: x against y, of the runs so far.
        look: Number of the look, from 0.
        most: The largest number of runs of each side.
        smallest: The smallest difference that matters, in units of the score.
    """
    return verdict(
        comparison, smallest, level=look_levels(most, LEVEL)[look],
        equivalence_level=look_levels(most, EQUIVALENCE_LEVEL)[look],
    )  # fmt: skip
