"""Where an interval is known to cover too rarely, as far as the runs can show it (docs/coverage.md).

No interval can tell what the runs do not show. Of twenty runs of a brain that fails in one training run of ten, none
fails in 12 % of all sessions, and then the runs look alike. So every interval of fewer than 50 runs is marked. From 50
runs on three things are seen: a group that is small and far from the others, whose size is too uncertain for a normal
interval; a long tail on one side, of which the runs seen are too few; and runs that are all alike, which give no
interval at all.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from nematodebench.stats.checks import BoolArray, FloatArray
from nematodebench.stats.intervals import FEW_RUNS, are_alike
from nematodebench.vocabulary import MARK

__all__ = [
    "LATER_DOUBTS", "MARK", "MARK_MEANING", "STEADY_RUNS", "Doubt", "doubt", "has_heavy_tail", "has_long_tail",
    "has_small_group", "share_doubt", "whole_doubt",
]  # fmt: skip

Doubt: TypeAlias = Literal["", "few runs", "small group", "long tail", "all alike", "few hits"]
LATER_DOUBTS: tuple[Doubt, ...] = ("long tail", "all alike", "few hits")
"""What older results have no mark for: it was not looked for when they were stored."""

STEADY_RUNS = 300
"""From this many runs of a session on the interval of its stability, which rests on a std, covers 93 % or more."""
MARK_MEANING = (
    f"{MARK} This 95 % interval may cover less than 93 %: there are fewer than {FEW_RUNS} runs (for stability fewer "
    f"than {STEADY_RUNS}), a few runs lie far from the others, their tail is long, or they are all alike."
)
_SMALL_GROUP = 20
_FAR = 3.0
_FEW_HITS = 4
_TAIL, _LONG_TAIL, _OFF_CENTRE = 0.15, 0.25, 1.5
_HEAVY_TAIL = 0.4


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


def has_long_tail(values: FloatArray) -> BoolArray:
    """Whether the runs of a row are too skewed for their number.

    What a t interval loses depends on the skewness over sqrt(n). Above 0.25 it is a long tail. From 0.15 on it is one
    if the median lies 1.5 standard errors from the mean, too: then the middle is skewed as well, not a few runs.
    """
    scaled, root = _scaled(values), math.sqrt(values.shape[-1])
    off_centre = np.abs(np.median(scaled, axis=-1)) * root > _OFF_CENTRE
    skewed = np.abs((scaled**3).mean(axis=-1)) / root
    long: BoolArray = (skewed > _LONG_TAIL) | ((skewed > _TAIL) & off_centre)
    return long


def has_heavy_tail(pseudo: FloatArray) -> BoolArray:
    """The same of pseudo-values of a spread. They are like squares: skewed even where the runs are not."""
    heavy: BoolArray = np.abs((_scaled(pseudo) ** 3).mean(axis=-1)) > _HEAVY_TAIL * math.sqrt(pseudo.shape[-1])
    return heavy


def _scaled(values: FloatArray) -> FloatArray:
    """How many standard deviations each run of a row is from the mean; runs that are all alike have no shape."""
    away = values - values.mean(axis=-1, keepdims=True)
    scale = np.where(are_alike(values), np.inf, np.sqrt((away**2).mean(axis=-1)))
    scaled: FloatArray = away / np.maximum(scale, np.finfo(np.float64).tiny)[..., np.newaxis]
    return scaled


def doubt(values: FloatArray) -> Doubt:
    """Why the interval of the mean of these runs may cover less than 93 %; empty where nothing shows it."""
    if values.size < FEW_RUNS:
        return "few runs"
    if are_alike(values):
        return "all alike"
    if has_small_group(values):
        return "small group"
    return "long tail" if has_long_tail(values) else ""


def whole_doubt(pseudo: FloatArray) -> Doubt:
    """Why the interval of what only a session as a whole has, its stability, may cover less than 93 %."""
    if pseudo.size < STEADY_RUNS:
        return "few runs"
    return "long tail" if has_heavy_tail(pseudo) else ""


def share_doubt(hits: float, n: int) -> Doubt:
    """Why Wilson's interval may cover less than 93 %: one to three runs alone make the share differ from 0 or 1."""
    if n < FEW_RUNS:
        return "few runs"
    return "few hits" if 0 < min(hits, n - hits) < _FEW_HITS else ""
