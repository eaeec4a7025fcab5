"""World `wall`: a disc with two whiskers moves about in a box without touching its walls."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.angles import atan2_64, wrap
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, INK, Canvas

__all__ = ["Wall"]

_P_SIDE, _P_RADIUS, _P_TICKS, _P_WINDOW = 0, 1, 2, 3
_S_X, _S_Y, _S_HEADING, _S_TICK, _S_COLLISIONS, _S_DISTANCE, _S_CELLS = 0, 1, 2, 3, 4, 5, 6
_STATE = 7
_TWO_PI = 6.283185307179586
_HALF_PI = 1.5707963267948966
_QUARTER_PI = 0.7853981633974483
_SQRT_2 = 1.4142135623730951
_PARTITION = 5
_ENOUGH_CELLS = 18
_ENOUGH_SPEED = 0.1


@kernel()
def _to_wall(position: float, slope: float, side: float) -> float:
    """Length of a ray until it leaves [0, side] along one axis."""
    if slope > 1e-12:
        return (side - position) / slope
    if slope < -1e-12:
        return -position / slope
    return 1e12


@kernel()
def _sense(params: F64, state: F64, obs: F32M) -> None:
    side, longest = params[_P_SIDE], params[_P_SIDE] * _SQRT_2
    for ray in range(2):
        angle = state[_S_HEADING] + (_QUARTER_PI if ray == 0 else -_QUARTER_PI)
        across = _to_wall(state[_S_X], cos64(angle), side)
        along = _to_wall(state[_S_Y], sin64(angle), side)
        distance = min(across, along) - params[_P_RADIUS]
        obs[0, ray] = np.float32(min(max(1.0 - distance / longest, 0.0), 1.0))


@kernel()
def _move(params: F64, state: F64, speed: float, turn: float) -> tuple[float, bool]:
    """Along the old heading, then the turn; returns the distance covered and whether a wall stopped it."""
    low, high = params[_P_RADIUS], params[_P_SIDE] - params[_P_RADIUS]
    x, y = state[_S_X], state[_S_Y]
    wanted_x = x + speed * cos64(state[_S_HEADING])
    wanted_y = y + speed * sin64(state[_S_HEADING])
    state[_S_X], state[_S_Y] = min(max(wanted_x, low), high), min(max(wanted_y, low), high)
    state[_S_HEADING] += turn
    dx, dy = state[_S_X] - x, state[_S_Y] - y
    return np.sqrt(dx * dx + dy * dy), state[_S_X] != wanted_x or state[_S_Y] != wanted_y


@kernel()
def _mark_cell(params: F64, state: F64) -> None:
    """Visited cells are the bits of one number."""
    width = params[_P_SIDE] / _PARTITION
    cell = int(state[_S_X] / width) * _PARTITION + int(state[_S_Y] / width)
    state[_S_CELLS] = float(int(state[_S_CELLS]) | (1 << cell))


@kernel()
def _write_metrics(params: F64, state: F64, out: F64) -> None:
    window = params[_P_WINDOW]
    cells = 0
    for cell in range(_PARTITION * _PARTITION):
        cells += (int(state[_S_CELLS]) >> cell) & 1
    moved = min(state[_S_DISTANCE] / (_ENOUGH_SPEED * window), 1.0)
    gate = moved * min(cells / _ENOUGH_CELLS, 1.0)
    ungated = max(0.0, 1.0 - state[_S_COLLISIONS] / window)
    out[3], out[4], out[5] = ungated * gate, gate, ungated
    out[6], out[7], out[8] = state[_S_COLLISIONS], state[_S_DISTANCE], float(cells)


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """At the centre, facing up."""
    state[:] = 0.0
    state[_S_X], state[_S_Y] = params[_P_SIDE] / 2.0, params[_P_SIDE] / 2.0
    state[_S_HEADING] = _HALF_PI
    _sense(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move, bump, sense."""
    left, right = float(action[0, 0]), float(action[0, 1])
    speed = (left + right) / 2.0
    distance, collided = _move(params, state, speed, right - left)
    if collided:
        state[_S_HEADING] += _QUARTER_PI if uniform(rng) < 0.5 else -_QUARTER_PI
    state[_S_HEADING] = wrap(state[_S_HEADING], _TWO_PI)
    state[_S_TICK] += 1.0
    if state[_S_TICK] > params[_P_TICKS] - params[_P_WINDOW]:
        state[_S_COLLISIONS] += 1.0 if collided else 0.0
        state[_S_DISTANCE] += distance
        _mark_cell(params, state)
    _sense(params, state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] else 0.0
    out[OUT_REWARD] = 0.0 if collided else speed
    if out[1] != 0.0:
        _write_metrics(params, state, out)


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Pursues a point on a Lissajous curve that passes through nearly all cells once in a thousand ticks."""
    phase = _TWO_PI * state[_S_TICK] / 1000.0
    centre, reach = params[_P_SIDE] / 2.0, 0.4 * params[_P_SIDE]
    dx = centre + reach * sin64(3.0 * phase) - state[_S_X]
    dy = centre + reach * sin64(4.0 * phase + 0.5) - state[_S_Y]
    turn = min(max(wrap(atan2_64(dy, dx) - state[_S_HEADING], _TWO_PI), -0.8), 0.8)
    speed = max(min(0.5 * np.sqrt(dx * dx + dy * dy), 0.5), 0.5 * abs(turn))
    action[0, 0] = np.float32(speed - 0.5 * turn)
    action[0, 1] = np.float32(speed + 0.5 * turn)


@dataclass(frozen=True)
class Wall(World):
    """A disc in a square box; it starts at the centre, heading pi/2 (up).

    | sensor | range | value |
    |---|---|---|
    | left, right | 0..1 | 1 - d/(side sqrt 2), d = distance from the disc's rim to the wall along heading +45, -45 degrees |

    | effector | range | effect |
    |---|---|---|
    | left, right | 0..1 | moves (left + right)/2 along the old heading, then turns right - left radians (+ = to the left) |

    | what | rule |
    |---|---|
    | collision | leaving [radius, side - radius] is clamped to it; the heading turns by +-pi/4, a fair coin |
    | reward | (left + right)/2, 0 on a collision |
    | end | after `ticks` (truncated) |
    | nav_score | ungated x gate; the last `window` ticks count |
    | ungated | max(0, 1 - collisions/window) |
    | gate | clamp(distance/(0.1 window), 0, 1) x clamp(cells/18, 0, 1), cells = distinct cells of a 5 x 5 partition visited |
    """  # noqa: E501

    side: float = 15.0
    radius: float = 0.5
    ticks: int = 2000
    window: int = 1000

    name: ClassVar[str] = "wall"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("nav_score", "gate", "ungated", "collisions", "distance", "cells")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Two whiskers."""
        return (Sensor("left"), Sensor("right"))

    @property
    def actions(self) -> Effectors:
        """Two wheels."""
        return Effectors(("left", "right"))

    @property
    def state_size(self) -> int:
        """Pose, clock and the window's sums."""
        return _STATE

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.side, self.radius, self.ticks, self.window], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The disc with its two rays."""
        canvas = Canvas(0.0, 0.0, self.side, self.side)
        for angle in (_QUARTER_PI, -_QUARTER_PI):
            canvas.line(state[_S_X], state[_S_Y], state[_S_HEADING] + angle, 2.0 * self.radius, INK)
        canvas.disc(state[_S_X], state[_S_Y], self.radius, BODY)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """Pose and collisions."""
        pose = f"x {state[_S_X]:.2f} y {state[_S_Y]:.2f} heading {np.degrees(state[_S_HEADING]):.0f}"
        return f"tick {state[_S_TICK]:.0f} {pose} collisions {state[_S_COLLISIONS]:.0f}"
