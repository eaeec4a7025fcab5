"""Shapes of runs that ``interval_coverage.py`` simulates beside those of its tables."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEAD", "OTHER"]

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
    "97/3": (lambda rng, size: _peaks(rng, size, [0.97, 0.03], [0.9, 0.2]), 0.879),
    "98/2": (lambda rng, size: _peaks(rng, size, [0.98, 0.02], [0.9, 0.2]), 0.886),
    "99/1": (lambda rng, size: _peaks(rng, size, [0.99, 0.01], [0.9, 0.2]), 0.893),
    "all equal": (lambda rng, size: np.full(size, 0.5), 0.5),
}
"""By name: how runs are drawn, and their true mean."""

HEAD = """## Other shapes

The metric of a session again. A mark follows what the runs show, so two things remain that no rule can mend:

- **What no run shows.** n runs without a failure leave open (at 95 %) that up to 3 in n fail: 6 % with 50 runs, 0.6 %
  with 500. Of a brain that fails once in 100 runs, 60 % of all sessions of 50 runs show nothing of it.
- **Sessions that look harmless by chance.** Of a skewed shape, those that lack the tail have no mark, and they are the
  ones that miss. The stronger the skewness, the fewer are left without a mark, and the worse they cover. What
  counts is how many of all sessions have no mark and miss: the last line names where they are more than 7 %.

| runs | 50 | 100 | 500 |
|---|---|---|---|"""
"""What the page says of them."""
