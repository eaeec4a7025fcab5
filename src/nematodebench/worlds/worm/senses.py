"""The worm's senses: how odours become inputs.

Contributions come from tables over the displacement (dx, dy), built with our own exponential, because a table is fast
and has the same bits everywhere.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32M, F64, inlined, kernel
from nematodebench.kernels.math import exp64, tanh32
from nematodebench.worlds.worm.body import FORWARD, Body, BodyState, X, Y, index, move_tables

__all__ = [
    "CONCENTRATION", "GRADIENT", "KLINOTAXIS", "TEMPORAL", "body_tables", "gradient_table", "sense_food",
    "write_direction",
]  # fmt: skip

GRADIENT, KLINOTAXIS, TEMPORAL, CONCENTRATION = 0.0, 1.0, 2.0, 3.0
"""The kinds of sensing."""
_SENSING = {
    "gradient": GRADIENT, "klinotaxis": KLINOTAXIS, "temporal": TEMPORAL, "concentration": CONCENTRATION,
}  # fmt: skip
_THRESHOLD = 0.05
_SLOPE = np.float32(50.0)


@kernel(cached=True, allocates=True)
def gradient_table(side: int, decay: float) -> F64:
    """exp(-d/decay) times the unit vector, for dx and then dy from -(side - 1) to side - 1."""
    width = 2 * side - 1
    table = np.zeros((width * width, 2))
    for column in range(width):
        for row in range(width):
            dx, dy = np.float64(column - side + 1), np.float64(row - side + 1)
            d = np.sqrt(dx * dx + dy * dy)
            if d > 0.0:
                weight = exp64(-d / decay) / d
                table[column * width + row, X] = weight * dx
                table[column * width + row, Y] = weight * dy
    return table


@kernel(cached=True, allocates=True)
def _concentration_table(side: int, decay: float) -> F64:
    """exp(-d/decay) for every (|dx|, |dy|)."""
    table = np.zeros(side * side)
    for dx in range(side):
        for dy in range(side):
            table[dx * side + dy] = exp64(-np.sqrt(np.float64(dx * dx + dy * dy)) / decay)
    return table


def body_tables(side: int, decay: float, sensing: str) -> Mapping[str, Any]:
    """The parameters of :class:`Body` that follow from the grid's size, the food's odour and the kind of sensing."""
    odour = gradient_table(side, float(decay))
    # The worm smells one cell beyond the edge of its grid.
    concentrations = np.zeros(0) if sensing == "gradient" else _concentration_table(side + 1, float(decay))
    return {
        "displacements": len(odour), "distances": len(concentrations), "sensing": _SENSING[sensing],
        "stride": 2 * side - 1, "middle": (side - 1) * 2 * side,
        **move_tables(), "odour": odour, "concentrations": concentrations,
    }  # fmt: skip


@inlined
def _squashed(x: np.float32) -> np.float32:
    """Hyperbolic tangent, kept in the range of a sensor: the function itself may end an ulp beyond 1."""
    return min(max(tanh32(x), np.float32(-1.0)), np.float32(1.0))


@inlined
def _ahead(params: Body, state: BodyState) -> tuple[float, float]:
    """The unit vector of the heading."""
    heading = index(state.heading)
    return params.step_x[heading, FORWARD], params.step_y[heading, FORWARD]


@inlined
def write_direction(
    params: Body, state: BodyState, gx: float, gy: float, threshold: float, obs: F32M, column: int
) -> None:
    """Magnitude, sine (+ = right) and cosine of a gradient relative to the heading."""
    m = np.sqrt(gx * gx + gy * gy)
    obs[0, column] = _squashed(np.float32(m))
    if m < threshold or m == 0.0:
        obs[0, column + 1], obs[0, column + 2] = np.float32(0.0), np.float32(0.0)
        return
    hx, hy = _ahead(params, state)
    inverse = 1.0 / m
    obs[0, column + 1] = np.float32((gx * hy - gy * hx) * inverse)
    obs[0, column + 2] = np.float32((gx * hx + gy * hy) * inverse)


@inlined
def _concentration(params: Body, state: BodyState, x: float, y: float) -> float:
    stride = params.side + 1.0
    total = 0.0
    for n in range(params.foods):
        dx, dy = abs(state.food[n, X] - x), abs(state.food[n, Y] - y)
        total += params.concentrations[index(dx * stride + dy)]
    return total


@kernel()
def _sense_concentration(params: Body, state: BodyState, obs: F32M) -> int:
    """Concentration, its change (unless it is all) and (klinotaxis) the difference between the cells to both sides."""
    x, y = state.x, state.y
    c = _concentration(params, state, x, y)
    change = c - state.concentration if state.steps > 0.0 else 0.0
    state.concentration = c
    obs[0, 0] = np.float32(c / (1.0 + c))
    if params.sensing == CONCENTRATION:
        return 1
    obs[0, 1] = _squashed(_SLOPE * np.float32(change))
    if params.sensing == TEMPORAL:
        return 2
    hx, hy = _ahead(params, state)
    right = _concentration(params, state, x + hy, y - hx)
    left = _concentration(params, state, x - hy, y + hx)
    obs[0, 2] = _squashed(_SLOPE * np.float32(right - left))
    return 3


@inlined
def sense_food(params: Body, state: BodyState, obs: F32M) -> int:
    """Odour by the task's kind of sensing, satiety share and touch; returns the next free column."""
    if params.sensing == GRADIENT:
        write_direction(params, state, state.gradient_x, state.gradient_y, _THRESHOLD, obs, 0)
        column = 3
    else:
        column = _sense_concentration(params, state, obs)
    obs[0, column] = np.float32(state.satiety / params.satiety)
    obs[0, column + 1] = np.float32(state.touch)
    return column + 2
