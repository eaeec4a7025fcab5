"""World `cartpole`: a cart balances a pole, or first swings it up."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import PI, TWO_PI, wrap
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import (
    BALL,
    BRAIN,
    DANGER,
    INK,
    RAY,
    REFERENCE,
    WALL,
    bar,
    body,
    disc,
    line,
    readout,
    rectangle,
    triangle,
)
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Cartpole", "CartpoleSwingup", "CartpoleUpright"]

_GRAVITY, _CART, _POLE, _TAU = 9.8, 1.0, 0.1, 0.02
_MASS = _CART + _POLE
_START_SPEED = 0.05
_UPRIGHT = 0.95
_REACH = 4  # metres of rail on each side in a picture that follows the cart


class Params(Block):
    """The fields of :class:`Cartpole`."""

    half_length = constant()
    force = constant()
    dead_zone = constant()
    x_limit = constant()
    angle_limit = constant()
    start_x = constant()
    start_angle = constant()
    x_scale = constant()
    v_scale = constant()
    angle_scale = constant()
    spin_scale = constant()
    hanging = constant()
    ticks = constant()
    window = constant()


class State(Block):
    """Cart, pole, clock and the sum of rewards in the window."""

    x = number()
    v = number()
    angle = number()
    spin = number()
    tick = number()
    score = number()


class Metrics(Block):
    """Of `cartpole`."""

    balanced = number()


class SwingupMetrics(Block):
    """Of `cartpole_swingup`."""

    mean_uprightness = number()


class UprightState(State):
    """That of a cart, and the upright ticks in the window."""

    upright = number()


class UprightMetrics(Block):
    """Of `cartpole_upright`."""

    upright_share = number()
    mean_uprightness = number()


memory = WorldMemory(Params, State, Metrics)
swingup_memory = WorldMemory(Params, State, SwingupMetrics)
upright_memory = WorldMemory(Params, UprightState, UprightMetrics)


@kernel()
def _write_halves(obs: F32M, n: int, value: float) -> None:
    """A quantity in [-1, 1] as its negative and its positive half."""
    value = min(max(value, -1.0), 1.0)
    obs[0, 2 * n] = np.float32(max(-value, 0.0))
    obs[0, 2 * n + 1] = np.float32(max(value, 0.0))


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    _write_halves(obs, 0, state.x / params.x_scale)
    _write_halves(obs, 1, state.v / params.v_scale)
    _write_halves(obs, 2, state.angle / params.angle_scale)
    _write_halves(obs, 3, state.spin / params.spin_scale)


@kernel()
def _accelerations(params: Params, state: State, force: float) -> tuple[float, float]:
    """Of the cart and of the pole's angle: the standard equations with the pole's half-length."""
    half = params.half_length
    sine, cosine = sin64(state.angle), cos64(state.angle)
    push = (force + _POLE * half * state.spin * state.spin * sine) / _MASS
    spin = (_GRAVITY * sine - cosine * push) / (half * (4.0 / 3.0 - _POLE * cosine * cosine / _MASS))
    return push - _POLE * half * spin * cosine / _MASS, spin


@kernel()
def _integrate(params: Params, state: State, force: float) -> None:
    """Semi-implicit Euler: speeds first, places with the new speeds."""
    cart, spin = _accelerations(params, state, force)
    state.v += _TAU * cart
    state.x += _TAU * state.v
    state.spin += _TAU * spin
    state.angle = wrap(state.angle + _TAU * state.spin, TWO_PI)


@kernel()
def _force(params: Params, e1: np.float32, e2: np.float32) -> float:
    if abs(float(e1 - e2)) < params.dead_zone:
        return 0.0
    return -params.force if e1 >= e2 else params.force


@kernel()
def _about(rng: U64, spread: float) -> float:
    return spread * (2.0 * uniform(rng) - 1.0)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The pole is nearly upright or nearly hanging, and everything nearly at rest."""
    state.x = _about(rng, params.start_x)
    state.v = _about(rng, _START_SPEED)
    rest = PI if params.hanging != 0.0 else 0.0
    state.angle = wrap(rest + _about(rng, params.start_angle), TWO_PI)
    state.spin = _about(rng, _START_SPEED)
    _sense(params, state, obs)


@kernel()
def _tick(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome) -> float:
    """One tick; returns the score so far, in which the ticks after a failure count as 0."""
    _integrate(params, state, _force(params, action[0, 0], action[0, 1]))
    state.tick += 1.0
    failed = abs(state.x) > params.x_limit or abs(state.angle) > params.angle_limit
    reward = 0.0
    if not failed:
        reward = 0.5 * (1.0 + cos64(state.angle)) if params.hanging != 0.0 else 1.0
    if state.tick > params.ticks - params.window:
        state.score += reward
    _sense(params, state, obs)
    outcome.terminated = 1.0 if failed else 0.0
    outcome.truncated = 1.0 if state.tick >= params.ticks and not failed else 0.0
    outcome.reward[0] = reward
    return state.score / params.window


@memory.kernel
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """Push, fall, see."""
    metrics.balanced = _tick(params, state, action, obs, outcome)


@swingup_memory.kernel
def step_swingup(
    params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: SwingupMetrics
) -> None:
    """Push, swing, see."""
    metrics.mean_uprightness = _tick(params, state, action, obs, outcome)


@upright_memory.kernel
def step_upright(
    params: Params, state: UprightState, action: F32M, obs: F32M, outcome: Outcome, metrics: UprightMetrics
) -> None:
    """Push, swing, see; the ticks in which the pole stands are counted."""
    metrics.mean_uprightness = _tick(params, state, action, obs, outcome)
    counted = state.tick > params.ticks - params.window and outcome.terminated == 0.0
    if counted and cos64(state.angle) > _UPRIGHT:
        state.upright += 1.0
    metrics.upright_share = state.upright / params.window


@kernel()
def _pump(params: Params, state: State) -> float:
    """Brings the pole's energy to that of rest at the top; a push to the right takes energy where spin cos > 0."""
    spin, cosine = state.spin, cos64(state.angle)
    excess = (2.0 / 3.0) * params.half_length * spin * spin + _GRAVITY * (cosine - 1.0)
    return excess * spin * cosine


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Swings up by energy, then balances by the sign of a linear feedback."""
    if abs(state.angle) < 0.5:
        push = state.x + 1.7 * state.v + 30.0 * state.angle + 7.0 * state.spin
    else:
        push = _pump(params, state)
    action[0, 0], action[0, 1] = np.float32(0.0 if push > 0.0 else 1.0), np.float32(1.0 if push > 0.0 else 0.0)


@kernel()
def _draw_track(params: Params, rows: F64M, seen_from: float) -> None:
    """The rail with a mark every metre, its ends, and the angles at which the pole has fallen."""
    line(rows, WALL, -2.0 * _REACH, 0.0, 2.0 * _REACH, 0.0, 0.03, 1.0)
    for n in range(-_REACH, _REACH + 1):
        mark = np.floor(seen_from) + n
        if abs(mark) <= params.x_limit:
            line(rows, WALL, mark - seen_from, 0.0, mark - seen_from, -0.12, 0.02, 1.0)
    for side in (-1.0, 1.0):
        rectangle(rows, DANGER, side * params.x_limit - seen_from, 0.0, 0.06, 0.5, 0.0, 1.0)


@kernel()
def draw_cart(params: Params, state: State, action: F32M, rows: F64M) -> None:
    """The cart with its pole and the push it was given; on a long rail the picture follows the cart."""
    seen_from = state.x if params.hanging != 0.0 else 0.0
    x, length = state.x - seen_from, 2.0 * params.half_length
    _draw_track(params, rows, seen_from)
    if params.hanging == 0.0:
        for side in (-1.0, 1.0):
            fallen = side * params.angle_limit
            line(rows, DANGER, x, 0.0, x + length * sin64(fallen), length * cos64(fallen), 0.0, 0.6)
    tip_x, tip_y = x + length * sin64(state.angle), length * cos64(state.angle)
    push = _force(params, action[0, 0], action[0, 1])
    if push != 0.0 and state.tick > 0.0:
        side = 1.0 if push > 0.0 else -1.0
        triangle(rows, RAY, x + 0.5 * side, 0.0, 0.3, 0.24, 0.0 if push > 0.0 else PI, 0.95)
    rectangle(rows, BRAIN, x, 0.0, 0.6, 0.3, 0.0, 1.0)
    line(rows, REFERENCE, x, 0.0, tip_x, tip_y, 0.09, 1.0)
    body(rows, REFERENCE, tip_x, tip_y, 0.08, BALL, 0.0, 1.0)
    disc(rows, INK, x, 0.0, 0.05, 1.0)
    readout(rows, 0.0, 0.0, state.tick)
    readout(rows, 1.0, 2.0, state.x)
    readout(rows, 2.0, 1.0, state.score)
    bar(rows, REFERENCE, 3.0, 0.5 + 0.5 * cos64(state.angle))


@memory.scene
def scene(params: Params, state: State, action: F32M, rows: F64M) -> None:
    """Rail, cart, pole and push."""
    draw_cart(params, state, action, rows)


@upright_memory.scene
def scene_upright(params: Params, state: UprightState, action: F32M, rows: F64M) -> None:
    """Rail, cart, pole and push."""
    draw_cart(params, state, action, rows)


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
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)
    hanging: ClassVar[bool] = False

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Two halves of four quantities."""
        return tuple(Sensor(f"{name}_{half}") for name in ("x", "v", "angle", "spin") for half in ("neg", "pos"))

    @property
    def actions(self) -> Effectors:
        """Push to the left, push to the right."""
        return Effectors(("e1", "e2"))

    def picture(self) -> Picture:
        """The whole rail, or on a long one what is around the cart."""
        legend = {"brain": "cart", "reference": "pole", "ray": "push", "danger": "limits"}
        reach, length = self.x_limit + 0.4, 2.0 * self.half_length
        view = (-2.4, -1.4, 2.4, 1.4) if self.hanging else (-reach, -0.5, reach, length + 0.4)
        return Picture(view, words=("tick", "x", "score", "upright"), legend=legend, frames=50)

    def text(self, state: State) -> str:
        """The four quantities."""
        pose = f"x {state.x:.3f} v {state.v:.3f} angle {state.angle:.3f} spin {state.spin:.3f}"
        return f"tick {state.tick:.0f} {pose}"


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
    angle_scale: float = PI
    spin_scale: float = 8.0
    ticks: int = 1500
    window: int = 1500

    name: ClassVar[str] = "cartpole_swingup"
    memory = swingup_memory
    step = staticmethod(step_swingup)
    hanging: ClassVar[bool] = True


@dataclass(frozen=True)
class CartpoleUpright(CartpoleSwingup):
    """As :class:`CartpoleSwingup`; what counts is how long the pole stands, after time enough to swing it up.

    | what | rule |
    |---|---|
    | upright_share | share of the last `window` ticks with cos angle > 0.95; after leaving the track none counts |
    | mean_uprightness | as in `cartpole_swingup`, beside the score |
    """

    window: int = 1000

    name: ClassVar[str] = "cartpole_upright"
    memory = upright_memory
    step = staticmethod(step_upright)
    scene = staticmethod(scene_upright)
