"""World `pong`: a paddle that feels the bearing of the ball keeps it in play."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import BALL, BRAIN, FOOD, RAY, WALL, bar, body, line, readout, rectangle
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Pong"]

_WIDTH, _HEIGHT, _RADIUS, _SPEED = 1000.0, 500.0, 15.0, 5.0
_LOW, _HIGH, _RIGHT = 5.0, 495.0, 995.0
_PADDLE_X, _PADDLE_HEIGHT, _PADDLE_SPEED = 100.0, 100.0, 100.0
_FACE, _REACH = _PADDLE_X + _RADIUS, _PADDLE_HEIGHT / 2.0 + _RADIUS
_UNITS, _SPACING = 46, 4.0
_SHORT_RAY = 70.0
_DEGREES = 180.0 / PI


class Params(Block):
    """The fields of :class:`Pong`."""

    ticks = constant()
    window = constant()
    random_rebound = constant()


class State(Block):
    """The ball with its velocity, the paddle, whether the ball is past it, the clock and the counts of the window."""

    x = number()
    y = number()
    vx = number()
    vy = number()
    paddle = number()
    past = number()
    tick = number()
    hits = number()
    misses = number()


class Metrics(Block):
    """The score and what it is made of."""

    hit_rate = number()
    hits = number()
    misses = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _serve(state: State, rng: U64) -> None:
    state.x, state.y = _RIGHT, 1.0 + (_HEIGHT - 2.0) * uniform(rng)
    state.vx = -_SPEED
    state.vy = _SPEED if uniform(rng) < 0.5 else -_SPEED
    state.past = 0.0


@kernel()
def _sense(state: State, obs: F32M) -> None:
    obs[0] = np.float32(0.0)
    ahead = state.x - _PADDLE_X
    if ahead < 0.0:
        return
    bearing = _DEGREES * atan2_64(state.y - state.paddle, ahead)
    first = int(np.floor((bearing + 90.0) / _SPACING))
    for unit in range(max(first, 0), min(first + 2, _UNITS)):
        if abs(bearing - (_SPACING * unit - 90.0)) <= _SPACING / 2.0:
            obs[0, unit] = np.float32(1.0)


@kernel()
def _move_ball(state: State) -> None:
    """The ball flies straight on; the top, the bottom and the far side mirror it."""
    state.x += state.vx
    state.y += state.vy
    if state.y < _LOW:
        state.y, state.vy = 2.0 * _LOW - state.y, abs(state.vy)
    elif state.y > _HIGH:
        state.y, state.vy = 2.0 * _HIGH - state.y, -abs(state.vy)
    if state.x > _RIGHT:
        state.x, state.vx = 2.0 * _RIGHT - state.x, -_SPEED


@kernel()
def _meet_paddle(params: Params, state: State, rng: U64) -> float:
    """The paddle has one chance a pass; returns +1 for a hit, -1 for a miss (with a new ball), else 0."""
    if state.vx < 0.0 and state.past == 0.0 and state.x <= _FACE:
        if abs(state.y - state.paddle) <= _REACH:
            state.x, state.vx = _FACE, _SPEED
            if params.random_rebound != 0.0:
                state.vy = _SPEED * (2.0 * uniform(rng) - 1.0)
            return 1.0
        state.past = 1.0
    if state.x < 0.0:
        _serve(state, rng)
        return -1.0
    return 0.0


@memory.reset
def reset(state: State, rng: U64, obs: F32M) -> None:
    """The paddle is in the middle, and a new ball comes."""
    state.paddle = _HEIGHT / 2.0
    _serve(state, rng)
    _sense(state, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The paddle moves, then the ball."""
    wanted = state.paddle + _PADDLE_SPEED * float(action[0, 0] - action[0, 1])
    state.paddle = min(max(wanted, _PADDLE_HEIGHT / 2.0), _HEIGHT - _PADDLE_HEIGHT / 2.0)
    _move_ball(state)
    reward = _meet_paddle(params, state, rng)
    state.tick += 1.0
    if state.tick > params.ticks - params.window:
        state.hits += max(reward, 0.0)
        state.misses += max(-reward, 0.0)
    _sense(state, obs)
    outcome.truncated = 1.0 if state.tick >= params.ticks else 0.0
    outcome.reward[0] = reward
    metrics.hit_rate = state.hits / max(state.hits + state.misses, 1.0)
    metrics.hits, metrics.misses = state.hits, state.misses


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Stays level with the ball."""
    drive = min(max((state.y - state.paddle) / _PADDLE_SPEED, -1.0), 1.0)
    action[0, 0], action[0, 1] = np.float32(max(drive, 0.0)), np.float32(max(-drive, 0.0))


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M) -> None:
    """The field, what the paddle feels of the ball, the paddle and the ball."""
    rectangle(rows, WALL, _WIDTH / 2.0, _HEIGHT - 2.0, _WIDTH, 4.0, 0.0, 1.0)
    rectangle(rows, WALL, _WIDTH / 2.0, 2.0, _WIDTH, 4.0, 0.0, 1.0)
    rectangle(rows, WALL, _WIDTH - 2.0, _HEIGHT / 2.0, 4.0, _HEIGHT, 0.0, 1.0)
    for unit in range(_UNITS):
        angle = (_SPACING * unit - 90.0) / _DEGREES
        felt = obs[0, unit] > 0.0
        reach = _WIDTH if felt else _SHORT_RAY
        to_x, to_y = _PADDLE_X + reach * cos64(angle), state.paddle + reach * sin64(angle)
        line(rows, RAY, _PADDLE_X, state.paddle, to_x, to_y, 6.0 if felt else 0.0, 0.6 if felt else 0.35)
    rectangle(rows, BRAIN, _PADDLE_X, state.paddle, 20.0, _PADDLE_HEIGHT, 0.0, 1.0)
    body(rows, FOOD, state.x, state.y, _RADIUS, BALL, 0.0, 1.0)
    readout(rows, 0.0, 0.0, state.tick)
    readout(rows, 1.0, 0.0, state.hits)
    readout(rows, 2.0, 0.0, state.misses)
    bar(rows, FOOD, 3.0, state.hits / max(state.hits + state.misses, 1.0))


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
    | rebound | a hit leaves the vertical speed as it is; with random_rebound it is drawn anew, uniform in (-5, 5) |
    | miss | x < 0: a new ball at once |
    | reward | +1 hit, -1 miss |
    | end | after `ticks` (truncated) |
    | hit_rate | hits/(hits + misses) of the last `window` ticks, 0 if none |
    """  # noqa: E501

    ticks: int = 20000
    window: int = 20000
    random_rebound: bool = False

    name: ClassVar[str] = "pong"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """A unit stands for every 4 degrees of bearing."""
        return tuple(Sensor(f"bearing_{unit}") for unit in range(_UNITS))

    @property
    def actions(self) -> Effectors:
        """One effector moves the paddle up, one down."""
        return Effectors(("e1", "e2"))

    def picture(self) -> Picture:
        """The whole field."""
        legend = {"brain": "paddle", "food": "ball", "ray": "bearings it feels"}
        words = ("tick", "hits", "misses", "hit rate")
        return Picture((0.0, 0.0, _WIDTH, _HEIGHT), words=words, legend=legend, frames=60)

    def text(self, state: State) -> str:
        """Says where ball and paddle are, and the counts."""
        ball = f"ball {state.x:.0f},{state.y:.0f} paddle {state.paddle:.0f}"
        return f"tick {state.tick:.0f} {ball} hits {state.hits:.0f} misses {state.misses:.0f}"
