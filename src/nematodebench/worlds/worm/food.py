"""The worm's food: where it is put, and how the worm eats it."""

import numpy as np

from nematodebench.kernels.jit import U64, inlined, kernel
from nematodebench.kernels.memory import constant, number
from nematodebench.kernels.rng import randint
from nematodebench.worlds.worm.body import Body, BodyState, X, Y, start_worm, survey_food

__all__ = ["Forager", "ForagerState", "collect", "place_foods", "start_forager"]

_STRICT_TRIES, _RELAXED_TRIES = 100, 1000
_NOWHERE = -1e6


class Forager(Body):
    """Parameters of a worm that eats."""

    target = constant()
    spacing = constant()
    exclusion = constant()
    satiety_gain = constant()
    shaping = constant()
    random_start = constant()


class ForagerState(BodyState, sizes=Forager):
    """A worm that eats."""

    eaten = number()
    travelled_to_first = number()
    optimal = number()  # Manhattan distance from the start to the first food that was eaten
    start_x = number()
    start_y = number()


@kernel()
def start_forager(params: Forager, state: ForagerState, rng: U64) -> None:
    """Puts the worm at the centre facing up, or anywhere facing anywhere, and remembers where that was."""
    start_worm(params, state)
    if params.random_start != 0.0:
        side = int(params.side)
        state.x, state.y = np.float64(randint(rng, side)), np.float64(randint(rng, side))
        state.heading = np.float64(randint(rng, 4))
    state.start_x, state.start_y = state.x, state.y


@kernel()
def _far_from_food(params: Forager, state: ForagerState, x: float, y: float, skip: int, limit: float) -> bool:
    for n in range(params.foods):
        dx, dy = state.food[n, X] - x, state.food[n, Y] - y
        if n != skip and dx * dx + dy * dy < limit:
            return False
    return True


@kernel()
def _place_food(params: Forager, state: ForagerState, rng: U64, n: int) -> None:
    """Uniform on the allowed cells by rejection; the spacing between foods is given up after 100 tries."""
    side = int(params.side)
    exclusion, spacing = params.exclusion * params.exclusion, params.spacing * params.spacing
    x, y = 0.0, 0.0
    for attempt in range(_RELAXED_TRIES):
        x, y = np.float64(randint(rng, side)), np.float64(randint(rng, side))
        dx, dy = x - state.x, y - state.y
        limit = spacing if attempt < _STRICT_TRIES else 1.0
        if dx * dx + dy * dy >= exclusion and _far_from_food(params, state, x, y, n, limit):
            break
    state.food[n, X], state.food[n, Y] = x, y


@kernel()
def place_foods(params: Forager, state: ForagerState, rng: U64) -> None:
    """All foods anew."""
    state.food[:] = _NOWHERE
    for n in range(params.foods):
        _place_food(params, state, rng, n)


@kernel()
def _eat(params: Forager, state: ForagerState, rng: U64) -> float:
    """Eats what lies on the worm's cell; it reappears elsewhere at once. Returns how much was eaten."""
    x, y = state.x, state.y
    before = state.eaten
    for n in range(params.foods):
        if state.food[n, X] == x and state.food[n, Y] == y:
            if state.eaten == 0.0:
                state.optimal = abs(x - state.start_x) + abs(y - state.start_y)
                state.travelled_to_first = state.travelled
            state.eaten += 1.0
            state.satiety = min(params.satiety, state.satiety + params.satiety_gain)
            _place_food(params, state, rng, n)
    survey_food(params, state)
    return state.eaten - before


@inlined
def collect(params: Forager, state: ForagerState, rng: U64) -> float:
    """Hunger, food and their reward after a move. Returns the reward."""
    state.satiety -= 1.0
    before = state.nearest
    survey_food(params, state)
    reward = params.shaping * (before - state.nearest) - 0.005 - 0.02 * state.touch
    if state.nearest == 0.0:
        reward += 2.0 * _eat(params, state, rng)
    return reward
