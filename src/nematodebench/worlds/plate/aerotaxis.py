"""World `plate_aerotaxis`: a worm in a chamber between air and nitrogen looks for the oxygen that it prefers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import FIELD_SIDE, FOOD, WALL, line, rectangle
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.plate.body import (
    PlateParams,
    PlateState,
    crawl,
    head_sides,
    sense,
    steer,
    turn_to_anywhere,
)
from nematodebench.worlds.plate.gait import PlateMetrics, begin_gait, finish, note_gait
from nematodebench.worlds.plate.plate import Plate
from nematodebench.worlds.plate.scenes import draw_bars, draw_worm, place_of

__all__ = ["PlateAerotaxis"]

_MARGIN = 0.5


class Params(PlateParams):
    """The fields of :class:`PlateAerotaxis`."""

    length = constant()
    height = constant()
    middle = constant()
    low = constant()
    high = constant()


class State(PlateState):
    """The worm, and the slope of the oxygen along the chamber."""

    slope = number()


memory = WorldMemory(Params, State, PlateMetrics)


@kernel()
def _oxygen(params: Params, state: State, x: float) -> float:
    """Per cent of oxygen: none at one end, as in air at the other."""
    return params.middle + state.slope * x


@kernel()
def _oxygens(params: Params, state: State) -> tuple[float, float, float]:
    """At the head, to its right and to its left."""
    right_x, _, left_x, _ = head_sides(state)
    return _oxygen(params, state, state.x), _oxygen(params, state, right_x), _oxygen(params, state, left_x)


@kernel()
def _closeness(params: Params, oxygen: float) -> float:
    """How far it is from the middle of the band, as a negative number."""
    return -abs(oxygen - 0.5 * (params.low + params.high))


@kernel()
def _keep_inside(params: Params, state: State) -> None:
    """Puts a worm that left the chamber back to its wall."""
    x, y = 0.5 * params.length, 0.5 * params.height
    inside_x, inside_y = min(max(state.x, -x), x), min(max(state.y, -y), y)
    state.touch = 1.0 if inside_x != state.x or inside_y != state.y else 0.0
    state.x, state.y = inside_x, inside_y


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """One coin decides which end has the air, another near which end the worm starts."""
    turn_to_anywhere(state, rng)
    half = 0.5 * params.length
    state.slope = params.middle / half if uniform(rng) < 0.5 else -params.middle / half
    place = half * (0.75 + 0.25 * uniform(rng))
    state.x = place if uniform(rng) < 0.5 else -place
    state.y = params.height * (uniform(rng) - 0.5)
    here, right, left = _oxygens(params, state)
    begin_gait(state, _closeness(params, here), _closeness(params, right), _closeness(params, left))
    sense(params, state, rng, obs, here, right, left)


@memory.kernel
def step(
    params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: PlateMetrics
) -> None:
    """The worm crawls and senses the oxygen."""
    crawl(state, rng, action)
    _keep_inside(params, state)
    state.tick += 1.0
    here, right, left = _oxygens(params, state)
    sense(params, state, rng, obs, here, right, left)
    note_gait(state, _closeness(params, here), _closeness(params, right), _closeness(params, left))
    inside = 1.0 if params.low <= here <= params.high else 0.0
    outcome.reward[0] = inside
    finish(params, state, inside, outcome, metrics)


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Knows where the band is."""
    steer(state, action, (0.5 * (params.low + params.high) - params.middle) / state.slope, state.y, 1.0)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M, field: F32M) -> None:
    """The oxygen, the band between two lines, the walls and the worm."""
    half, high = 0.5 * params.length, 0.5 * params.height
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            x = min(max(place_of(column, -half - _MARGIN, half + _MARGIN), -half), half)
            field[row, column] = np.float32(_oxygen(params, state, x) / (2.0 * params.middle))
    for side in range(2):
        x = ((params.low if side == 0 else params.high) - params.middle) / state.slope
        line(rows, FOOD, x, -high, x, high, 0.4, 1.0)
    for side in range(2):
        end = -1.0 if side == 0 else 1.0
        rectangle(rows, WALL, end * half, 0.0, 0.3, params.height, 0.0, 1.0)
        rectangle(rows, WALL, 0.0, end * high, params.length, 0.3, 0.0, 1.0)
    draw_worm(rows, state, obs, 2.4)
    draw_bars(rows, params, state, obs, False)


@dataclass(frozen=True)
class PlateAerotaxis(Plate):
    """A chamber of `length` x `height` mm; one tick is a second. Oxygen rises evenly from one end to the other.

    | sensor | range | value |
    |---|---|---|
    | oxygen | 0..1 | clip((L - lowest)/span); L = oxygen in per cent + `noise` n |
    | rise, fall | 0..1 | positive and negative part of tanh(gain (L now - L one tick ago)), 0 at the start |
    | right, left | 0..1 | positive and negative part of tanh(gain (L to the right - L to the left)), 0.1 mm from the head, each with noise of its own |
    | touch | 0, 1 | whether the last move was stopped at a wall |

    n is a fresh standard normal number at every use.

    | effector | range | effect |
    |---|---|---|
    | forward, left, right | 0..1 | heading += (pi/6)(left - right) + 0.1 n, then 0.2 forward mm along the new heading; outside the chamber is clamped to its walls |

    | what | rule |
    |---|---|
    | oxygen | middle (1 +- x/(length/2)) per cent, x from the middle of the chamber; the sign is a fair coin |
    | start | uniform in the outer quarter of one half of the chamber, which one by a fair coin; uniform heading |
    | zone | `low` to `high` per cent of oxygen |
    | reward | 1 in the zone, else 0 |
    | end | after `ticks` (truncated) |
    | index | share of the last `window` ticks in the zone |
    | klinokinesis, weathervane, speed, end_index | descriptors of the whole episode, with C = -(distance to the middle of the zone, in per cent): see `worlds/plate/gait.py` |
    """  # noqa: E501

    length: float = 33.0
    height: float = 15.0
    middle: float = 10.5
    low: float = 5.0
    high: float = 12.0
    noise: float = 0.15
    gain: float = 4.0
    lowest: float = 0.0
    span: float = 21.0
    ticks: int = 600
    window: int = 300

    name: ClassVar[str] = "plate_aerotaxis"
    sensed: ClassVar[str] = "oxygen"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    def picture(self) -> Picture:
        """The chamber."""
        x, y = 0.5 * self.length + _MARGIN, 0.5 * self.height + _MARGIN
        return self.framed((-x, -y, x, y), "wanted oxygen")
