"""The worm's body, shared by the worlds it is in: their common memory, and how the worm moves and looks around.

Positions are cell numbers, y points up, headings are 0 up, 1 right, 2 down, 3 left. What a step computes has no branch
that depends on where things lie, because a mispredicted one costs as much as all the arithmetic around it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F64, inlined, intrinsic, kernel
from nematodebench.kernels.memory import Block, constant, constants, number, numbers, size

__all__ = [
    "ACTIONS", "FORWARD", "LEFT", "RIGHT", "STAY", "Body", "BodyState", "index", "move_tables", "move_worm", "start_worm",
    "survey", "survey_food",
]  # fmt: skip

ACTIONS = ("forward", "left", "right", "stay")
FORWARD, LEFT, RIGHT, STAY = 0, 1, 2, 3
_UP, _RIGHT, _DOWN, _LEFT = 0, 1, 2, 3

_FAR = 1e9
_INDEX_BITS = 0xFFFFFFF


class Body(Block):
    """Parameters of every world with a worm: its grid, its clock, its senses and the tables they look up."""

    foods = size()
    cells = size()
    """Entries of a table over all displacements on the grid."""
    ranges = size()
    """Entries of the table of concentrations; there are none if the worm senses gradients."""
    side = constant()
    max_steps = constant()
    satiety = constant()
    sensing = constant()
    row = constant()
    """How far displacements that differ by 1 in x lie apart in a table."""
    middle = constant()
    """The entry of no displacement."""
    step_x = constants(4, 4)
    """What an action does, ``[heading, action]``: its step in x and in y, the heading afterwards, 1 if it moves."""
    step_y = constants(4, 4)
    turned = constants(4, 4)
    moves = constants(4, 4)
    odour_x = constants("cells")
    odour_y = constants("cells")
    concentrations = constants("ranges")


class BodyState(Block, sizes=Body):
    """The worm, what it senses of the food, and where the food lies."""

    x = number()
    y = number()
    heading = number()
    steps = number()
    touch = number()
    travelled = number()
    satiety = number()
    nearest = number()
    """Manhattan distance to the nearest food."""
    gradient_x = number()
    gradient_y = number()
    concentration = number()
    food_x = numbers("foods")
    food_y = numbers("foods")


@intrinsic(lambda a, b: a if a < b else b)
def _smaller(_context: Any, a: Any, b: Any) -> Any:
    """The smaller number, chosen without a branch."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, b), generate


@inlined
def index(place: float) -> int:
    """A whole number as an index that the compiler knows not to be negative, which spares the wrap-around."""
    return int(np.int64(place) & _INDEX_BITS)


def move_tables() -> Mapping[str, F64]:
    """The tables of :class:`Body` that say what an action does."""
    tables = {name: np.zeros((4, 4)) for name in ("step_x", "step_y", "turned", "moves")}
    for heading in range(4):
        for action in range(4):
            turned = (heading - (action == LEFT) + (action == RIGHT)) % 4
            tables["turned"][heading, action] = turned
            if action != STAY:
                tables["step_x"][heading, action] = (turned == _RIGHT) - (turned == _LEFT)
                tables["step_y"][heading, action] = (turned == _UP) - (turned == _DOWN)
                tables["moves"][heading, action] = 1.0
    return tables


@kernel()
def start_worm(params: Body, state: BodyState) -> None:
    """Puts the worm at the centre facing up, fed."""
    centre = np.floor(params.side / 2.0)
    state.x, state.y = centre, centre
    state.satiety = params.satiety


@inlined
def survey(
    params: Body, state: BodyState, xs: F64, ys: F64, odour_x: F64, odour_y: F64
) -> tuple[float, float, float]:
    """Manhattan distance to the nearest of the things at these places, and the vector sum of their table entries.

    One pass does both, since both need every distance.
    """
    x, y, row, middle = state.x, state.y, params.row, params.middle
    nearest, gx, gy = _FAR, 0.0, 0.0
    for n in range(xs.size):
        dx, dy = xs[n] - x, ys[n] - y
        nearest = _smaller(nearest, abs(dx) + abs(dy))
        entry = index(dx * row + dy + middle)
        gx += odour_x[entry]
        gy += odour_y[entry]
    return nearest, gx, gy


@inlined
def survey_food(params: Body, state: BodyState) -> None:
    """Notes the distance to the nearest food and the odour gradient."""
    surveyed = survey(params, state, state.food_x, state.food_y, params.odour_x, params.odour_y)
    state.nearest, state.gradient_x, state.gradient_y = surveyed


@inlined
def move_worm(params: Body, state: BodyState, action: float) -> None:
    """Forward, left, right or stay; a blocked move changes nothing but the touch sensor."""
    heading, choice = index(state.heading), index(action)
    last = params.side - 1.0
    x = min(max(state.x + params.step_x[heading, choice], 0.0), last)
    y = min(max(state.y + params.step_y[heading, choice], 0.0), last)
    moved = abs(x - state.x) + abs(y - state.y)
    state.x, state.y = x, y
    state.heading += moved * (params.turned[heading, choice] - state.heading)
    state.touch = params.moves[heading, choice] - moved
    state.travelled += moved
    state.steps += 1.0
