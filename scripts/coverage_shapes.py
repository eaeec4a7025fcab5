"""Shapes of runs that ``interval_coverage.py`` simulates beside those of its tables."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["OTHER"]

Array = NDArray[np.float64]
Rng = np.random.Generator


def _peaks(rng: Rng, size: tuple[int, ...], shares: list[float], places: list[float]) -> Array:
    return np.array(places)[rng.choice(len(shares), size, p=shares)] + rng.normal(0.0, 0.05, size)


def _rare(rng: Rng, size: tuple[int, ...], share: float, failing: Array) -> Array:
    return np.where(rng.random(size) < share, failing, rng.normal(0.9, 0.05, size))


OTHER: dict[str, tuple[Callable[[Rng, tuple[int, ...]], Array], float]] = {
    "three peaks, 60/20/20": (lambda rng, size: _peaks(rng, size, [0.6, 0.2, 0.2], [0.9, 0.5, 0.1]), 0.66),
    "any score alike": (lambda rng, size: rng.random(size), 0.5),
    "at both ends (beta .5, .5)": (lambda rng, size: rng.beta(0.5, 0.5, size), 0.5),
    "near the top (beta 8, 2)": (lambda rng, size: rng.beta(8.0, 2.0, size), 0.8),
    "counts (Poisson, mean 1)": (lambda rng, size: rng.poisson(1.0, size).astype(float), 1.0),
    "heavy tails (Student's t, 3 degrees)": (lambda rng, size: 0.5 + 0.05 * rng.standard_t(3.0, size), 0.5),
    "skewness -1.4 (gamma)": (lambda rng, size: 1.0 - rng.gamma(2.0, 0.05, size), 0.9),
    "skewness -2 (exponential)": (lambda rng, size: 1.0 - 0.1 * rng.exponential(1.0, size), 0.9),
    "at the top (beta 5, .5)": (lambda rng, size: rng.beta(5.0, 0.5, size), 10 / 11),
    "skewness -6 (log-normal)": (lambda rng, size: 1.0 - rng.lognormal(-3.0, 1.0, size), 1.0 - float(np.exp(-2.5))),
    "70 % at 0, others exponential": (lambda rng, size: rng.exponential(1.0, size) * (rng.random(size) > 0.7), 0.3),
    "10 % fail anyhow": (lambda rng, size: _rare(rng, size, 0.1, 0.9 * rng.random(size)), 0.855),
    "10 % a little worse": (lambda rng, size: _rare(rng, size, 0.1, rng.normal(0.7, 0.1, size)), 0.88),
    "95/5": (lambda rng, size: _peaks(rng, size, [0.95, 0.05], [0.9, 0.2]), 0.865),
    "99/1": (lambda rng, size: _peaks(rng, size, [0.99, 0.01], [0.9, 0.2]), 0.893),
    "all equal": (lambda rng, size: np.full(size, 0.5), 0.5),
}
"""By name: how runs are drawn, and their true mean."""
