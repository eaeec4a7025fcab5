"""What learning one task does to the others: transfer matrix, forgetting, backward and forward transfer.

The definitions are those of the Continual World benchmark (Wolczyk and others, 2021). All functions take any number of
leading axes, so that a (runs, ...) array gives one value per run, ready for `nematodebench.stats.interval`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats.checks import FloatArray, require_unit

__all__ = ["backward_transfer", "forgetting", "forgetting_by_task", "forward_transfer", "transfer_matrix"]


def transfer_matrix(successes: ArrayLike) -> FloatArray:
    """Success on task j after learning task i.

    Args:
        successes: (..., tasks learned so far, tasks tested, episodes) success flags of the tests.

    Returns:
        (..., N, N): row i is the agent just after it finished learning task i, column j the task tested.
    """
    rates: FloatArray = require_unit("successes", successes).mean(axis=-1)
    return _square("successes", rates)


def forgetting_by_task(matrix: ArrayLike) -> FloatArray:
    """Success on each task just after learning it minus success on it at the very end; negative: it improved since."""
    rates = _square("matrix", require_unit("matrix", matrix))
    lost: FloatArray = np.diagonal(rates, axis1=-2, axis2=-1) - rates[..., -1, :]
    return lost


def forgetting(matrix: ArrayLike) -> FloatArray:
    """Mean of `forgetting_by_task` over all N tasks (the last one, never followed by another, contributes 0)."""
    means: FloatArray = forgetting_by_task(matrix).mean(axis=-1)
    return means


def backward_transfer(matrix: ArrayLike) -> FloatArray:
    """What later learning gave to earlier tasks: minus their forgetting.

    Averaged over the N - 1 tasks that something was learned after, so that it does not shrink for short sequences.
    """
    gained: FloatArray = -forgetting_by_task(matrix)[..., :-1].mean(axis=-1)
    return gained


def forward_transfer(areas: ArrayLike, reference_areas: ArrayLike) -> FloatArray:
    """How much faster tasks are learned in sequence than alone, as a share of what was left to gain.

    (area - reference) / (1 - reference), averaged over tasks, where a task's area is that under its success curve while
    it is being learned: with evenly spaced episodes, the mean success over them.

    Args:
        areas: (..., N) areas of the agent going through the sequence.
        reference_areas: (N,) areas of fresh agents that learn each task alone, averaged over runs.
    """
    sequence, alone = require_unit("areas", areas), require_unit("reference_areas", reference_areas)
    if alone.ndim != 1 or sequence.ndim < 1 or sequence.shape[-1] != alone.size:
        raise ValueError(
            f"areas {sequence.shape} and reference_areas {alone.shape} differ: pass one area per task each"
        )
    if (alone == 1.0).any():
        raise ValueError("reference_areas contains 1: nothing is left to gain on that task, leave it out")
    gains: FloatArray = ((sequence - alone) / (1.0 - alone)).mean(axis=-1)
    return gains


def _square(name: str, rates: FloatArray) -> FloatArray:
    if rates.ndim < 2 or rates.shape[-1] != rates.shape[-2] or rates.shape[-1] < 2:
        raise ValueError(f"{name} gives a matrix of shape {rates.shape}: pass learned x tested tasks, at least 2 x 2")
    return rates
