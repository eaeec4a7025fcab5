"""Aggregates of a (runs, tasks) score matrix with stratified bootstrap intervals (EVALUATION.md, comparisons)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, matrix, number, vector
from nematodebench.stats.intervals import RESAMPLES, percentile_interval

__all__ = ["iqm", "optimality_gap", "performance_profile", "stratified_bootstrap"]


def _flat(scores: ArrayLike) -> FloatArray:
    array = np.asarray(scores)
    return vector("scores", array.ravel() if array.ndim == 2 else scores)


def iqm(scores: ArrayLike) -> float:
    """Interquartile mean: the mean of what is left when a quarter of the scores is cut off at each end.

    Args:
        scores: One number per run, or a (runs, tasks) matrix, taken as one pool.
    """
    array = np.sort(_flat(scores))
    cut = array.size // 4
    return float(array[cut : array.size - cut].mean())


def optimality_gap(scores: ArrayLike, target: float = 1.0) -> float:
    """How far the scores fall short of `target` on average; what exceeds it does not make up for the rest."""
    goal = number("target", target)
    return goal - float(np.minimum(_flat(scores), goal).mean())


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> FloatArray:
    """The share of runs (over all tasks) that score above each threshold."""
    ordered = np.sort(_flat(scores))
    above = ordered.size - np.searchsorted(ordered, vector("thresholds", thresholds), side="right")
    shares: FloatArray = above / ordered.size
    return shares


def stratified_bootstrap(
    scores: ArrayLike, statistic: Callable[[FloatArray], float], rng: int = 0
) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic over tasks, resampling runs within each task.

    Args:
        scores: (runs, tasks) matrix with at least two runs a task.
        statistic: Maps such a matrix to a number: `iqm`, `optimality_gap`, `np.mean`, ...
        rng: Seed of the bootstrap's own generator: the same input always gives the same interval.
    """
    array = matrix("scores", scores)
    runs, tasks = array.shape
    if runs < 2:
        raise ValueError("scores has one run for each task: pass at least two, one run has no interval")
    generator = np.random.default_rng(rng)
    columns = np.arange(tasks)
    picks = generator.integers(0, runs, size=(RESAMPLES, runs, tasks))
    return percentile_interval(np.array([statistic(array[rows, columns]) for rows in picks], dtype=np.float64))
