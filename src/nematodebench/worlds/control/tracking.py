"""World `tracking`: two eyes on one neck follow a target that circles around them."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.angles import wrap
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.math import cos64, exp32
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, INK, Canvas

__all__ = ["Tracking"]

_P_TARGET_SPEED, _P_FLIP, _P_GAZE_SPEED, _P_TICKS, _P_WINDOW = 0, 1, 2, 3, 4
_S_GAZE, _S_TARGET, _S_TICK, _S_COSINE = 0, 1, 2, 3
_STATE = 4
_RADIANS = 0.017453292519943295
_EYES, _UNITS, _SPACING = (30.0, -30.0), 31, 4.0
_FULL_RESPONSE = 4.0
# Beyond this exp(-d^2/10) is below the smallest normal float32, and 0 is written.
_BLIND = 29.5


@kernel()
def _sense(state: F64, obs: F32M) -> None:
    target = wrap(state[_S_TARGET] - state[_S_GAZE], 360.0)
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
def _velocity(params: F64, tick: float) -> float:
    """Degrees the target moves in a tick (counted from 0)."""
    speed: float = params[_P_TARGET_SPEED]
    return speed if int(tick / params[_P_FLIP]) % 2 == 0 else -speed


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Gaze anywhere, target at 0."""
    state[:] = 0.0
    state[_S_GAZE] = 360.0 * uniform(rng)
    _sense(state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Turn the gaze, move the target, take the error."""
    turn = params[_P_GAZE_SPEED] * (float(action[0, 0]) - float(action[0, 1]))
    state[_S_GAZE] = wrap(state[_S_GAZE] + turn, 360.0)
    state[_S_TARGET] = wrap(state[_S_TARGET] + _velocity(params, state[_S_TICK]), 360.0)
    state[_S_TICK] += 1.0
    cosine = cos64(_RADIANS * (state[_S_TARGET] - state[_S_GAZE]))
    if state[_S_TICK] > params[_P_TICKS] - params[_P_WINDOW]:
        state[_S_COSINE] += cosine
    _sense(state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] else 0.0
    out[OUT_REWARD] = cosine
    out[3] = state[_S_COSINE] / params[_P_WINDOW]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Turns to where the target will be."""
    ahead = state[_S_TARGET] + _velocity(params, state[_S_TICK]) - state[_S_GAZE]
    drive = min(max(wrap(ahead, 360.0) / params[_P_GAZE_SPEED], -1.0), 1.0)
    action[0, 0], action[0, 1] = np.float32(max(drive, 0.0)), np.float32(max(-drive, 0.0))


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("track_score",)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Two eyes."""
        return tuple(Sensor(f"{eye}_{unit}") for eye in ("left", "right") for unit in range(_UNITS))

    @property
    def actions(self) -> Effectors:
        """Two muscles of the neck."""
        return Effectors(("e1", "e2"))

    @property
    def state_size(self) -> int:
        """Gaze, target, clock, sum."""
        return _STATE

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.target_speed, self.flip, self.gaze_speed, self.ticks, self.window], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The gaze as a hand, the target on a circle."""
        canvas = Canvas(-1.2, -1.2, 1.2, 1.2)
        gaze, target = np.radians(state[_S_GAZE]), np.radians(state[_S_TARGET])
        canvas.line(0.0, 0.0, gaze, 1.0, INK)
        canvas.disc(0.0, 0.0, 0.15, BODY)
        canvas.disc(float(np.cos(target)), float(np.sin(target)), 0.08, GOAL)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """Gaze and target in degrees."""
        return f"tick {state[_S_TICK]:.0f} gaze {state[_S_GAZE]:.1f} target {state[_S_TARGET]:.1f}"
