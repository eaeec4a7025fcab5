"""Where an interval is known to cover too rarely: few runs, or a small group of runs apart (docs/coverage.md).

No interval can tell what the runs do not show. Of twenty runs of a brain that fails in one training run of ten, none
fails in 12 % of all sessions, and then the runs look alike. So every interval of fewer than 50 runs is marked. From 50
runs on a group that is small and far from the others is seen, and its size is too uncertain for a normal interval.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from nematodebench.stats.checks import BoolArray, FloatArray
from nematodebench.stats.intervals import FEW_RUNS
from nematodebench.vocabulary import MARK

__all__ = ["MARK", "MARK_MEANING", "STEADY_RUNS", "Doubt", "doubt", "has_small_group"]

Doubt: TypeAlias = Literal["", "few runs", "small group"]

STEADY_RUNS = 300
"""From this many runs of a session on the interval of its stability, which rests on a std, covers 93 % or more."""
MARK_MEANING = (
    f"{MARK} fewer than {FEW_RUNS} runs (stability: {STEADY_RUNS} a session), or a small group of runs far from the "
    "others: such an interval may cover less than 93 %"
)
_SMALL_GROUP = 20
_FAR = 3.0


def has_small_group(values: FloatArray) -> BoolArray:
    """Whether fewer than 20 runs of a row lie apart: behind a gap of 3 standard deviations within the groups."""
    ordered = np.sort(values, axis=-1)
    n = ordered.shape[-1]
    gaps = np.diff(ordered, axis=-1)
    cut = gaps.argmax(axis=-1)[..., np.newaxis]
    gap = np.take_along_axis(gaps, cut, axis=-1)[..., 0]
    left = (np.arange(n) <= cut).astype(np.float64)
    size = cut[..., 0] + 1
    square = np.zeros(gap.shape)
    for side, count in ((left, size), (1.0 - left, n - size)):
        mean = (ordered * side).sum(axis=-1) / count
        square += (side * (ordered - mean[..., np.newaxis]) ** 2).sum(axis=-1)
    within = np.sqrt(square / max(n - 2, 1))
    # A constant has no gap; two constants have nothing but one.
    apart: BoolArray = (gap > _FAR * within) & (np.minimum(size, n - size) < _SMALL_GROUP)
    return apart


def doubt(values: FloatArray) -> Doubt:
    """Why the interval of the mean of these runs may cover less than 93 %; empty where it does not."""
    if values.size < FEW_RUNS:
        return "few runs"
    return "small group" if bool(has_small_group(values)) else ""
