"""World `tracking`: two eyes on one neck follow a target that circles around them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import PI, wrap
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, exp32, sin64
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import BALL, BRAIN, FOOD, MUTED, RAY, bar, body, disc, line, readout, ring, triangle
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Tracking"]

_RADIANS = PI / 180.0
_EYES, _UNITS, _SPACING = (30.0, -30.0), 31, 4.0
_FULL_RESPONSE = 4.0
# Beyond this exp(-d^2/10) is below the smallest normal float32, and 0 is written.
_BLIND = 29.5


class Params(Block):
    """The fields of :class:`Tracking`."""

    target_speed = constant()
    flip = constant()
    gaze_speed = constant()
    ticks = constant()
    window = constant()


class State(Block):
    """Gaze and target in degrees, the clock and the sum of cosines in the window."""

    gaze = number()
    target = number()
    tick = number()
    cosines = number()


class Metrics(Block):
    """The score."""

    track_score = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _sense(state: State, obs: F32M) -> None:
    target = wrap(state.target - state.gaze, 360.0)
    for eye in range(2):
        for unit in range(_UNITS):
            preferred = _EYES[eye] - 60.0 + _SPACING * unit
            d = abs(wrap(target - preferred, 360.0))
            response = np.float32(0.0)
            if d <= _FULL_RESPONSE:
                response = np.float32(1.0)
            elif d < _BLIND:
                response = exp32(np.float32(-d * d / 10.0))
            obs[0, eye * _UNITS + unit] = response


@kernel()
def _velocity(params: Params, state: State) -> float:
    """Degrees that the target moves in the tick that begins."""
    return params.target_speed if int(state.tick / params.flip) % 2 == 0 else -params.target_speed


@memory.reset
def reset(state: State, rng: U64, obs: F32M) -> None:
    """The gaze points anywhere, the target is at 0."""
    state.gaze = 360.0 * uniform(rng)
    _sense(state, obs)


@memory.kernel
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The gaze turns, the target moves, then the error is taken."""
    turn = params.gaze_speed * float(action[0, 0] - action[0, 1])
    state.gaze = wrap(state.gaze + turn, 360.0)
    state.target = wrap(state.target + _velocity(params, state), 360.0)
    state.tick += 1.0
    cosine = cos64(_RADIANS * (state.target - state.gaze))
    if state.tick > params.ticks - params.window:
        state.cosines += cosine
    _sense(state, obs)
    outcome.truncated = 1.0 if state.tick >= params.ticks else 0.0
    outcome.reward[0] = cosine
    metrics.track_score = state.cosines / params.window


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Turns to where the target will be."""
    ahead = state.target + _velocity(params, state) - state.gaze
    drive = min(max(wrap(ahead, 360.0) / params.gaze_speed, -1.0), 1.0)
    action[0, 0], action[0, 1] = np.float32(max(drive, 0.0)), np.float32(max(-drive, 0.0))


@memory.scene
def scene(state: State, obs: F32M, rows: F64M) -> None:
    """The circle, the units of both eyes as they respond, the target and the gaze."""
    ring(rows, MUTED, 0.0, 0.0, 1.0, 0.01, 0.5)
    for eye in range(2):
        for unit in range(_UNITS):
            response = float(obs[0, eye * _UNITS + unit])
            angle = _RADIANS * (state.gaze + _EYES[eye] - 60.0 + _SPACING * unit)
            c, s = cos64(angle), sin64(angle)
            near, far = 0.25 + 0.03 * eye, 0.32 + 0.6 * response
            line(rows, RAY, near * c, near * s, far * c, far * s, 0.015, 0.35 + 0.6 * response)
    gaze, target = _RADIANS * state.gaze, _RADIANS * state.target
    line(rows, BRAIN, 0.0, 0.0, 0.92 * cos64(gaze), 0.92 * sin64(gaze), 0.03, 0.9)
    body(rows, FOOD, cos64(target), sin64(target), 0.08, BALL, 0.0, 1.0)
    disc(rows, BRAIN, 0.0, 0.0, 0.17, 1.0)
    triangle(rows, BRAIN, 0.92 * cos64(gaze), 0.92 * sin64(gaze), 0.16, 0.13, gaze, 1.0)
    readout(rows, 0.0, 0.0, state.tick)
    bar(rows, FOOD, 1.0, 0.5 + 0.5 * cos64(target - gaze))


@dataclass(frozen=True)
class Tracking(World):
    """A target circles at constant speed and turns round now and then. Angles in degrees, counter-clockwise.

    | sensor | range | value |
    |---|---|---|
    | left_0..30, right_0..30 | 0..1 | eyes at +30 and -30 from the gaze, units from -60 to 60 in steps of 4: 1 if the target is within 4 of the unit's direction, else exp(-d^2/10) (0 beyond 29.5, where it is below 1e-37) |

    | effector | range | effect |
    |---|---|---|
    | e1, e2 | 0..1 | gaze += gaze_speed (e1 - e2) |

    | what | rule |
    |---|---|
    | start | gaze uniform, target at 0 moving counter-clockwise |
    | a tick | the gaze turns, the target moves target_speed, the error is taken; the target's direction flips every `flip` ticks |
    | reward | cos(error) |
    | end | after `ticks` (truncated) |
    | track_score | mean cos(error) over the last `window` ticks |
    """  # noqa: E501

    target_speed: float = 1.0
    flip: int = 720
    gaze_speed: float = 10.0
    ticks: int = 7200
    window: int = 7200

    name: ClassVar[str] = "tracking"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """There are two eyes of 31 units."""
        return tuple(Sensor(f"{eye}_{unit}") for eye in ("left", "right") for unit in range(_UNITS))

    @property
    def actions(self) -> Effectors:
        """There are two muscles of the neck."""
        return Effectors(("e1", "e2"))

    def picture(self) -> Picture:
        """The circle on which the target runs."""
        legend = {"brain": "gaze", "food": "target", "ray": "units of the eyes"}
        view = (-1.2, -1.2, 1.2, 1.2)
        return Picture(view, words=("tick", "on target"), legend=legend, frames=60)

    def text(self, state: State) -> str:
        """Says gaze and target in degrees."""
        return f"tick {state.tick:.0f} gaze {state.gaze:.1f} target {state.target:.1f}"
