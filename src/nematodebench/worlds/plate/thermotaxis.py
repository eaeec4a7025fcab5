"""World `plate_thermotaxis`: a worm goes back to the temperature at which it was kept before."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import TWO_PI, atan2_64
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, exp64, sin64
from nematodebench.kernels.memory import constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import FIELD_SIDE, FOOD, NULL, rectangle
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.plate.body import (
    PlateParams,
    PlateState,
    crawl,
    head_sides,
    keep_in_disc,
    sense,
    steer,
    turn_to_anywhere,
)
from nematodebench.worlds.plate.gait import PlateMetrics, begin_gait, finish, note_gait
from nematodebench.worlds.plate.plate import Plate
from nematodebench.worlds.plate.scenes import EDGE, blank_outside, draw_bars, draw_rim, draw_worm, place_of

__all__ = ["PlateThermotaxis"]

_SLICES = 12
"""What a zone is drawn of."""


class Params(PlateParams):
    """The fields of :class:`PlateThermotaxis`."""

    radius = constant()
    centre = constant()
    slope = constant()
    nearest = constant()
    farthest = constant()
    zone = constant()
    held = constant()


class State(PlateState):
    """The worm, the direction in which it gets warmer, and the temperature to remember."""

    warm_x = number()
    warm_y = number()
    kept = number()


memory = WorldMemory(Params, State, PlateMetrics)


@kernel()
def _warmth(params: Params, state: State, x: float, y: float) -> float:
    """Degrees Celsius at a place of the plate."""
    return params.centre + params.slope * (x * state.warm_x + y * state.warm_y)


@kernel()
def _warmths(params: Params, state: State) -> tuple[float, float, float]:
    """At the head, to its right and to its left."""
    right_x, right_y, left_x, left_y = head_sides(state)
    here = _warmth(params, state, state.x, state.y)
    return here, _warmth(params, state, right_x, right_y), _warmth(params, state, left_x, left_y)


@kernel()
def _zone(params: Params, state: State, here: float) -> float:
    """1 at the temperature to remember, -1 at the one that lies as far on the other side of the centre's."""
    if abs(here - state.kept) <= params.zone:
        return 1.0
    return -1.0 if abs(here - (2.0 * params.centre - state.kept)) <= params.zone else 0.0


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The worm is held at the temperature that it is to remember."""
    turn_to_anywhere(state, rng)
    direction = TWO_PI * uniform(rng)
    state.warm_x, state.warm_y = cos64(direction), sin64(direction)
    away = params.nearest + (params.farthest - params.nearest) * uniform(rng)
    state.kept = params.centre + (away if uniform(rng) < 0.5 else -away)
    sense(params, state, rng, obs, state.kept, state.kept, state.kept)


@kernel()
def _live(params: Params, state: State, rng: U64, action: F32M, obs: F32M) -> float:
    """A tick of a worm that is free; returns the temperature."""
    crawl(state, rng, action)
    keep_in_disc(state, params.radius)
    here, right, left = _warmths(params, state)
    sense(params, state, rng, obs, here, right, left)
    note_gait(state, -abs(here - state.kept), -abs(right - state.kept), -abs(left - state.kept))
    return here


@kernel()
def _release(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The worm lies at the centre of the plate and senses it for the first time."""
    here, right, left = _warmths(params, state)
    sense(params, state, rng, obs, here, right, left)
    begin_gait(state, -abs(here - state.kept), -abs(right - state.kept), -abs(left - state.kept))


@memory.kernel
def step(
    params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: PlateMetrics
) -> None:
    """While the worm is held nothing that it does matters; then it crawls and senses the plate."""
    state.tick += 1.0
    zone = 0.0
    if state.tick < params.held:
        sense(params, state, rng, obs, state.kept, state.kept, state.kept)
    elif state.tick == params.held:
        _release(params, state, rng, obs)
    else:
        here = _live(params, state, rng, action, obs)
        away = here - state.kept
        outcome.reward[0] = exp64(-0.5 * away * away)
        zone = _zone(params, state, here)
    finish(params, state, zone, outcome, metrics)


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Knows where the temperature is the wanted one, and the shortest way there."""
    here = _warmth(params, state, state.x, state.y)
    away = (state.kept - here) / params.slope
    steer(state, action, state.x + away * state.warm_x, state.y + away * state.warm_y, 2.0)


@kernel()
def _draw_zone(rows: F64M, params: Params, state: State, role: float, warmth: float) -> None:
    """A band across the plate, in slices that end where the plate does."""
    width = 2.0 * params.zone / params.slope / _SLICES
    direction = atan2_64(state.warm_y, state.warm_x)
    for k in range(_SLICES):
        away = (warmth - params.centre) / params.slope + (k + 0.5 - 0.5 * _SLICES) * width
        long = 2.0 * np.sqrt(max(params.radius * params.radius - away * away, 0.0))
        rectangle(rows, role, away * state.warm_x, away * state.warm_y, width, long, direction, 0.5)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M, field: F32M) -> None:
    """The temperature, both zones as bands, the rim of the plate and the worm."""
    edge = EDGE * params.radius
    lowest, span = params.centre - params.slope * params.radius, 2.0 * params.slope * params.radius
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            warmth = _warmth(params, state, place_of(column, -edge, edge), place_of(row, -edge, edge))
            field[row, column] = np.float32(max((warmth - lowest) / span, 0.0))
    blank_outside(field, params.radius, edge)
    _draw_zone(rows, params, state, FOOD, state.kept)
    _draw_zone(rows, params, state, NULL, 2.0 * params.centre - state.kept)
    draw_rim(rows, params.radius)
    draw_worm(rows, state, obs, 0.14 * params.radius)
    draw_bars(rows, params, state, obs, True)


@dataclass(frozen=True)
class PlateThermotaxis(Plate):
    """A round plate of `radius` mm on which it gets warmer in one direction; one tick is a second.

    | sensor | range | value |
    |---|---|---|
    | temperature | 0..1 | clip((L - lowest)/span); L = temperature in degrees Celsius + `noise` n |
    | rise, fall | 0..1 | positive and negative part of tanh(gain (L now - L one tick ago)), 0 at the start |
    | right, left | 0..1 | positive and negative part of tanh(gain (L to the right - L to the left)), 0.1 mm from the head, each with noise of its own |
    | touch | 0, 1 | whether the last move was stopped at the rim |

    n is a fresh standard normal number at every use.

    | effector | range | effect |
    |---|---|---|
    | forward, left, right | 0..1 | heading += (pi/6)(left - right) + 0.1 n, then 0.2 forward mm along the new heading; outside the plate is clamped to its rim; nothing while the worm is held |

    | what | rule |
    |---|---|
    | plate | `centre` degrees at the centre, `slope` degrees a mm in a uniform direction |
    | kept | the temperature to remember, `centre` +- uniform(`nearest`, `farthest`), the sign by a fair coin |
    | held | in the first `held` observations the worm senses `kept` everywhere and cannot move; then it lies at the centre of the plate, with a uniform heading |
    | zones | within `zone` degrees of `kept`, and of 2 `centre` - `kept` |
    | reward | exp(-(T - kept)^2/2), 0 while the worm is held |
    | end | after `ticks` (truncated), those in which it is held included |
    | index | (ticks in the zone - ticks in its mirror image)/window in the last `window` ticks; 0 in expectation for all who ignore their input, and for all who have no memory |
    | klinokinesis, weathervane, speed, end_index | descriptors of all ticks in which it is free, with C = -abs(T - kept): see `worlds/plate/gait.py` |
    """  # noqa: E501

    radius: float = 45.0
    centre: float = 20.0
    slope: float = 0.1
    nearest: float = 1.5
    farthest: float = 3.0
    zone: float = 0.6
    held: int = 40
    noise: float = 0.03
    gain: float = 30.0
    lowest: float = 14.0
    span: float = 12.0
    ticks: int = 900
    window: int = 400

    name: ClassVar[str] = "plate_thermotaxis"
    sensed: ClassVar[str] = "temperature"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    def picture(self) -> Picture:
        """The plate."""
        edge = EDGE * self.radius
        return self.framed((-edge, -edge, edge, edge), "temperature to remember", "mirror zone")
