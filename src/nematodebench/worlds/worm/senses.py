"""The worm's senses: how odours become inputs.

Contributions come from tables over the displacement (dx, dy), built with our own exponential, because a table is fast
and has the same bits everywhere.
"""

import numpy as np

from nematodebench.kernels.jit import F32M, F64, inlined, kernel
from nematodebench.kernels.math import exp64, tanh32
from nematodebench.worlds.worm import body as worm

__all__ = ["distance_table", "gradient_table", "sense_food", "write_direction"]

_THRESHOLD = 0.05
_SLOPE = np.float32(50.0)


@kernel(cached=True, allocates=True)
def gradient_table(side: int, decay: float) -> F64:
    """exp(-d/decay) times the unit vector's (x, y), for dx and then dy from -(side - 1) to side - 1."""
    width = 2 * side - 1
    table = np.zeros(2 * width * width)
    for column in range(width):
        for row in range(width):
            dx, dy = np.float64(column - side + 1), np.float64(row - side + 1)
            d = np.sqrt(dx * dx + dy * dy)
            if d > 0.0:
                weight = exp64(-d / decay) / d
                table[2 * (column * width + row)] = weight * dx
                table[2 * (column * width + row) + 1] = weight * dy
    return table


@kernel(cached=True, allocates=True)
def distance_table(side: int, decay: float) -> F64:
    """exp(-d/decay) for every (|dx|, |dy|)."""
    table = np.zeros(side * side)
    for dx in range(side):
        for dy in range(side):
            table[dx * side + dy] = exp64(-np.sqrt(np.float64(dx * dx + dy * dy)) / decay)
    return table


@inlined
def _squashed(x: np.float32) -> np.float32:
    """Hyperbolic tangent, kept in the range of a sensor: the function itself may end an ulp beyond 1."""
    return min(max(tanh32(x), np.float32(-1.0)), np.float32(1.0))


@inlined
def write_direction(params: F64, state: F64, gx: float, gy: float, threshold: float, obs: F32M, column: int) -> None:
    """Magnitude, sine (+ = right) and cosine of a gradient relative to the heading."""
    m = np.sqrt(gx * gx + gy * gy)
    obs[0, column] = _squashed(np.float32(m))
    if m < threshold or m == 0.0:
        obs[0, column + 1], obs[0, column + 2] = np.float32(0.0), np.float32(0.0)
        return
    ahead = worm.P_MOVES + worm.index(16.0 * state[worm.S_HEADING])
    hx, hy = params[ahead], params[ahead + 1]
    inverse = 1.0 / m
    obs[0, column + 1] = np.float32((gx * hy - gy * hx) * inverse)
    obs[0, column + 2] = np.float32((gx * hx + gy * hy) * inverse)


@inlined
def _concentration(params: F64, state: F64, x: float, y: float) -> float:
    width, table = params[worm.P_SIDE] + 1.0, params[worm.P_DISTANCES]
    total = 0.0
    for n in range(int(params[worm.P_FOOD])):
        dx, dy = abs(state[worm.S_FOOD + 2 * n] - x), abs(state[worm.S_FOOD + 2 * n + 1] - y)
        total += params[worm.index(table + dx * width + dy)]
    return total


@kernel()
def _sense_concentration(params: F64, state: F64, obs: F32M) -> int:
    """Concentration, its change and (klinotaxis) the difference between one cell to the right and to the left."""
    x, y = state[worm.S_X], state[worm.S_Y]
    c = _concentration(params, state, x, y)
    change = c - state[worm.S_CONCENTRATION] if state[worm.S_STEPS] > 0.0 else 0.0
    state[worm.S_CONCENTRATION] = c
    obs[0, 0] = np.float32(c / (1.0 + c))
    obs[0, 1] = _squashed(_SLOPE * np.float32(change))
    if params[worm.P_SENSING] == worm.TEMPORAL:
        return 2
    ahead = worm.P_MOVES + worm.index(16.0 * state[worm.S_HEADING])
    hx, hy = params[ahead], params[ahead + 1]
    right = _concentration(params, state, x + hy, y - hx)
    left = _concentration(params, state, x - hy, y + hx)
    obs[0, 2] = _squashed(_SLOPE * np.float32(right - left))
    return 3


@inlined
def sense_food(params: F64, state: F64, obs: F32M) -> int:
    """Odour by the task's kind of sensing, satiety share and touch; returns the next free column."""
    if params[worm.P_SENSING] == worm.GRADIENT:
        gx, gy = state[worm.S_GRADIENT_X], state[worm.S_GRADIENT_Y]
        write_direction(params, state, gx, gy, _THRESHOLD, obs, 0)
        column = 3
    else:
        column = _sense_concentration(params, state, obs)
    obs[0, column] = np.float32(state[worm.S_SATIETY] / params[worm.P_SATIETY])
    obs[0, column + 1] = np.float32(state[worm.S_TOUCH])
    return column + 2
