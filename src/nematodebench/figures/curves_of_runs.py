"""Learning curves of runs: what is followed, over which episodes it is averaged, and where it is read off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nematodebench.measures.base import RunRecords
from nematodebench.tasks.base import Phase, Task

__all__ = ["Curves", "curves_of"]

_POINTS = 100
_WINDOW = 20
"""Episodes that a point averages: as many as the score's own rolling window has."""


@dataclass(frozen=True)
class Curves:
    """What runs did while they learned.

    Attributes:
        x: Where the curves are read off.
        values: One row for each run.
        x_title: What x counts.
        y_title: What is followed, and over how many episodes.
    """

    x: NDArray[np.float64]
    values: NDArray[np.float64]
    x_title: str
    y_title: str


def _followed(task: Task, phase: Phase) -> str:
    """Success where episodes have it; else the score, if episodes have that; else the reward."""
    names = ("success", task.score_key, "reward")
    return next(name for name in names if name in phase.columns)


def curves_of(task: Task, runs: Sequence[RunRecords]) -> Curves | None:
    """The curves of a task's first phase, in which brains learn; None where it has too few episodes.

    Args:
        task: With the columns that the records have.
        runs: The records of finished runs.
    """
    phase = task.phases[0]
    tables = [run[phase.name] for run in runs]
    shortest = min((len(table) for table in tables), default=0)
    if shortest < 2:
        return None
    name = _followed(task, phase)
    window = max(1, min(_WINDOW, shortest // 5))
    column, steps = phase.columns.index(name), phase.columns.index("steps")
    means = [_rolling(table[:, column], window) for table in tables]
    if phase.ticks:
        ends = [np.cumsum(table[:, steps])[window - 1 :] for table in tables]
        grid = np.linspace(max(end[0] for end in ends), min(end[-1] for end in ends), _POINTS)
        values = [mean[np.searchsorted(end, grid, side="right") - 1] for mean, end in zip(means, ends, strict=True)]
        x_title = "ticks of experience"
    else:
        grid = np.unique(np.linspace(window, shortest, min(_POINTS, shortest - window + 1)).round())
        values = [mean[grid.astype(np.int64) - window] for mean in means]
        x_title = "episode"
    words = name.replace("_", " ") + (f", mean of the last {window} episodes" if window > 1 else "")
    return Curves(grid, np.stack(values), x_title, words)


def _rolling(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """The mean of the last episodes, from the first one that has enough before it."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    means: NDArray[np.float64] = (total[window:] - total[:-window]) / window
    return means
