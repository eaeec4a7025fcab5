"""What the pictures of the worm's worlds have in common: the odour, the food, the worm and what it smells.

On large grids things are drawn larger than their cells, so that they can be seen.
"""

import numpy as np

from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32M, F64, F64M, kernel
from nematodebench.kernels.math import exp64
from nematodebench.kernels.scene import BRAIN, FIELD_SIDE, FOOD, body, disc, line, readout, soften, triangle
from nematodebench.worlds.worm.body import Body, BodyState, X, Y

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
    """The concentration of the food's odour all over the grid."""
    cell = params.side / FIELD_SIDE
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            x, y = (column + 0.5) * cell - 0.5, (row + 0.5) * cell - 0.5
            total = 0.0
            for n in range(params.foods):
                dx, dy = state.food[n, X] - x, state.food[n, Y] - y
                total += exp64(-np.sqrt(dx * dx + dy * dy) / params.decay)
            field[row, column] = soften(total)


@kernel()
def draw_foods(rows: F64M, places: F64, side: float) -> None:
    """All that can be eaten."""
    for n in range(places.shape[0]):
        disc(rows, FOOD, places[n, X], places[n, Y], item_radius(side), 1.0)


@kernel()
def draw_smell(rows: F64M, role: float, state: BodyState, side: float, gx: float, gy: float) -> None:
    """An arrow from the worm along a gradient, the more visible the stronger it is."""
    strength = np.sqrt(gx * gx + gy * gy)
    if strength < 1e-6:
        return
    reach, opacity = max(2.2, 0.1 * side), min(0.25 + strength, 1.0)
    ux, uy = gx / strength, gy / strength
    tip_x, tip_y = state.x + reach * ux, state.y + reach * uy
    line(rows, role, state.x, state.y, tip_x, tip_y, 0.25 * item_radius(side), opacity)
    size = 1.1 * item_radius(side)
    triangle(rows, role, tip_x, tip_y, 1.5 * size, size, atan2_64(uy, ux), opacity)


@kernel()
def draw_worm(rows: F64M, params: Body, state: BodyState) -> None:
    """The worm and its clock."""
    side = params.side
    heading = PI / 2.0 - state.heading * PI / 2.0
    body(rows, BRAIN, state.x, state.y, item_radius(side), max(3.0, 0.08 * side), heading, 1.0)
    readout(rows, _STEP, 0.0, state.steps)
