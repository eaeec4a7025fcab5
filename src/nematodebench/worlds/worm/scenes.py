"""What the pictures of the worm's worlds have in common: the odour, the food, the worm and what it smells.

On large grids things are drawn larger than their cells, so that they can be seen.
"""

import numpy as np

from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32M, F64, F64M, kernel
from nematodebench.kernels.math import cos64, exp64, sin64
from nematodebench.kernels.scene import BRAIN, FIELD_SIDE, FOOD, RAY, body, disc, line, readout, ring, triangle
from nematodebench.worlds.worm.body import Body, BodyState, X, Y
from nematodebench.worlds.worm.senses import CONCENTRATION, GRADIENT, KLINOTAXIS

__all__ = [
    "DISTANCE",
    "EATEN",
    "HEALTH",
    "SATIETY",
    "WORDS",
    "draw_foods",
    "draw_odour",
    "draw_smell",
    "draw_worm",
    "item_radius",
]

WORDS = ("step", "eaten", "satiety", "health", "distance")
"""What bars and readouts of all these worlds say."""
_STEP, EATEN, SATIETY, HEALTH, DISTANCE = (float(n) for n in range(len(WORDS)))


@kernel()
def item_radius(side: float) -> float:
    """How large things are drawn: nearly as large as a cell, on large grids larger."""
    return max(0.36, 0.014 * side)


@kernel()
def draw_odour(params: Body, state: BodyState, field: F32M) -> None:
    """The concentration of the food's odour all over the grid, beside the highest there is; squared, for contrast."""
    cell, highest = params.side / FIELD_SIDE, np.float32(1e-6)
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            x, y = (column + 0.5) * cell - 0.5, (row + 0.5) * cell - 0.5
            total = 0.0
            for n in range(params.foods):
                dx, dy = state.food[n, X] - x, state.food[n, Y] - y
                total += exp64(-np.sqrt(dx * dx + dy * dy) / params.decay)
            field[row, column] = np.float32(total)
            highest = max(highest, field[row, column])
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            share = field[row, column] / highest
            field[row, column] = share * share


@kernel()
def draw_foods(rows: F64M, places: F64, side: float) -> None:
    """All that can be eaten."""
    for n in range(places.shape[0]):
        disc(rows, FOOD, places[n, X], places[n, Y], item_radius(side), 1.0)


@kernel()
def _arrow(rows: F64M, state: BodyState, side: float, ux: float, uy: float, opacity: float) -> None:
    """An arrow from the worm along a unit vector."""
    reach, size = max(2.2, 0.1 * side), 1.1 * item_radius(side)
    tip_x, tip_y = state.x + reach * ux, state.y + reach * uy
    line(rows, RAY, state.x, state.y, tip_x, tip_y, 0.3 * size, opacity)
    triangle(rows, RAY, tip_x, tip_y, 1.6 * size, 1.2 * size, atan2_64(uy, ux), opacity)


@kernel()
def draw_smell(rows: F64M, params: Body, state: BodyState, obs: F32M) -> None:
    """What the worm smells, and nothing that it does not.

    An arrow shows a direction that it knows (all of it, or only left and right), a ring around its head that it smells
    more than before, or, if it senses nothing but the concentration, how much.
    """
    side = params.side
    if params.sensing == GRADIENT:
        strength = np.sqrt(state.gradient_x * state.gradient_x + state.gradient_y * state.gradient_y)
        if obs[0, 1] != 0.0 or obs[0, 2] != 0.0:
            ux, uy = state.gradient_x / strength, state.gradient_y / strength
            _arrow(rows, state, side, ux, uy, min(0.5 + strength, 0.95))
        return
    felt = obs[0, 0] if params.sensing == CONCENTRATION else obs[0, 1]
    ring(rows, RAY, state.x, state.y, 2.4 * item_radius(side), 0.5 * item_radius(side), max(0.0, min(felt, 0.95)))
    if params.sensing == KLINOTAXIS and obs[0, 2] != 0.0:
        angle = heading_angle(state) - (PI / 2.0 if obs[0, 2] > 0.0 else -PI / 2.0)
        _arrow(rows, state, side, cos64(angle), sin64(angle), min(abs(obs[0, 2]), 0.95))


@kernel()
def heading_angle(state: BodyState) -> float:
    """The heading in radians, counter-clockwise from the x axis."""
    return PI / 2.0 - state.heading * PI / 2.0


@kernel()
def draw_worm(rows: F64M, params: Body, state: BodyState) -> None:
    """The worm and its clock."""
    side = params.side
    length = max(3.0, 0.08 * side)
    body(rows, BRAIN, state.x, state.y, item_radius(side), length, heading_angle(state), 1.0)
    readout(rows, _STEP, 0.0, state.steps)
