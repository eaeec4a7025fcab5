"""Gaussian heads for effectors: a mean for each, one spread for all; what is drawn is cut off at the ends of [0, 1].

The log probability is that of the number that was drawn, before it was cut off, as policy gradients need it.
"""

import numpy as np

from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.math import log32
from nematodebench.kernels.rng import normal

__all__ = ["gaussian_gradient", "gaussian_log_probability", "gaussian_spread_gradient", "sample_gaussian"]

_HALF_LOG_2PI = np.float32(0.9189385332046727)


@kernel()
def gaussian_log_probability(means: F32, spread: np.float32, chosen: F32) -> np.float32:
    """Log density of the numbers that were drawn, summed over the effectors."""
    total = np.float32(0.0)
    for n in range(chosen.size):
        distance = (chosen[n] - means[n]) / spread
        total -= np.float32(0.5) * distance * distance + log32(spread) + _HALF_LOG_2PI
    return total


@kernel()
def sample_gaussian(means: F32, spread: np.float32, chosen: F32, rng: U64, action: F32) -> np.float32:
    """Draws a number for every effector, stores it in ``chosen``, and cuts it off for the action.

    Returns the log probability. A mean that is not finite makes the action NaN, which ends the run as failed.
    """
    for n in range(chosen.size):
        chosen[n] = means[n] + spread * np.float32(normal(rng))
        action[n] = min(max(chosen[n], np.float32(0.0)), np.float32(1.0)) if np.isfinite(chosen[n]) else chosen[n]
    return gaussian_log_probability(means, spread, chosen)


@kernel()
def gaussian_gradient(means: F32, spread: np.float32, chosen: F32, weight: np.float32, gradient: F32) -> None:
    """Writes ``weight`` x the derivative of the log probability by every mean."""
    scale = weight / (spread * spread)
    for n in range(chosen.size):
        gradient[n] = scale * (chosen[n] - means[n])


@kernel()
def gaussian_spread_gradient(means: F32, spread: np.float32, chosen: F32) -> np.float32:
    """The derivative of the log probability by the logarithm of the spread."""
    total = np.float32(0.0)
    for n in range(chosen.size):
        distance = (chosen[n] - means[n]) / spread
        total += distance * distance - np.float32(1.0)
    return total
