"""The worm's body and senses, shared by the worlds it lives in: movement, food, odour, satiety.

Positions are cell numbers, y points up, headings are 0 up, 1 right, 2 down, 3 left. Odour contributions come from
lookup tables over (|dx|, |dy|), built with our own exponential, because a table is fast and has the same bits everywhere.
"""

import numpy as np

from nematodebench.kernels.abi import F32M, F64, U64, kernel
from nematodebench.kernels.mathx import exp64, tanh32
from nematodebench.kernels.rng import randint

__all__ = [
    "GRADIENT", "KLINOTAXIS", "P_DECAY", "P_EXCLUSION", "P_FOOD", "P_MAX_STEPS", "P_SATIETY", "P_SATIETY_GAIN",
    "P_SENSING", "P_SIDE", "P_SPACING", "P_TARGET", "S_EATEN", "S_FOOD", "S_HEADING", "S_NEAREST", "S_SATIETY",
    "S_STEPS", "S_TOUCH", "S_X", "S_Y", "TABLE", "TEMPORAL", "add_gradient", "collect", "distance_table", "eat_food",
    "gradient_table", "move_worm", "nearest_food", "place_foods", "sense_food", "start_worm", "write_direction",
]  # fmt: skip

GRADIENT, KLINOTAXIS, TEMPORAL = 0, 1, 2

P_SIDE, P_FOOD, P_TARGET, P_SPACING, P_EXCLUSION, P_DECAY, P_MAX_STEPS = 0, 1, 2, 3, 4, 5, 6
P_SATIETY, P_SATIETY_GAIN, P_SENSING = 7, 8, 9
TABLE = 16

S_X, S_Y, S_HEADING, S_STEPS, S_EATEN, S_SATIETY, S_TRAVELLED, S_FIRST, S_OPTIMAL = 0, 1, 2, 3, 4, 5, 6, 7, 8
S_NEAREST, S_CONCENTRATION, S_TOUCH, S_HEALTH, S_CONTACT = 9, 10, 11, 12, 13
S_FOOD = 16

_THRESHOLD = 0.05
_SLOPE = np.float32(50.0)
_STRICT_TRIES, _RELAXED_TRIES = 100, 1000


@kernel()
def _direction(heading: int) -> tuple[int, int]:
    dx = (heading == 1) - (heading == 3)
    dy = (heading == 0) - (heading == 2)
    return dx, dy


@kernel(cached=True)
def gradient_table(side: int, decay: float) -> F64:
    """exp(-d/decay) times the unit vector's (x, y) for every (|dx|, |dy|)."""
    table = np.zeros(2 * side * side)
    for dx in range(side):
        for dy in range(side):
            d = np.sqrt(np.float64(dx * dx + dy * dy))
            if d > 0.0:
                weight = exp64(-d / decay) / d
                table[2 * (dx * side + dy)] = weight * dx
                table[2 * (dx * side + dy) + 1] = weight * dy
    return table


@kernel(cached=True)
def distance_table(side: int, decay: float) -> F64:
    """exp(-d/decay) for every (|dx|, |dy|)."""
    table = np.zeros(side * side)
    for dx in range(side):
        for dy in range(side):
            table[dx * side + dy] = exp64(-np.sqrt(np.float64(dx * dx + dy * dy)) / decay)
    return table


@kernel()
def start_worm(params: F64, state: F64) -> None:
    """Puts the worm at the centre facing up, fed and unharmed."""
    state[:S_FOOD] = 0.0
    centre = np.floor(params[P_SIDE] / 2.0)
    state[S_X], state[S_Y] = centre, centre
    state[S_SATIETY] = params[P_SATIETY]


@kernel()
def _far_from_food(params: F64, state: F64, x: float, y: float, skip: int, limit: float) -> bool:
    for n in range(np.int64(params[P_FOOD])):
        dx, dy = state[S_FOOD + 2 * n] - x, state[S_FOOD + 2 * n + 1] - y
        if n != skip and dx * dx + dy * dy < limit:
            return False
    return True


@kernel()
def _place_food(params: F64, state: F64, rng: U64, n: int) -> None:
    """Uniform on the allowed cells by rejection; the spacing between foods is given up after 100 tries."""
    side = np.int64(params[P_SIDE])
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
    """All foods anew, and the distance to the nearest."""
    foods = np.int64(params[P_FOOD])
    for n in range(2 * foods):
        state[S_FOOD + n] = -1e6
    for n in range(foods):
        _place_food(params, state, rng, n)
    state[S_NEAREST] = nearest_food(params, state)


@kernel()
def nearest_food(params: F64, state: F64) -> float:
    """Manhattan distance to the nearest food."""
    best = 1e9
    x, y = state[S_X], state[S_Y]
    for n in range(np.int64(params[P_FOOD])):
        best = min(best, abs(state[S_FOOD + 2 * n] - x) + abs(state[S_FOOD + 2 * n + 1] - y))
    return best


@kernel()
def move_worm(params: F64, state: F64, action: int) -> None:
    """Forward, left, right or stay; a blocked move changes nothing but the touch sensor."""
    state[S_STEPS] += 1.0
    state[S_TOUCH] = 0.0
    if action == 3:
        return
    heading = np.int64(state[S_HEADING])
    if action == 1:
        heading = (heading + 3) & 3
    elif action == 2:
        heading = (heading + 1) & 3
    dx, dy = _direction(heading)
    x, y = state[S_X] + dx, state[S_Y] + dy
    side = params[P_SIDE]
    if x < 0.0 or y < 0.0 or x >= side or y >= side:
        state[S_TOUCH] = 1.0
        return
    state[S_X], state[S_Y], state[S_HEADING] = x, y, np.float64(heading)
    state[S_TRAVELLED] += 1.0


@kernel()
def eat_food(params: F64, state: F64, rng: U64) -> int:
    """Eats what lies on the worm's cell; it reappears elsewhere at once. Returns how much was eaten."""
    x, y = state[S_X], state[S_Y]
    eaten = 0
    for n in range(np.int64(params[P_FOOD])):
        if state[S_FOOD + 2 * n] == x and state[S_FOOD + 2 * n + 1] == y:
            if state[S_EATEN] == 0.0:
                centre = np.floor(params[P_SIDE] / 2.0)
                state[S_OPTIMAL] = abs(x - centre) + abs(y - centre)
                state[S_FIRST] = state[S_TRAVELLED]
            eaten += 1
            state[S_EATEN] += 1.0
            state[S_SATIETY] = min(params[P_SATIETY], state[S_SATIETY] + params[P_SATIETY_GAIN])
            _place_food(params, state, rng, n)
    return eaten


@kernel()
def collect(params: F64, state: F64, rng: U64) -> float:
    """Hunger, food and their reward after a move. Returns the reward."""
    state[S_SATIETY] -= 1.0
    before = state[S_NEAREST]
    nearest = nearest_food(params, state)
    reward = 0.5 * (before - nearest) - 0.005 - 0.02 * state[S_TOUCH]
    if nearest == 0.0:
        reward += 2.0 * eat_food(params, state, rng)
        nearest = nearest_food(params, state)
    state[S_NEAREST] = nearest
    return reward


@kernel()
def add_gradient(params: F64, state: F64, table: int, first: int, count: int) -> tuple[float, float]:
    """Vector sum of exp(-d/decay) unit vectors towards ``count`` points stored in ``state`` from ``first`` on."""
    side = np.int64(params[P_SIDE])
    x, y = state[S_X], state[S_Y]
    gx, gy = 0.0, 0.0
    for n in range(count):
        dx, dy = state[first + 2 * n] - x, state[first + 2 * n + 1] - y
        entry = table + 2 * (np.int64(abs(dx)) * side + np.int64(abs(dy)))
        gx += params[entry] if dx >= 0.0 else -params[entry]
        gy += params[entry + 1] if dy >= 0.0 else -params[entry + 1]
    return gx, gy


@kernel()
def write_direction(state: F64, gx: float, gy: float, threshold: float, obs: F32M, column: int) -> None:
    """Magnitude, sine (+ = right) and cosine of a gradient relative to the heading."""
    m = np.sqrt(gx * gx + gy * gy)
    obs[0, column] = tanh32(np.float32(m))
    if m < threshold or m == 0.0:
        obs[0, column + 1], obs[0, column + 2] = np.float32(0.0), np.float32(0.0)
        return
    hx, hy = _direction(np.int64(state[S_HEADING]))
    inverse = 1.0 / m
    obs[0, column + 1] = np.float32((gx * hy - gy * hx) * inverse)
    obs[0, column + 2] = np.float32((gx * hx + gy * hy) * inverse)


@kernel()
def _concentration(params: F64, state: F64, x: float, y: float) -> float:
    width = np.int64(params[P_SIDE]) + 1
    total = 0.0
    for n in range(np.int64(params[P_FOOD])):
        dx, dy = abs(state[S_FOOD + 2 * n] - x), abs(state[S_FOOD + 2 * n + 1] - y)
        total += params[TABLE + np.int64(dx) * width + np.int64(dy)]
    return total


@kernel()
def _sense_concentration(params: F64, state: F64, obs: F32M) -> int:
    x, y = state[S_X], state[S_Y]
    c = _concentration(params, state, x, y)
    change = c - state[S_CONCENTRATION] if state[S_STEPS] > 0.0 else 0.0
    state[S_CONCENTRATION] = c
    obs[0, 0] = np.float32(c / (1.0 + c))
    obs[0, 1] = tanh32(_SLOPE * np.float32(change))
    if params[P_SENSING] == TEMPORAL:
        return 2
    hx, hy = _direction(np.int64(state[S_HEADING]))
    right = _concentration(params, state, x + hy, y - hx)
    left = _concentration(params, state, x - hy, y + hx)
    obs[0, 2] = tanh32(_SLOPE * np.float32(right - left))
    return 3


@kernel()
def sense_food(params: F64, state: F64, obs: F32M) -> int:
    """Odour, satiety share and touch by the task's kind of sensing; returns the next free column."""
    if params[P_SENSING] == GRADIENT:
        gx, gy = add_gradient(params, state, TABLE, S_FOOD, np.int64(params[P_FOOD]))
        write_direction(state, gx, gy, _THRESHOLD, obs, 0)
        column = 3
    else:
        column = _sense_concentration(params, state, obs)
    obs[0, column] = np.float32(state[S_SATIETY] / params[P_SATIETY])
    obs[0, column + 1] = np.float32(state[S_TOUCH])
    return column + 2
