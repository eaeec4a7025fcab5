"""World `wall`: a disc with two whiskers moves about in a box without touching its walls."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import PI, TWO_PI, atan2_64, wrap
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import cos64, sin64
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import BRAIN, MUTED, RAY, REFERENCE, WALL, bar, body, disc, line, readout, rectangle
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Wall"]

_HALF_PI, _QUARTER_PI = PI / 2.0, PI / 4.0
_SQRT_2 = 1.4142135623730951
_PARTITION = 5
_ENOUGH_CELLS = 18
_ENOUGH_SPEED = 0.1
_LEAST_DISTANCE = 1.0
_START_ROOM = 1.0


class Params(Block):
    """The fields of :class:`Wall`."""

    side = constant()
    radius = constant()
    ticks = constant()
    window = constant()
    random_start = constant()
    heading_noise = constant()
    bump_weight = constant()
    bump_cost = constant()


class State(Block):
    """The pose of the disc, the clock and what is counted in the window; visited cells are the bits of one number."""

    x = number()
    y = number()
    heading = number()
    tick = number()
    collisions = number()
    distance = number()
    visited = number()


class Metrics(Block):
    """The score, its two factors and what they are made of."""

    nav_score = number()
    gate = number()
    ungated = number()
    collisions = number()
    distance = number()
    cells = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _to_wall(position: float, slope: float, side: float) -> float:
    """Length of a ray until it leaves [0, side] along one axis."""
    if slope > 1e-12:
        return (side - position) / slope
    if slope < -1e-12:
        return -position / slope
    return 1e12


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    longest = params.side * _SQRT_2
    for ray in range(2):
        angle = state.heading + (_QUARTER_PI if ray == 0 else -_QUARTER_PI)
        across = _to_wall(state.x, cos64(angle), params.side)
        along = _to_wall(state.y, sin64(angle), params.side)
        distance = min(across, along) - params.radius
        obs[0, ray] = np.float32(min(max(1.0 - distance / longest, 0.0), 1.0))


@kernel()
def _move(params: Params, state: State, speed: float, turn: float) -> tuple[float, bool]:
    """Moves along the old heading, then turns; returns the distance covered and whether a wall stopped the disc."""
    low, high = params.radius, params.side - params.radius
    x, y = state.x, state.y
    wanted_x = x + speed * cos64(state.heading)
    wanted_y = y + speed * sin64(state.heading)
    state.x, state.y = min(max(wanted_x, low), high), min(max(wanted_y, low), high)
    state.heading += turn
    dx, dy = state.x - x, state.y - y
    return np.sqrt(dx * dx + dy * dy), state.x != wanted_x or state.y != wanted_y


@kernel()
def _mark_cell(params: Params, state: State) -> None:
    width = params.side / _PARTITION
    cell = int(state.x / width) * _PARTITION + int(state.y / width)
    state.visited = float(int(state.visited) | (1 << cell))


@kernel()
def _count_cells(state: State) -> int:
    cells = 0
    for cell in range(_PARTITION * _PARTITION):
        cells += (int(state.visited) >> cell) & 1
    return cells


@kernel()
def _write_metrics(params: Params, state: State, metrics: Metrics) -> None:
    cells = _count_cells(state)
    moved = min(state.distance / (_ENOUGH_SPEED * params.window), 1.0)
    gate = moved * min(cells / _ENOUGH_CELLS, 1.0)
    lost = state.collisions / params.window
    if params.bump_weight > 0.0:
        lost = params.bump_weight * state.collisions / max(state.distance, _LEAST_DISTANCE)
    ungated = max(0.0, 1.0 - lost)
    metrics.nav_score, metrics.gate, metrics.ungated = ungated * gate, gate, ungated
    metrics.collisions, metrics.distance, metrics.cells = state.collisions, state.distance, float(cells)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The disc stands at the centre and faces up, or anywhere and faces anywhere."""
    state.x, state.y = params.side / 2.0, params.side / 2.0
    state.heading = _HALF_PI
    if params.random_start != 0.0:
        # No start is so near a wall that nobody could turn away from it.
        edge = params.radius + _START_ROOM
        room = params.side - 2.0 * edge
        state.x, state.y = edge + room * uniform(rng), edge + room * uniform(rng)
        state.heading = TWO_PI * uniform(rng)
    _sense(params, state, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The disc moves, a wall may throw it off its course, and the whiskers feel."""
    # Effectors are float32, and so are their sum and their difference.
    left, right = action[0, 0], action[0, 1]
    speed, turn = float(left + right) / 2.0, float(right - left)
    distance, collided = _move(params, state, speed, turn)
    if collided:
        state.heading += _QUARTER_PI if uniform(rng) < 0.5 else -_QUARTER_PI
    if params.heading_noise > 0.0:
        state.heading += params.heading_noise * (2.0 * uniform(rng) - 1.0)
    state.heading = wrap(state.heading, TWO_PI)
    state.tick += 1.0
    if state.tick > params.ticks - params.window:
        state.collisions += 1.0 if collided else 0.0
        state.distance += distance
        _mark_cell(params, state)
    _sense(params, state, obs)
    outcome.reward[0] = 0.0 - params.bump_cost if collided else speed
    if state.tick >= params.ticks:
        outcome.truncated = 1.0
        _write_metrics(params, state, metrics)


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Pursues a point on a Lissajous curve that passes through nearly all cells once in a thousand ticks.

    Where the heading is noisy, the curve keeps farther from the walls, and near one the disc slows down.
    """
    noisy = params.heading_noise > 0.0
    phase = TWO_PI * state.tick / 1000.0
    centre, reach = params.side / 2.0, (0.34 if noisy else 0.4) * params.side
    dx = centre + reach * sin64(3.0 * phase) - state.x
    dy = centre + reach * sin64(4.0 * phase + 0.5) - state.y
    sharpest, fastest = 0.8, 0.5
    if noisy:
        room = min(
            _to_wall(state.x, cos64(state.heading), params.side), _to_wall(state.y, sin64(state.heading), params.side)
        )
        free = max(room - params.radius, 0.0)
        sharpest, fastest = min(sharpest, max(0.1, free)), min(fastest, 0.3 * free)
    turn = min(max(wrap(atan2_64(dy, dx) - state.heading, TWO_PI), -sharpest), sharpest)
    speed = max(min(0.5 * np.sqrt(dx * dx + dy * dy), fastest), 0.5 * abs(turn))
    action[0, 0] = np.float32(speed - 0.5 * turn)
    action[0, 1] = np.float32(speed + 0.5 * turn)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M) -> None:
    """The box with the cells that were visited, the whiskers up to the wall, and the disc."""
    side, width = params.side, params.side / _PARTITION
    for cell in range(_PARTITION * _PARTITION):
        if (int(state.visited) >> cell) & 1:
            x, y = (cell // _PARTITION + 0.5) * width, (cell % _PARTITION + 0.5) * width
            rectangle(rows, REFERENCE, x, y, width, width, 0.0, 0.16)
    for n in range(1, _PARTITION):
        line(rows, MUTED, n * width, 0.0, n * width, side, 0.0, 0.25)
        line(rows, MUTED, 0.0, n * width, side, n * width, 0.0, 0.25)
    for edge in range(2):
        rectangle(rows, WALL, side / 2.0, edge * side, side, 0.3, 0.0, 1.0)
        rectangle(rows, WALL, edge * side, side / 2.0, 0.3, side, 0.0, 1.0)
    for ray in range(2):
        angle = state.heading + (_QUARTER_PI if ray == 0 else -_QUARTER_PI)
        felt = float(obs[0, ray])
        reach = (1.0 - felt) * side * _SQRT_2 + params.radius
        to_x, to_y = state.x + reach * cos64(angle), state.y + reach * sin64(angle)
        line(rows, RAY, state.x, state.y, to_x, to_y, 0.12, 0.2 + 0.8 * felt * felt)
        disc(rows, RAY, to_x, to_y, 0.15, 0.2 + 0.8 * felt * felt)
    body(rows, BRAIN, state.x, state.y, params.radius, 0.0, state.heading, 1.0)
    readout(rows, 0.0, 0.0, state.tick)
    readout(rows, 1.0, 0.0, state.collisions)
    bar(rows, REFERENCE, 2.0, _count_cells(state) / (_PARTITION * _PARTITION))


@dataclass(frozen=True)
class Wall(World):
    """A disc in a square box; it starts at the centre, heading pi/2 (up), or anywhere with any heading.

    | sensor | range | value |
    |---|---|---|
    | left, right | 0..1 | 1 - d/(side sqrt 2), d = distance from the disc's rim to the wall along heading +45, -45 degrees |

    | effector | range | effect |
    |---|---|---|
    | left, right | 0..1 | moves (left + right)/2 along the old heading, then turns right - left radians (+ = to the left) |

    | what | rule |
    |---|---|
    | collision | leaving [radius, side - radius] is clamped to it; the heading turns by +-pi/4, a fair coin |
    | start | the centre, heading pi/2; with random_start uniform, its rim at least 1 from the walls, with a uniform heading |
    | heading noise | after every move the heading turns by a uniform angle within +-heading_noise |
    | reward | (left + right)/2, -bump_cost on a collision |
    | end | after `ticks` (truncated) |
    | nav_score | ungated x gate; the last `window` ticks count |
    | ungated | max(0, 1 - collisions/window); with a bump_weight max(0, 1 - bump_weight x collisions/distance) |
    | gate | clamp(distance/(0.1 window), 0, 1) x clamp(cells/18, 0, 1), cells = distinct cells of a 5 x 5 partition visited |
    """  # noqa: E501

    side: float = 15.0
    radius: float = 0.5
    ticks: int = 2000
    window: int = 1000
    random_start: bool = False
    heading_noise: float = 0.0
    bump_weight: float = 0.0
    bump_cost: float = 0.0

    name: ClassVar[str] = "wall"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """There are two whiskers."""
        return (Sensor("left"), Sensor("right"))

    @property
    def actions(self) -> Effectors:
        """There are two wheels."""
        return Effectors(("left", "right"))

    def picture(self) -> Picture:
        """The box."""
        legend = {"brain": "disc", "ray": "whiskers", "reference": "visited cells", "wall": "wall"}
        words = ("tick", "collisions", "visited")
        return Picture((-0.15, -0.15, self.side + 0.15, self.side + 0.15), words=words, legend=legend, frames=30)

    def text(self, state: State) -> str:
        """Says pose and collisions."""
        pose = f"x {state.x:.2f} y {state.y:.2f} heading {np.degrees(state.heading):.0f}"
        return f"tick {state.tick:.0f} {pose} collisions {state.collisions:.0f}"
