"""The worm's body and its food, shared by the worlds it lives in: layout of parameters and state, moving and eating.

Positions are cell numbers, y points up, headings are 0 up, 1 right, 2 down, 3 left. What a step computes has no branch
that depends on where things lie, because a mispredicted one costs as much as all the arithmetic around it.
"""

from typing import Any

import numpy as np

from nematodebench.kernels.jit import F64, U64, inlined, intrinsic, kernel
from nematodebench.kernels.rng import randint

__all__ = [
    "GRADIENT", "KLINOTAXIS", "P_DAMAGE", "P_DECAY", "P_DETECTION", "P_DISTANCES", "P_EXCLUSION", "P_FOOD", "P_HEAL",
    "P_HEALTH", "P_HERE", "P_MAX_STEPS", "P_MOVES", "P_PREDATORS", "P_PREDATOR_TABLE", "P_SATIETY", "P_SATIETY_GAIN",
    "P_SENSING", "P_SIDE", "P_SPACING", "P_TARGET", "P_WIDTH", "S_CONCENTRATION", "S_CONTACT", "S_EATEN", "S_FIRST",
    "S_FOOD", "S_GRADIENT_X", "S_GRADIENT_Y", "S_HEADING", "S_HEALTH", "S_NEAREST", "S_OPTIMAL", "S_SATIETY",
    "S_STEPS", "S_TOUCH", "S_TRAVELLED", "S_X", "S_Y", "TABLE", "TEMPORAL", "collect", "index", "move_worm",
    "moves_table", "place_foods", "start_worm", "survey", "survey_food",
]  # fmt: skip

GRADIENT, KLINOTAXIS, TEMPORAL = 0, 1, 2

P_SIDE, P_FOOD, P_TARGET, P_SPACING, P_EXCLUSION, P_DECAY, P_MAX_STEPS = 0, 1, 2, 3, 4, 5, 6
P_SATIETY, P_SATIETY_GAIN, P_SENSING = 7, 8, 9
P_WIDTH, P_HERE, P_DISTANCES = 10, 11, 12
"""Row length and middle of the gradient table; where the table of concentrations begins."""
P_PREDATORS, P_DETECTION, P_DAMAGE, P_HEALTH, P_HEAL, P_PREDATOR_TABLE = 13, 14, 15, 16, 17, 18
P_MOVES = 24
TABLE = P_MOVES + 64

S_X, S_Y, S_HEADING, S_STEPS, S_EATEN, S_SATIETY, S_TRAVELLED, S_FIRST, S_OPTIMAL = 0, 1, 2, 3, 4, 5, 6, 7, 8
S_NEAREST, S_CONCENTRATION, S_TOUCH, S_HEALTH, S_CONTACT, S_GRADIENT_X, S_GRADIENT_Y = 9, 10, 11, 12, 13, 14, 15
S_FOOD = 16

_STRICT_TRIES, _RELAXED_TRIES = 100, 1000
_INDEX_BITS = 0xFFFFFFF


@intrinsic
def _smaller(_context: Any, a: Any, b: Any) -> Any:
    """The smaller number, chosen without a branch."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, b), generate


@inlined
def index(place: float) -> int:
    """A whole number as an index that the compiler knows not to be negative, which spares the wrap-around."""
    return int(np.int64(place) & _INDEX_BITS)


@inlined
def _direction(heading: int) -> tuple[int, int]:
    return (heading == 1) - (heading == 3), (heading == 0) - (heading == 2)


@kernel(cached=True, allocates=True)
def moves_table() -> F64:
    """For every heading and action: step in x, step in y, heading afterwards, 1 if it is a move."""
    table = np.zeros(64)
    for heading in range(4):
        for action in range(4):
            row = 16 * heading + 4 * action
            turned = (heading - (action == 1) + (action == 2)) & 3
            table[row + 2] = turned
            if action < 3:
                table[row], table[row + 1] = _direction(turned)
                table[row + 3] = 1.0
    return table


@kernel()
def start_worm(params: F64, state: F64) -> None:
    """Puts the worm at the centre facing up, fed and unharmed."""
    state[:S_FOOD] = 0.0
    centre = np.floor(params[P_SIDE] / 2.0)
    state[S_X], state[S_Y] = centre, centre
    state[S_SATIETY], state[S_HEALTH] = params[P_SATIETY], params[P_HEALTH]


@kernel()
def _far_from_food(params: F64, state: F64, x: float, y: float, skip: int, limit: float) -> bool:
    for n in range(int(params[P_FOOD])):
        dx, dy = state[S_FOOD + 2 * n] - x, state[S_FOOD + 2 * n + 1] - y
        if n != skip and dx * dx + dy * dy < limit:
            return False
    return True


@kernel()
def _place_food(params: F64, state: F64, rng: U64, n: int) -> None:
    """Uniform on the allowed cells by rejection; the spacing between foods is given up after 100 tries."""
    side = int(params[P_SIDE])
    exclusion, spacing = params[P_EXCLUSION] * params[P_EXCLUSION], params[P_SPACING] * params[P_SPACING]
    x, y = 0.0, 0.0
    for attempt in range(_RELAXED_TRIES):
        x, y = np.float64(randint(rng, side)), np.float64(randint(rng, side))
        dx, dy = x - state[S_X], y - state[S_Y]
        limit = spacing if attempt < _STRICT_TRIES else 1.0
        if dx * dx + dy * dy >= exclusion and _far_from_food(params, state, x, y, n, limit):
            break
    state[S_FOOD + 2 * n], state[S_FOOD + 2 * n + 1] = x, y


@kernel()
def place_foods(params: F64, state: F64, rng: U64) -> None:
    """All foods anew."""
    foods = int(params[P_FOOD])
    for n in range(2 * foods):
        state[S_FOOD + n] = -1e6
    for n in range(foods):
        _place_food(params, state, rng, n)


@inlined
def survey(params: F64, state: F64, table: int, first: int, count: int) -> tuple[float, float, float]:
    """Manhattan distance to the nearest of ``count`` things, and the vector sum of their table entries.

    The things' positions are in ``state`` from ``first`` on. One pass does both, since both need every distance.
    """
    x, y, width, here = state[S_X], state[S_Y], params[P_WIDTH], params[P_HERE]
    nearest, gx, gy = 1e9, 0.0, 0.0
    for n in range(count):
        dx, dy = state[first + 2 * n] - x, state[first + 2 * n + 1] - y
        nearest = _smaller(nearest, abs(dx) + abs(dy))
        entry = table + 2 * index(dx * width + dy + here)
        gx += params[entry]
        gy += params[entry + 1]
    return nearest, gx, gy


@inlined
def survey_food(params: F64, state: F64) -> None:
    """Notes the distance to the nearest food and the odour gradient."""
    surveyed = survey(params, state, TABLE, S_FOOD, int(params[P_FOOD]))
    state[S_NEAREST], state[S_GRADIENT_X], state[S_GRADIENT_Y] = surveyed


@inlined
def move_worm(params: F64, state: F64, action: float) -> None:
    """Forward, left, right or stay; a blocked move changes nothing but the touch sensor."""
    heading = state[S_HEADING]
    row = P_MOVES + index(16.0 * heading + 4.0 * action)
    last = params[P_SIDE] - 1.0
    x = min(max(state[S_X] + params[row], 0.0), last)
    y = min(max(state[S_Y] + params[row + 1], 0.0), last)
    moved = abs(x - state[S_X]) + abs(y - state[S_Y])
    state[S_X], state[S_Y] = x, y
    state[S_HEADING] = heading + moved * (params[row + 2] - heading)
    state[S_TOUCH] = params[row + 3] - moved
    state[S_TRAVELLED] += moved
    state[S_STEPS] += 1.0


@kernel()
def _eat(params: F64, state: F64, rng: U64) -> float:
    """Eats what lies on the worm's cell; it reappears elsewhere at once. Returns how much was eaten."""
    x, y = state[S_X], state[S_Y]
    before = state[S_EATEN]
    for n in range(int(params[P_FOOD])):
        if state[S_FOOD + 2 * n] == x and state[S_FOOD + 2 * n + 1] == y:
            if state[S_EATEN] == 0.0:
                centre = np.floor(params[P_SIDE] / 2.0)
                state[S_OPTIMAL] = abs(x - centre) + abs(y - centre)
                state[S_FIRST] = state[S_TRAVELLED]
            state[S_EATEN] += 1.0
            state[S_SATIETY] = min(params[P_SATIETY], state[S_SATIETY] + params[P_SATIETY_GAIN])
            state[S_HEALTH] = min(params[P_HEALTH], state[S_HEALTH] + params[P_HEAL])
            _place_food(params, state, rng, n)
    survey_food(params, state)
    return float(state[S_EATEN] - before)


@inlined
def collect(params: F64, state: F64, rng: U64) -> float:
    """Hunger, food and their reward after a move. Returns the reward."""
    state[S_SATIETY] -= 1.0
    before = state[S_NEAREST]
    survey_food(params, state)
    reward = 0.5 * (before - state[S_NEAREST]) - 0.005 - 0.02 * state[S_TOUCH]
    if state[S_NEAREST] == 0.0:
        reward += 2.0 * _eat(params, state, rng)
    return float(reward)
