"""Has a run stopped improving, and since when? Calibrated to its own noise (EVALUATION.md, convergence).

A flat agent is called "not converged" at most 4.4 % of the time, whatever its success rate, for 50 episodes or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nematodebench.stats.checks import BoolArray, FloatArray, outcomes

__all__ = [
    "LOW_POWER_EPISODES",
    "Convergence",
    "convergence",
    "convergence_rows",
    "final_success_rate",
    "final_success_rates",
]

LOW_POWER_EPISODES = 200


@dataclass(frozen=True)
class Convergence:
    """The verdict on one run.

    Attributes:
        converged: Whether the last two quarters agree within their noise.
        onset: First episode (1-based) of the settled stretch; None if not converged, or if the run's very last window
            still falls below its own final level.
        low_power: Fewer than 200 episodes: a run still climbing may well pass as converged.
        last: Success rate in the last quarter (nan with fewer than 4 episodes, which never count as converged).
        previous: Success rate in the quarter before.
        tolerance: The largest difference between the two that counts as noise.
    """

    converged: bool
    onset: int | None
    low_power: bool
    last: float
    previous: float
    tolerance: float


def convergence(successes: ArrayLike) -> Convergence:
    """Judge one run from its success flags, in episode order."""
    return convergence_rows(outcomes("successes", successes, ndim=1)[np.newaxis])[0]


def convergence_rows(successes: ArrayLike) -> list[Convergence]:
    """`convergence` for each row of a (runs, episodes) matrix."""
    flags = outcomes("successes", successes, ndim=2)
    episodes = flags.shape[1]
    low_power = episodes < LOW_POWER_EPISODES
    block = episodes // 4
    if block == 0:
        return [Convergence(False, None, low_power, math.nan, math.nan, math.nan)] * len(flags)
    last = flags[:, episodes - block :].sum(axis=1)
    previous = flags[:, episodes - 2 * block : episodes - block].sum(axis=1)
    q = (last + previous + 1) / (2 * block + 2)
    tolerance = np.maximum(0.10, 2.15 * np.sqrt(2 * q * (1 - q) / block))
    converged = np.abs(last - previous) / block <= tolerance
    onset = _onsets(flags, last, block)
    settled = converged & (onset <= episodes)
    columns = zip(converged, settled, onset, last / block, previous / block, tolerance, strict=True)
    return [
        Convergence(bool(c), int(o) if s else None, low_power, float(f), float(g), float(t))
        for c, s, o, f, g, t in columns
    ]


def _onsets(flags: BoolArray, last: NDArray[np.int_], block: int) -> NDArray[np.int_]:
    """The episode (1-based) after the last window that falls clearly below the final level; 1 if none does."""
    episodes = flags.shape[1]
    width = max(20, episodes // 10)
    if width > episodes:
        return np.ones(len(flags), dtype=np.int_)
    q = (last + 1) / (block + 2)
    bar = last / block - (0.10 + 2.6 * np.sqrt(q * (1 - q) / width))
    violates = rolling_counts(flags, width) / width < bar[:, np.newaxis]
    # Counting from the right end: the window with 0-based start s ends with episode s + width.
    from_right = violates[:, ::-1].argmax(axis=1)
    return np.where(violates.any(axis=1), episodes - from_right + 1, 1)


def rolling_counts(flags: BoolArray, width: int) -> NDArray[np.int_]:
    """Successes in every window of `width` episodes: column s counts the episodes s to s + width - 1 (0-based)."""
    totals = np.zeros((flags.shape[0], flags.shape[1] + 1), dtype=np.int_)
    np.cumsum(flags, axis=1, out=totals[:, 1:])
    counts: NDArray[np.int_] = totals[:, width:] - totals[:, :-width]
    return counts


def final_success_rate(successes: ArrayLike) -> float:
    """Success from the onset of convergence to the end; without an onset, over the last max(10, E/10) episodes."""
    return float(final_success_rates(outcomes("successes", successes, ndim=1)[np.newaxis])[0])


def final_success_rates(successes: ArrayLike) -> FloatArray:
    """`final_success_rate` for each row of a (runs, episodes) matrix."""
    flags = outcomes("successes", successes, ndim=2)
    episodes = flags.shape[1]
    tail = max(0, episodes - max(10, episodes // 10))
    starts = [tail if verdict.onset is None else verdict.onset - 1 for verdict in convergence_rows(flags)]
    return np.array([row[start:].mean() for row, start in zip(flags, starts, strict=True)])
