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
    "ACTIONS", "FORWARD", "LEFT", "RIGHT", "STAY", "Body", "BodyState", "X", "Y", "index", "move_tables", "move_worm",
    "start_worm", "survey", "survey_food",
]  # fmt: skip

ACTIONS = ("forward", "left", "right", "stay")
FORWARD, LEFT, RIGHT, STAY = 0, 1, 2, 3
_UP, _RIGHT, _DOWN, _LEFT = 0, 1, 2, 3
X, Y = 0, 1
"""The two columns of a list of places, and of a table of vectors."""

_FAR = 1e9
_INDEX_BITS = 0xFFFFFFF


class Body(Block):
    """Parameters of every world with a worm: its grid, its clock, its senses, and the tables that they look up."""

    foods = size()
    displacements = size()  # entries of a table over all displacements on the grid
    distances = size()  # entries of the table of concentrations, which has none if the worm senses gradients
    side = constant()
    max_steps = constant()
    satiety = constant()
    sensing = constant()
    decay = constant()  # of the food's odour; only pictures need it, the worm has its tables
    stride = constant()  # entries from one displacement to the next in x; the next in y is the next entry
    middle = constant()  # the entry of no displacement
    step_x = constants(4, 4)  # what the worm does, by its heading and its action
    step_y = constants(4, 4)
    turned = constants(4, 4)  # the heading afterwards
    moves = constants(4, 4)  # 1 if it is a move
    odour = constants("displacements", 2)
    concentrations = constants("distances")


class BodyState(Block, sizes=Body):
    """The worm, what it senses of the food, and where the food lies."""

    x = number()
    y = number()
    heading = number()
    steps = number()
    touch = number()
    travelled = number()
    satiety = number()
    nearest = number()  # Manhattan distance to the nearest food
    gradient_x = number()
    gradient_y = number()
    concentration = number()
    food = numbers("foods", 2)


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
def survey(params: Body, state: BodyState, places: F64, odour: F64) -> tuple[float, float, float]:
    """Manhattan distance to the nearest of some places, and the vector sum of their entries in a table.

    One pass does both, since both need every displacement.
    """
    x, y, stride, middle = state.x, state.y, params.stride, params.middle
    nearest, gx, gy = _FAR, 0.0, 0.0
    for n in range(places.shape[0]):
        dx, dy = places[n, X] - x, places[n, Y] - y
        nearest = _smaller(nearest, abs(dx) + abs(dy))
        entry = index(dx * stride + dy + middle)
        gx += odour[entry, X]
        gy += odour[entry, Y]
    return nearest, gx, gy


@inlined
def survey_food(params: Body, state: BodyState) -> None:
    """Notes the distance to the nearest food and the odour gradient."""
    surveyed = survey(params, state, state.food, params.odour)
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
