"""What a torch population does for all its lanes beside torch, one compiled call each.

Acting takes a row of each lane through the lane's own network. Torch spends most of that time between its operations,
so chains of linear layers with plain activations between them go through :func:`forward_lanes`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from nematodebench.kernels.jit import F32, F32M, F64, F64M, I64, first_class, inlined, kernel
from nematodebench.kernels.math import exp32, fma, tanh32
from nematodebench.kernels.memory import Block, counter

__all__ = [
    "POPULATION_FUNCTIONS", "RELU", "TANH", "Layer", "adam_lanes", "advantages_lanes", "choose_lanes", "forward_lanes",
]  # fmt: skip

TANH, RELU = 1, 2
"""Activations behind a layer; 0 is none."""


class Layer(Block):
    """A linear layer: its widths, where its weights ``[input, output]`` and biases begin, and what follows it."""

    inputs = counter()
    outputs = counter()
    weights = counter()
    biased = counter()
    bias = counter()
    activation = counter()


@inlined
def _linear(flat: F32, layer: Layer, x: F32, y: F32) -> None:
    """Four inputs at a time, because the outputs are then read and written a quarter as often."""
    outputs = layer.outputs
    for o in range(outputs):
        y[o] = flat[layer.bias + o] if layer.biased > 0 else np.float32(0.0)
    whole = layer.inputs // 4 * 4
    for i in range(0, whole, 4):
        at = layer.weights + i * outputs
        first, second = flat[at : at + outputs], flat[at + outputs : at + 2 * outputs]
        third, fourth = flat[at + 2 * outputs : at + 3 * outputs], flat[at + 3 * outputs : at + 4 * outputs]
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for o in range(outputs):
            y[o] = fma(d, fourth[o], fma(c, third[o], fma(b, second[o], fma(a, first[o], y[o]))))
    for i in range(whole, layer.inputs):
        for o in range(outputs):
            y[o] += x[i] * flat[layer.weights + i * outputs + o]


@kernel(cached=True)
def _forward(flat: F32M, layers: I64, lanes: I64, x: F32M, units: F32M, y: F32M) -> None:
    """Row n of ``x`` through network n for the given lanes; ``units`` are two rows to work in.

    The parameters of a network are a row of ``flat``. Rows of ``y`` that belong to no given lane become 0.
    """
    y[:] = np.float32(0.0)
    for lane in lanes:
        here, there = units[0], units[1]
        for i in range(x.shape[1]):
            here[i] = x[lane, i]
        for n in range(layers.shape[0]):
            layer = Layer(layers[n])
            _linear(flat[lane], layer, here, there)
            if layer.activation == TANH:
                for o in range(layer.outputs):
                    there[o] = tanh32(there[o])
            elif layer.activation == RELU:
                for o in range(layer.outputs):
                    there[o] = max(there[o], np.float32(0.0))
            here, there = there, here
        for o in range(y.shape[1]):
            y[lane, o] = here[o]


@inlined
def _draw(odds: F32, number: float) -> int:
    """A level from the softmax of its log odds, which are overwritten; -1 where they are not finite."""
    top = odds[0]
    for k in range(1, odds.shape[0]):
        top = max(top, odds[k])
    total = np.float32(0.0)
    for k in range(odds.shape[0]):
        total += exp32(odds[k] - top)
        odds[k] = total
    bound, level = number * total, 0
    while level < odds.shape[0] - 1 and odds[level] <= bound:
        level += 1
    return level if np.isfinite(total) else -1


@kernel(cached=True)
def _choose(odds: F32M, numbers: F64M, at: I64, observations: F32M, seen: F32M, chosen: I64, choices: I64) -> int:
    """Draws a level for every head of every lane, and keeps what was sensed and chosen at the lane's place ``at``.

    ``odds`` is ``[lane, head x level]`` and overwritten, ``numbers`` uniform in [0, 1). Where the odds are not finite
    the level is -1, which is not legal; returns how many there are.
    """
    illegal = 0
    heads = choices.shape[1]
    levels = odds.shape[1] // heads
    for lane in range(choices.shape[0]):
        for head in range(heads):
            level = _draw(odds[lane, head * levels : (head + 1) * levels], numbers[lane, head])
            choices[lane, head] = level
            illegal += level < 0
            chosen[lane, at[lane], head] = max(level, 0)
        for i in range(observations.shape[1]):
            seen[lane, at[lane], i] = observations[lane, i]
    return illegal


@kernel(cached=True)
def _advantages(
    rewards: F64M, ends: F64M, values: F64M, later: F64, gamma: float, fading: float, advantages: F64M
) -> None:
    """Sums of temporal-difference errors ``[lane, step]``, each step further on weighted by ``fading``."""
    for lane in range(rewards.shape[0]):
        running, following = 0.0, later[lane]
        for back in range(rewards.shape[1]):
            t = rewards.shape[1] - 1 - back
            goes_on = 1.0 - ends[lane, t]
            error = rewards[lane, t] + gamma * following * goes_on - values[lane, t]
            running = error + fading * goes_on * running
            advantages[lane, t], following = running, values[lane, t]


@kernel(cached=True)
def _adam(values: F32M, slopes: F32M, first: F32M, second: F32M, lanes: I64, scales: F32) -> None:
    """A step of Adam for some lanes: row n of ``slopes`` belongs to the lane ``lanes[n]``, as does ``scales[n]``."""
    for n in range(lanes.shape[0]):
        value, slope, mean, square = values[lanes[n]], slopes[n], first[lanes[n]], second[lanes[n]]
        scale = scales[n]
        for i in range(value.shape[0]):
            mean[i] += (slope[i] - mean[i]) * np.float32(0.1)
            square[i] += (slope[i] * slope[i] - square[i]) * np.float32(0.001)
            value[i] -= scale * mean[i] / (np.sqrt(square[i]) + np.float32(1e-8))


_f32, _f64, _i64 = types.float32[::1], types.float64[::1], types.int64[::1]
_f32m, _f64m, _i64m = types.float32[:, ::1], types.float64[:, ::1], types.int64[:, ::1]
_f32c, _i64c, _real = types.float32[:, :, ::1], types.int64[:, :, ::1], types.float64

POPULATION_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "forward": (_forward, types.void(_f32m, _i64m, _i64, _f32m, _f32m, _f32m)),
    "choice": (_choose, types.int64(_f32m, _f64m, _i64, _f32m, _f32c, _i64c, _i64m)),
    "advantages": (_advantages, types.void(_f64m, _f64m, _f64m, _f64, _real, _real, _f64m)),
    "Adam": (_adam, types.void(_f32m, _f32m, _f32m, _f32m, _i64, _f32)),
}
"""The functions with their signatures."""


def forward_lanes() -> Callable[..., None]:
    """The function that takes a row of each lane through its network (compiled or loaded on first use)."""
    return first_class(*POPULATION_FUNCTIONS["forward"])


def choose_lanes() -> Callable[..., int]:
    """The function that draws actions and keeps them (compiled or loaded on first use)."""
    return first_class(*POPULATION_FUNCTIONS["choice"])


def advantages_lanes() -> Callable[..., None]:
    """The function that computes advantages (compiled or loaded on first use)."""
    return first_class(*POPULATION_FUNCTIONS["advantages"])


def adam_lanes() -> Callable[..., None]:
    """The function that makes a step of Adam (compiled or loaded on first use)."""
    return first_class(*POPULATION_FUNCTIONS["Adam"])
