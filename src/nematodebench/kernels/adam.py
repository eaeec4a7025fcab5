"""Adam, the optimiser of all networks here (.9, .999, 1e-5), on flat arrays of parameters and gradients."""

import numpy as np

from nematodebench.kernels.jit import F32, kernel
from nematodebench.kernels.memory import Memory, counter, floats, size
from nematodebench.kernels.vectors import sum_squares

__all__ = ["Adam", "adam_step"]


class Adam(Memory):
    """The optimiser's memory of ``count`` parameters."""

    count = size()
    momentum = floats("count")
    variance = floats("count")
    steps = counter()


@kernel()
def _power(x: float, n: int) -> float:
    result = 1.0
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@kernel()
def adam_step(adam: Adam, parameters: F32, gradients: F32, rate: float, max_norm: float) -> None:
    """Clips the gradient's norm (0 = never) and makes one step."""
    scale = np.float32(1.0)
    if max_norm > 0.0:
        norm = np.sqrt(sum_squares(gradients))
        if norm > max_norm:
            scale = np.float32(max_norm / norm)
    adam.steps += 1
    momentum, variance = adam.momentum, adam.variance
    step = np.float32(rate / (1.0 - _power(0.9, adam.steps)))
    root = np.float32(1.0 / np.sqrt(1.0 - _power(0.999, adam.steps)))
    for n in range(adam.count):
        gradient = gradients[n] * scale
        momentum[n] = np.float32(0.9) * momentum[n] + np.float32(0.1) * gradient
        variance[n] = np.float32(0.999) * variance[n] + np.float32(0.001) * gradient * gradient
        parameters[n] -= step * momentum[n] / (np.sqrt(variance[n]) * root + np.float32(1e-5))
