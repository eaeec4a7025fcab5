"""Pseudo-values of what only a session as a whole has: its stability, and the composite that contains it.

A run's composite contains the stability of its session, which is estimated from the same runs. Intervals that
ignore this are too narrow (EVALUATION.md, intervals). All functions take rows: runs on the last axis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.scoring.nematode import composite
from nematodebench.stats import pseudo_values
from nematodebench.stats.checks import FloatArray, require_unit

__all__ = ["composite_pseudo_values", "stabilities", "stability_pseudo_values"]

_DOMINATES = 1e-3


def stabilities(final_success_rates: FloatArray) -> FloatArray:
    """The stability of each row, see `stability`."""
    means = final_success_rates.mean(axis=-1)
    squares = ((final_success_rates - means[..., np.newaxis]) ** 2).sum(axis=-1)
    return _steadiness(means, squares, final_success_rates.shape[-1])


def _steadiness(means: FloatArray, squares: FloatArray, n: int) -> FloatArray:
    """1 - std / mean in [0, 1] from means and sums of squared deviations; 0 where the mean is 0."""
    spread = np.sqrt(squares / max(n - 1, 1))
    ratio = np.divide(spread, means, out=np.ones_like(means), where=means > 0)
    limited: FloatArray = np.clip(1.0 - ratio, 0.0, 1.0)
    return limited


def _without_one(rates: FloatArray) -> FloatArray:
    """The stability of each row without run k."""
    n = rates.shape[-1]
    means = rates.mean(axis=-1, keepdims=True)
    away = rates - means
    squares = (away**2).sum(axis=-1, keepdims=True)
    left, rest = np.maximum(squares - away**2 * n / (n - 1), 0.0), means - away / (n - 1)
    # Where one run makes nearly all of the spread, the subtractions above leave rounding errors only.
    for place in map(tuple, np.argwhere(left < _DOMINATES * squares)):
        others = np.delete(rates[place[:-1]], place[-1])
        rest[place] = others.mean()
        left[place] = ((others - rest[place]) ** 2).sum()
    return _steadiness(rest, left, n - 1)


def stability_pseudo_values(final_success_rates: ArrayLike) -> FloatArray:
    """Pseudo-values of the stability, from the final success rate of each run.

    One run of two has no stability. Of fewer than three runs every pseudo-value is the session's stability itself.
    """
    rates = require_unit("final_success_rates", final_success_rates)
    whole = stabilities(rates) if rates.shape[-1] > 1 else np.zeros(rates.shape[:-1])
    if rates.shape[-1] < 3:
        return np.broadcast_to(whole[..., np.newaxis], rates.shape).copy()
    return pseudo_values(whole, _without_one(rates))


def composite_pseudo_values(
    success_rate: FloatArray, distance_efficiency: FloatArray, learning_speed: FloatArray,
    final_success_rates: ArrayLike,
) -> FloatArray:  # fmt: skip
    """Pseudo-values of the session's composite: that of each run, with the pseudo-value of the stability in it."""
    nothing = np.zeros_like(success_rate)
    own = composite(success_rate, distance_efficiency, learning_speed, 0.0)
    # The pseudo-value of a mean is the run's own value, and the composite is linear.
    values: FloatArray = own + composite(nothing, nothing, nothing, 1.0) * stability_pseudo_values(final_success_rates)
    return values
