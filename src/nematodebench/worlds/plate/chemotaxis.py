"""World `plate_chemotaxis`: a worm on a round plate looks for the place where a smell comes from."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import TWO_PI
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, exp64, sin64
from nematodebench.kernels.memory import constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import FIELD_SIDE, FOOD, NULL, disc, ring
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

__all__ = ["PlateChemotaxis"]


class Params(PlateParams):
    """The fields of :class:`PlateChemotaxis`."""

    radius = constant()
    nearest = constant()
    farthest = constant()
    zone = constant()
    width = constant()


class State(PlateState):
    """The worm, and where the smell comes from."""

    source_x = number()
    source_y = number()


memory = WorldMemory(Params, State, PlateMetrics)


@kernel()
def _smell(params: Params, state: State, x: float, y: float) -> float:
    """The logarithm of the concentration, 0 at its source."""
    dx, dy = x - state.source_x, y - state.source_y
    return -(dx * dx + dy * dy) / (params.width * params.width)


@kernel()
def _smells(params: Params, state: State) -> tuple[float, float, float]:
    """At the head, to its right and to its left."""
    right_x, right_y, left_x, left_y = head_sides(state)
    here = _smell(params, state, state.x, state.y)
    return here, _smell(params, state, right_x, right_y), _smell(params, state, left_x, left_y)


@kernel()
def _zone(params: Params, state: State) -> float:
    """1 near the source, -1 near its reflection."""
    reach = params.zone * params.zone
    dx, dy = state.x - state.source_x, state.y - state.source_y
    if dx * dx + dy * dy <= reach:
        return 1.0
    dx, dy = state.x + state.source_x, state.y + state.source_y
    return -1.0 if dx * dx + dy * dy <= reach else 0.0


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The worm lies at the centre; the source is somewhere around it."""
    turn_to_anywhere(state, rng)
    distance = params.nearest + (params.farthest - params.nearest) * uniform(rng)
    bearing = TWO_PI * uniform(rng)
    state.source_x, state.source_y = distance * cos64(bearing), distance * sin64(bearing)
    here, right, left = _smells(params, state)
    begin_gait(state, here, right, left)
    sense(params, state, rng, obs, here, right, left)


@memory.kernel
def step(
    params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: PlateMetrics
) -> None:
    """The worm crawls and smells."""
    crawl(state, rng, action)
    keep_in_disc(state, params.radius)
    state.tick += 1.0
    here, right, left = _smells(params, state)
    sense(params, state, rng, obs, here, right, left)
    note_gait(state, here, right, left)
    outcome.reward[0] = exp64(here)
    finish(params, state, _zone(params, state), outcome, metrics)


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Knows where the source is."""
    steer(state, action, state.source_x, state.source_y, 1.0)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M, field: F32M) -> None:
    """The smell, both zones, the rim of the plate and the worm."""
    edge = EDGE * params.radius
    for row in range(FIELD_SIDE):
        for column in range(FIELD_SIDE):
            smell = _smell(params, state, place_of(column, -edge, edge), place_of(row, -edge, edge))
            field[row, column] = np.float32(exp64(smell))
    blank_outside(field, params.radius, edge)
    draw_rim(rows, params.radius)
    x, y, width = state.source_x, state.source_y, 0.012 * params.radius
    ring(rows, FOOD, x, y, params.zone, 2.0 * width, 1.0)
    disc(rows, FOOD, x, y, 3.0 * width, 1.0)
    ring(rows, NULL, -x, -y, params.zone, 2.0 * width, 1.0)
    draw_worm(rows, state, obs, 0.14 * params.radius)
    draw_bars(rows, params, state, obs, True)


@dataclass(frozen=True)
class PlateChemotaxis(Plate):
    """A round plate of `radius` mm; one tick is a second. The worm starts at its centre with a uniform heading.

    | sensor | range | value |
    |---|---|---|
    | smell | 0..1 | clip((L - lowest)/span); L = -r^2/width^2 + `noise` n, r = distance to the source |
    | rise, fall | 0..1 | positive and negative part of tanh(gain (L now - L one tick ago)), 0 at the start |
    | right, left | 0..1 | positive and negative part of tanh(gain (L to the right - L to the left)), 0.1 mm from the head, each with noise of its own |
    | touch | 0, 1 | whether the last move was stopped at the rim |

    n is a fresh standard normal number at every use.

    | effector | range | effect |
    |---|---|---|
    | forward, left, right | 0..1 | heading += (pi/6)(left - right) + 0.1 n, then 0.2 forward mm along the new heading; outside the plate is clamped to its rim |

    | what | rule |
    |---|---|
    | source | `nearest` to `farthest` mm from the centre, uniform, in a uniform direction |
    | zones | within `zone` mm of the source, and of its reflection in the centre |
    | reward | exp(-r^2/width^2) |
    | end | after `ticks` (truncated) |
    | index | (ticks in the zone - ticks in its reflection)/window in the last `window` ticks; 0 in expectation for all who ignore their input |
    | klinokinesis, weathervane, speed, end_index | descriptors of the whole episode, with C = -r^2/width^2: see `worlds/plate/gait.py` |
    """  # noqa: E501

    radius: float = 25.0
    nearest: float = 12.0
    farthest: float = 20.0
    zone: float = 5.0
    width: float = 12.0
    noise: float = 0.07
    gain: float = 20.0
    lowest: float = -6.0
    span: float = 6.0
    ticks: int = 600
    window: int = 300

    name: ClassVar[str] = "plate_chemotaxis"
    sensed: ClassVar[str] = "smell"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    def picture(self) -> Picture:
        """The plate."""
        edge = EDGE * self.radius
        return self.framed((-edge, -edge, edge, edge), "source and its zone", "mirror zone")
