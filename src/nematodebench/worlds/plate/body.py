"""The crawling worm that all plates share: its memory, how it moves, and how it senses with noise.

One tick is a second, lengths are millimetres. A plate says what there is to sense at the worm's head and to both sides
of it; everything else is the same on every plate.
"""

import numpy as np

from nematodebench.kernels.angles import PI, TWO_PI, atan2_64, wrap
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.math import cos64, sin64, tanh64
from nematodebench.kernels.memory import Block, constant, number, numbers
from nematodebench.kernels.rng import normal, uniform

__all__ = [
    "LAG", "SENSES", "SWEEP", "PlateParams", "PlateState", "crawl", "head_sides", "keep_in_disc", "sense", "steer",
    "turn_to_anywhere",
]  # fmt: skip

SENSES = ("rise", "fall", "right", "left", "touch")
"""The sensors behind the level, which every plate calls by the name of what is sensed there."""
SWEEP = 0.1
LAG = 5
"""Ticks within which a sharp turn has to happen, see :mod:`nematodebench.worlds.plate.gait`."""
_FORWARD, _LEFT, _RIGHT = 0, 1, 2
_SPEED, _SHARPEST, _UNREST = 0.2, PI / 6.0, 0.1
_LEVEL, _RISE, _FALL, _TO_RIGHT, _TO_LEFT, _TOUCH = 0, 1, 2, 3, 4, 5


class PlateParams(Block):
    """What every plate is told."""

    ticks = constant()
    window = constant()
    noise = constant()
    gain = constant()
    lowest = constant()  # what the sensor of the level shows as 0
    span = constant()  # from there to what it shows as 1


class PlateState(Block):
    """The worm, its clock, the ticks in both zones, and what its gait is told from."""

    x = number()
    y = number()
    heading = number()
    turn = number()  # of the last tick
    tick = number()
    touch = number()
    felt = number()  # the level with its noise, as it was sensed last
    zone = number()  # 1 in the wanted zone, -1 in its mirror image, 0 elsewhere
    wanted = number()
    mirrored = number()
    way = number()
    moved = number()  # ticks in which the worm was free
    closeness = number()
    lateral = number()
    falls = number()
    turns_in_falls = number()
    rises = number()
    turns_in_rises = number()
    curves = number()
    sum_lateral = number()
    sum_turn = number()
    sum_squares = number()
    sum_products = number()
    headings = numbers(LAG)
    trends = numbers(LAG)


@kernel()
def turn_to_anywhere(state: PlateState, rng: U64) -> None:
    """A uniform heading, with which an episode begins."""
    state.heading = wrap(TWO_PI * uniform(rng), TWO_PI)


@kernel()
def crawl(state: PlateState, rng: U64, action: F32M) -> None:
    """Turns, not quite as far as was wanted, and moves along the new heading."""
    before = state.heading
    # Effectors are float32, and so is their difference.
    steered = action[0, _LEFT] - action[0, _RIGHT]
    state.turn = _SHARPEST * float(steered) + _UNREST * normal(rng)
    state.heading = wrap(before + state.turn, TWO_PI)
    step = _SPEED * float(action[0, _FORWARD])
    state.x += step * cos64(state.heading)
    state.y += step * sin64(state.heading)
    state.way += step
    state.moved += 1.0
    state.touch = 0.0


@kernel()
def keep_in_disc(state: PlateState, radius: float) -> None:
    """Puts a worm that left a round plate back on its rim."""
    distance = np.sqrt(state.x * state.x + state.y * state.y)
    if distance > radius:
        state.x *= radius / distance
        state.y *= radius / distance
        state.touch = 1.0


@kernel()
def head_sides(state: PlateState) -> tuple[float, float, float, float]:
    """Where the head is when it sweeps to the right, and to the left."""
    across, along = SWEEP * sin64(state.heading), SWEEP * cos64(state.heading)
    return state.x + across, state.y - along, state.x - across, state.y + along


@kernel()
def _halves(obs: F32M, column: int, value: float) -> None:
    """A number between -1 and 1 as two sensors: what is above 0, and what is below."""
    obs[0, column] = np.float32(min(max(value, 0.0), 1.0))
    obs[0, column + 1] = np.float32(min(max(-value, 0.0), 1.0))


@kernel()
def sense(params: PlateParams, state: PlateState, rng: U64, obs: F32M, here: float, right: float, left: float) -> None:
    """Writes all sensors from the true levels at the head and to both sides; each is sensed with noise of its own."""
    felt = here + params.noise * normal(rng)
    change = felt - state.felt if state.tick > 0.0 else 0.0
    state.felt = felt
    sweep = right + params.noise * normal(rng)
    sweep -= left + params.noise * normal(rng)
    obs[0, _LEVEL] = np.float32(min(max((felt - params.lowest) / params.span, 0.0), 1.0))
    _halves(obs, _RISE, tanh64(params.gain * change))
    _halves(obs, _TO_RIGHT, tanh64(params.gain * sweep))
    obs[0, _TOUCH] = np.float32(state.touch)


@kernel()
def steer(state: PlateState, action: F32M, x: float, y: float, near: float) -> None:
    """What a worm does that knows where it is wanted: turns there, crawls there, and rests once it is near."""
    dx, dy = x - state.x, y - state.y
    error = wrap(atan2_64(dy, dx) - state.heading, TWO_PI)
    turn = min(max(error / _SHARPEST, -1.0), 1.0)
    far = dx * dx + dy * dy > near * near
    action[0, _FORWARD] = np.float32(1.0 if far and abs(error) < 1.0 else 0.0)
    action[0, _LEFT] = np.float32(max(turn, 0.0) if far else 0.0)
    action[0, _RIGHT] = np.float32(max(-turn, 0.0) if far else 0.0)
