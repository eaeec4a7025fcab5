"""World `pong`: a paddle that feels the bearing of the ball keeps it in play."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.angles import atan2_64
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, Canvas

__all__ = ["Pong"]

_P_TICKS, _P_WINDOW = 0, 1
_S_X, _S_Y, _S_VX, _S_VY, _S_PADDLE, _S_PAST, _S_TICK, _S_HITS, _S_MISSES = 0, 1, 2, 3, 4, 5, 6, 7, 8
_STATE = 9
_WIDTH, _HEIGHT, _RADIUS, _SPEED = 1000.0, 500.0, 15.0, 5.0
_LOW, _HIGH, _RIGHT = 5.0, 495.0, 995.0
_PADDLE_X, _PADDLE_HEIGHT, _PADDLE_SPEED = 100.0, 100.0, 100.0
_FACE, _REACH = _PADDLE_X + _RADIUS, _PADDLE_HEIGHT / 2.0 + _RADIUS
_UNITS, _SPACING = 46, 4.0
_DEGREES = 57.29577951308232


@kernel()
def _serve(state: F64, rng: U64) -> None:
    state[_S_X], state[_S_Y] = _RIGHT, 1.0 + (_HEIGHT - 2.0) * uniform(rng)
    state[_S_VX] = -_SPEED
    state[_S_VY] = _SPEED if uniform(rng) < 0.5 else -_SPEED
    state[_S_PAST] = 0.0


@kernel()
def _sense(state: F64, obs: F32M) -> None:
    obs[0] = np.float32(0.0)
    ahead = state[_S_X] - _PADDLE_X
    if ahead < 0.0:
        return
    bearing = _DEGREES * atan2_64(state[_S_Y] - state[_S_PADDLE], ahead)
    first = int(np.floor((bearing + 90.0) / _SPACING))
    for unit in range(max(first, 0), min(first + 2, _UNITS)):
        if abs(bearing - (_SPACING * unit - 90.0)) <= _SPACING / 2.0:
            obs[0, unit] = np.float32(1.0)


@kernel()
def _move_ball(state: F64) -> None:
    """Straight on, mirrored at the top, the bottom and the far side."""
    state[_S_X] += state[_S_VX]
    state[_S_Y] += state[_S_VY]
    if state[_S_Y] < _LOW:
        state[_S_Y], state[_S_VY] = 2.0 * _LOW - state[_S_Y], _SPEED
    elif state[_S_Y] > _HIGH:
        state[_S_Y], state[_S_VY] = 2.0 * _HIGH - state[_S_Y], -_SPEED
    if state[_S_X] > _RIGHT:
        state[_S_X], state[_S_VX] = 2.0 * _RIGHT - state[_S_X], -_SPEED


@kernel()
def _meet_paddle(state: F64, rng: U64) -> float:
    """One chance a pass; returns +1 for a hit, -1 for a miss (with a new ball), else 0."""
    if state[_S_VX] < 0.0 and state[_S_PAST] == 0.0 and state[_S_X] <= _FACE:
        if abs(state[_S_Y] - state[_S_PADDLE]) <= _REACH:
            state[_S_X], state[_S_VX] = _FACE, _SPEED
            return 1.0
        state[_S_PAST] = 1.0
    if state[_S_X] < 0.0:
        _serve(state, rng)
        return -1.0
    return 0.0


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Paddle in the middle, a new ball."""
    state[:] = 0.0
    state[_S_PADDLE] = _HEIGHT / 2.0
    _serve(state, rng)
    _sense(state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move the paddle, then the ball."""
    wanted = state[_S_PADDLE] + _PADDLE_SPEED * (float(action[0, 0]) - float(action[0, 1]))
    state[_S_PADDLE] = min(max(wanted, _PADDLE_HEIGHT / 2.0), _HEIGHT - _PADDLE_HEIGHT / 2.0)
    _move_ball(state)
    outcome = _meet_paddle(state, rng)
    state[_S_TICK] += 1.0
    if state[_S_TICK] > params[_P_TICKS] - params[_P_WINDOW]:
        state[_S_HITS] += max(outcome, 0.0)
        state[_S_MISSES] += max(-outcome, 0.0)
    _sense(state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] else 0.0
    out[OUT_REWARD] = outcome
    out[3] = state[_S_HITS] / max(state[_S_HITS] + state[_S_MISSES], 1.0)
    out[4], out[5] = state[_S_HITS], state[_S_MISSES]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Stays level with the ball."""
    drive = min(max((state[_S_Y] - state[_S_PADDLE]) / _PADDLE_SPEED, -1.0), 1.0)
    action[0, 0], action[0, 1] = np.float32(max(drive, 0.0)), np.float32(max(-drive, 0.0))


@dataclass(frozen=True)
class Pong(World):
    """A field of 1000 x 500 with a ball of radius 15 that moves 5 a tick along each axis; y up.

    | sensor | range | value |
    |---|---|---|
    | bearing_0..45 | 0, 1 | units from -90 to 90 degrees in steps of 4; 1 if the ball's bearing from the paddle's centre is within 2; all 0 while the ball is behind the paddle |

    | effector | range | effect |
    |---|---|---|
    | e1, e2 | 0..1 | the paddle (x = 100, height 100) moves 100 (e1 - e2) before the ball does, its centre clamped to [50, 450] |

    | what | rule |
    |---|---|
    | start | paddle at 250; ball at x = 995, y uniform in (1, 499), leftward, up or down by a fair coin |
    | walls | the ball is mirrored at y = 5, y = 495 and x = 995 |
    | hit | ball moving left, not yet past, x <= 115 and at most 65 above or below the paddle's centre: put at x = 115 and sent back; otherwise it is past |
    | miss | x < 0: a new ball at once |
    | reward | +1 hit, -1 miss |
    | end | after `ticks` (truncated) |
    | hit_rate | hits/(hits + misses) of the last `window` ticks, 0 if none |
    """  # noqa: E501

    ticks: int = 20000
    window: int = 20000

    name: ClassVar[str] = "pong"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("hit_rate", "hits", "misses")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Bearing units."""
        return tuple(Sensor(f"bearing_{unit}") for unit in range(_UNITS))

    @property
    def actions(self) -> Effectors:
        """Up and down."""
        return Effectors(("e1", "e2"))

    @property
    def state_size(self) -> int:
        """Ball, paddle, clock, counts."""
        return _STATE

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.ticks, self.window], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The field."""
        canvas = Canvas(0.0, 0.0, _WIDTH, _HEIGHT)
        canvas.bar(_PADDLE_X, state[_S_PADDLE], 10.0, _PADDLE_HEIGHT, BODY)
        canvas.disc(state[_S_X], state[_S_Y], _RADIUS, GOAL)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """Ball, paddle and the count."""
        hits, misses = state[_S_HITS], state[_S_MISSES]
        ball = f"ball {state[_S_X]:.0f},{state[_S_Y]:.0f} paddle {state[_S_PADDLE]:.0f}"
        return f"tick {state[_S_TICK]:.0f} {ball} hits {hits:.0f} misses {misses:.0f}"
