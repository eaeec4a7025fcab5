"""What a torch population does for all its lanes beside torch, one compiled call each.

Acting takes a row of each lane through the lane's own network. Torch spends most of that time between its operations,
so chains of linear layers with plain activations between them go through one compiled function.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from nematodebench.kernels.jit import F32, F32M, F64, F64M, I64, first_class, inlined, kernel
from nematodebench.kernels.math import exp32, fma, log32, tanh32
from nematodebench.kernels.memory import Block, counter
from nematodebench.kernels.vectors import LANES, add_linear, matrix

__all__ = ["POPULATION_FUNCTIONS", "RELU", "TANH", "Layer", "lanes_function"]

MASK: TypeAlias = NDArray[np.bool_]
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
    """Outputs that fill vectors are computed in tiles; the few that are left over go one by one, in the same order."""
    inputs, outputs = layer.inputs, layer.outputs
    for o in range(outputs):
        y[o] = flat[layer.bias + o] if layer.biased > 0 else np.float32(0.0)
    if outputs % LANES == 0:
        add_linear(matrix(x, 0, 1, inputs), matrix(flat, layer.weights, inputs, outputs), matrix(y, 0, 1, outputs))
        return
    o = 0
    while o + 4 <= outputs:  # four sums at a time, which do not wait for each other
        a, b, c, d = y[o], y[o + 1], y[o + 2], y[o + 3]
        for i in range(inputs):
            at, value = layer.weights + i * outputs + o, x[i]
            a, b = fma(value, flat[at], a), fma(value, flat[at + 1], b)
            c, d = fma(value, flat[at + 2], c), fma(value, flat[at + 3], d)
        y[o], y[o + 1], y[o + 2], y[o + 3] = a, b, c, d
        o += 4
    for last in range(o, outputs):
        total = y[last]
        for i in range(inputs):
            total = fma(x[i], flat[layer.weights + i * outputs + last], total)
        y[last] = total


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


@kernel(cached=True)
def _tanh(values: F32) -> None:
    """Replaces every number by its hyperbolic tangent."""
    for n in range(values.size):
        values[n] = tanh32(values[n])


@kernel(cached=True)
def _tanh_slope(y: F32, slope: F32) -> None:
    """Takes slopes back through a hyperbolic tangent that has given ``y``."""
    for n in range(y.size):
        slope[n] *= np.float32(1.0) - y[n] * y[n]


@inlined
def _log_softmax(odds: F32) -> F32:
    """Turns log odds into log probabilities, in their place."""
    top = odds[0]
    for k in range(1, odds.shape[0]):
        top = max(top, odds[k])
    total = np.float32(0.0)
    for k in range(odds.shape[0]):
        total += exp32(odds[k] - top)
    total = log32(total)
    for k in range(odds.shape[0]):
        odds[k] = odds[k] - top - total
    return odds


@kernel(cached=True)
def _keep(lanes: MASK, at: I64, rewards: F64, ends: MASK, cuts: MASK, paid: F64M, ended: F64M) -> int:
    """Keeps what a step brought to the lanes that made one, each at its place ``at``; returns the furthest place."""
    furthest = 0
    for lane in range(at.shape[0]):
        if lanes[lane]:
            paid[lane, at[lane]] = rewards[lane]
            ended[lane, at[lane]] = 1.0 if ends[lane] or cuts[lane] else 0.0
            at[lane] += 1
        furthest = max(furthest, at[lane])
    return furthest


@kernel(cached=True)
def _policy_slopes(
    odds: F32M, choices: I64, weights: F32, before: F32, entropy: float, clip: float, logs: F32, slopes: F32M
) -> None:
    """The log probability of what was chosen in every row, and the slope of the row's loss by its log odds.

    ``odds`` is ``[row, head, level]``. The loss is that of REINFORCE, or that of PPO if ``before`` has the log
    probabilities before the update, less ``entropy`` times the entropy.
    """
    rows, heads, levels = odds.shape
    bonus = np.float32(entropy)
    for row in range(rows):
        log = np.float32(0.0)
        for head in range(heads):
            log += _log_softmax(odds[row, head])[choices[row, head]]
        logs[row] = log
        push = weights[row]
        if before.size > 0:
            ratio = exp32(log - before[row])
            outside = ratio > 1.0 + clip if push > 0.0 else ratio < 1.0 - clip
            push = np.float32(0.0) if outside else push * ratio
        for head in range(heads):
            own, spread = odds[row, head], np.float32(0.0)
            for k in range(levels):
                spread -= exp32(own[k]) * own[k]
            for k in range(levels):
                share = exp32(own[k])
                slopes[row, head, k] = push * share + bonus * share * (own[k] + spread)
            slopes[row, head, choices[row, head]] -= push


_f32, _f64, _i64 = types.float32[::1], types.float64[::1], types.int64[::1]
_f32m, _f64m, _i64m = types.float32[:, ::1], types.float64[:, ::1], types.int64[:, ::1]
_mask = types.Array(types.boolean, 1, "C", readonly=True)
_f32c, _i64c, _real = types.float32[:, :, ::1], types.int64[:, :, ::1], types.float64

POPULATION_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "forward": (_forward, types.void(_f32m, _i64m, _i64, _f32m, _f32m, _f32m)),
    "choice": (_choose, types.int64(_f32m, _f64m, _i64, _f32m, _f32c, _i64c, _i64m)),
    "advantages": (_advantages, types.void(_f64m, _f64m, _f64m, _f64, _real, _real, _f64m)),
    "Adam": (_adam, types.void(_f32m, _f32m, _f32m, _f32m, _i64, _f32)),
    "tanh": (_tanh, types.void(_f32)),
    "memory": (_keep, types.int64(_mask, _i64, _f64, _mask, _mask, _f64m, _f64m)),
    "slopes": (_policy_slopes, types.void(_f32c, _i64m, _f32, _f32, _real, _real, _f32, _f32c)),
    "slope of tanh": (_tanh_slope, types.void(_f32, _f32)),
}
"""The functions by what they do, with their signatures."""


def lanes_function(name: str) -> Callable[..., Any]:
    """One of these functions (compiled or loaded on first use)."""
    return first_class(*POPULATION_FUNCTIONS[name])
