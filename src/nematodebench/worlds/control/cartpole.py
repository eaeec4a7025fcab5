"""World `cartpole`: a cart balances a pole, or first swings it up."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import F32M, F64, OUT_REWARD, U64, kernel, world_kernel
from nematodebench.kernels.angles import wrap
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, INK, Canvas

__all__ = ["Cartpole", "CartpoleSwingup"]

_P_HALF_LENGTH, _P_FORCE, _P_DEAD_ZONE, _P_X_LIMIT, _P_ANGLE_LIMIT, _P_START_X, _P_START_ANGLE = 0, 1, 2, 3, 4, 5, 6
_P_SCALES, _P_HANGING, _P_TICKS, _P_WINDOW = 7, 11, 12, 13
_S_X, _S_V, _S_ANGLE, _S_SPIN, _S_TICK, _S_SCORE = 0, 1, 2, 3, 4, 5
_STATE = 6
_GRAVITY, _CART, _POLE, _TAU = 9.8, 1.0, 0.1, 0.02
_MASS = _CART + _POLE
_START_SPEED = 0.05
_PI, _TWO_PI = 3.141592653589793, 6.283185307179586


@kernel()
def _sense(params: F64, state: F64, obs: F32M) -> None:
    for n in range(4):
        value = min(max(state[n] / params[_P_SCALES + n], -1.0), 1.0)
        obs[0, 2 * n] = np.float32(max(-value, 0.0))
        obs[0, 2 * n + 1] = np.float32(max(value, 0.0))


@kernel()
def _accelerations(params: F64, state: F64, force: float) -> tuple[float, float]:
    """Of the cart and of the pole's angle: the standard equations with the pole's half-length."""
    half = params[_P_HALF_LENGTH]
    sine, cosine = sin64(state[_S_ANGLE]), cos64(state[_S_ANGLE])
    push = (force + _POLE * half * state[_S_SPIN] * state[_S_SPIN] * sine) / _MASS
    spin = (_GRAVITY * sine - cosine * push) / (half * (4.0 / 3.0 - _POLE * cosine * cosine / _MASS))
    return push - _POLE * half * spin * cosine / _MASS, spin


@kernel()
def _integrate(params: F64, state: F64, force: float) -> None:
    """Semi-implicit Euler: speeds first, places with the new speeds."""
    cart, spin = _accelerations(params, state, force)
    state[_S_V] += _TAU * cart
    state[_S_X] += _TAU * state[_S_V]
    state[_S_SPIN] += _TAU * spin
    state[_S_ANGLE] = wrap(state[_S_ANGLE] + _TAU * state[_S_SPIN], _TWO_PI)


@kernel()
def _force(params: F64, e1: float, e2: float) -> float:
    force: float = params[_P_FORCE]
    if abs(e1 - e2) < params[_P_DEAD_ZONE]:
        return 0.0
    return -force if e1 >= e2 else force


@kernel()
def _about(rng: U64, spread: float) -> float:
    return spread * (2.0 * uniform(rng) - 1.0)


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Nearly upright or nearly hanging, nearly at rest."""
    state[:] = 0.0
    state[_S_X] = _about(rng, params[_P_START_X])
    state[_S_V] = _about(rng, _START_SPEED)
    rest = _PI if params[_P_HANGING] != 0.0 else 0.0
    state[_S_ANGLE] = wrap(rest + _about(rng, params[_P_START_ANGLE]), _TWO_PI)
    state[_S_SPIN] = _about(rng, _START_SPEED)
    _sense(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Push, fall, see."""
    _integrate(params, state, _force(params, float(action[0, 0]), float(action[0, 1])))
    state[_S_TICK] += 1.0
    failed = abs(state[_S_X]) > params[_P_X_LIMIT] or abs(state[_S_ANGLE]) > params[_P_ANGLE_LIMIT]
    reward = 0.0
    if not failed:
        reward = 0.5 * (1.0 + cos64(state[_S_ANGLE])) if params[_P_HANGING] != 0.0 else 1.0
    if state[_S_TICK] > params[_P_TICKS] - params[_P_WINDOW]:
        state[_S_SCORE] += reward
    _sense(params, state, obs)
    out[0] = 1.0 if failed else 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] and not failed else 0.0
    out[OUT_REWARD] = reward
    out[3] = state[_S_SCORE] / params[_P_WINDOW]  # the ticks after a failure count as 0


@kernel()
def _pump(params: F64, state: F64) -> float:
    """Brings the pole's energy to that of rest at the top; a push to the right takes energy where spin cos > 0."""
    half: float = params[_P_HALF_LENGTH]
    spin, cosine = float(state[_S_SPIN]), cos64(state[_S_ANGLE])
    excess = (2.0 / 3.0) * half * spin * spin + _GRAVITY * (cosine - 1.0)
    return excess * spin * cosine


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Swings up by energy, then balances by the sign of a linear feedback."""
    if abs(state[_S_ANGLE]) < 0.5:
        push = state[_S_X] + 1.7 * state[_S_V] + 30.0 * state[_S_ANGLE] + 7.0 * state[_S_SPIN]
    else:
        push = _pump(params, state)
    action[0, 0], action[0, 1] = np.float32(0.0 if push > 0.0 else 1.0), np.float32(1.0 if push > 0.0 else 0.0)


@dataclass(frozen=True)
class Cartpole(World):
    """A pole of 0.1 on a cart of 1, gravity 9.8, 0.02 s a tick; standard equations, semi-implicit Euler.

    | sensor | range | value |
    |---|---|---|
    | x_neg, x_pos, v_neg, v_pos, angle_neg, angle_pos, spin_neg, spin_pos | 0..1 | each quantity over its scale, clipped to [-1, 1], split into its negative and positive half |

    | effector | range | effect |
    |---|---|---|
    | e1, e2 | 0..1 | force -`force` if e1 >= e2, else +`force`; none if the two differ by less than `dead_zone` |

    | what | rule |
    |---|---|
    | start | x uniform in +-start_x, angle in +-start_angle, both speeds in +-0.05 |
    | reward | +1 while balanced: x within +-x_limit, angle (0 = upright, radians) within +-angle_limit |
    | end | not balanced (terminated), after `ticks` (truncated) |
    | balanced | balanced share of the last `window` ticks; after a failure none is |

    `half_length` is half the pole's length. Variants: hard (half_length .75, force 8, angle_limit .12, v and spin scales 5,
    angle_scale .12), long (half_length 1, v and spin scales 5), both without dead zone.
    """  # noqa: E501

    half_length: float = 0.5
    force: float = 10.0
    dead_zone: float = 0.05
    x_limit: float = 2.4
    angle_limit: float = 0.2095
    start_x: float = 1.2
    start_angle: float = 0.10475
    x_scale: float = 2.4
    v_scale: float = 1.0
    angle_scale: float = 0.2095
    spin_scale: float = 1.0
    ticks: int = 1000
    window: int = 1000

    name: ClassVar[str] = "cartpole"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("balanced",)
    hanging: ClassVar[bool] = False

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Two halves of four quantities."""
        return tuple(Sensor(f"{name}_{half}") for name in ("x", "v", "angle", "spin") for half in ("neg", "pos"))

    @property
    def actions(self) -> Effectors:
        """Push to the left, push to the right."""
        return Effectors(("e1", "e2"))

    @property
    def state_size(self) -> int:
        """Cart, pole, clock, sum."""
        return _STATE

    def pack(self) -> F64:
        """The fields in order, with the kind of start before the clock."""
        return np.array(
            [
                self.half_length, self.force, self.dead_zone, self.x_limit, self.angle_limit, self.start_x,
                self.start_angle, self.x_scale, self.v_scale, self.angle_scale, self.spin_scale, self.hanging,
                self.ticks, self.window,
            ],
            dtype=np.float64,
        )  # fmt: skip

    def image(self, state: F64) -> NDArray[np.uint8]:
        """Cart and pole."""
        reach = self.x_limit
        canvas = Canvas(-reach, -2.4, reach, 2.4)
        canvas.bar(state[_S_X], 0.0, 0.5, 0.3, BODY)
        canvas.line(state[_S_X], 0.0, np.pi / 2.0 - state[_S_ANGLE], 2.0 * self.half_length, INK)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """The four quantities."""
        x, v, angle, spin = state[:4]
        return f"tick {state[_S_TICK]:.0f} x {x:.3f} v {v:.3f} angle {angle:.3f} spin {spin:.3f}"


@dataclass(frozen=True)
class CartpoleSwingup(Cartpole):
    """As :class:`Cartpole`, but the pole starts hanging and may turn freely.

    | what | rule |
    |---|---|
    | start | x uniform in +-start_x, angle pi +- start_angle, both speeds in +-0.05 |
    | reward | uprightness (1 + cos angle)/2 |
    | end | x outside +-x_limit (terminated), after `ticks` (truncated) |
    | mean_uprightness | mean uprightness over the last `window` ticks; after leaving the track 0 |
    """

    dead_zone: float = 0.0
    x_limit: float = 20.0
    angle_limit: float = 4.0
    start_x: float = 0.25
    start_angle: float = 0.08
    x_scale: float = 20.0
    v_scale: float = 5.0
    angle_scale: float = _PI
    spin_scale: float = 8.0
    ticks: int = 1500
    window: int = 1500

    name: ClassVar[str] = "cartpole_swingup"
    metrics: ClassVar[tuple[str, ...]] = ("mean_uprightness",)
    hanging: ClassVar[bool] = True
