"""World `predator`: foraging while hunted."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import PI, atan2_64
from nematodebench.kernels.jit import F32M, F64M, U64, inlined, kernel
from nematodebench.kernels.memory import constant, constants, number, numbers, size
from nematodebench.kernels.rng import randint
from nematodebench.kernels.scene import DANGER, FOOD, bar, readout, rectangle, triangle
from nematodebench.worlds.base import Sensor
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.worm import foraging
from nematodebench.worlds.worm.body import ACTIONS, FORWARD, X, Y, move_worm, survey, survey_food
from nematodebench.worlds.worm.food import Forager, ForagerState, collect, place_foods, start_forager
from nematodebench.worlds.worm.foraging import Foraging, finish_episode
from nematodebench.worlds.worm.guide import after, way_to_nearest
from nematodebench.worlds.worm.scenes import (
    EATEN,
    HEALTH,
    SATIETY,
    draw_foods,
    draw_odour,
    draw_smell,
    draw_worm,
    item_radius,
)
from nematodebench.worlds.worm.senses import gradient_table, sense_food, write_direction

__all__ = ["PREDATOR_SENSORS", "Predator"]

PREDATOR_SENSORS = (
    Sensor("predator_magnitude"),
    Sensor("predator_sine", -1.0),
    Sensor("predator_cosine", -1.0),
    Sensor("contact"),
    Sensor("health"),
)
_TRIES = 1000
_HIT = 100.0
_SQRT_2 = 1.4142135623730951


class Params(Forager):
    """The fields of :class:`Predator`, and the predators' odour."""

    predators = size()
    detection = constant()
    damage = constant()
    health = constant()
    heal = constant()
    predator_odour = constants("displacements", 2)


class State(ForagerState, sizes=Params):
    """The worm, its food and its predators."""

    health = number()
    contact = number()
    predator = numbers("predators", 2)


class Metrics(foraging.Metrics):
    """Those of foraging, and the health that is left."""

    health = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _place_predators(params: Params, state: State, rng: U64) -> None:
    """Uniform on the cells farther than their detection from the worm, by rejection."""
    side = int(params.side)
    for n in range(params.predators):
        x, y = 0.0, 0.0
        for _ in range(_TRIES):
            x, y = np.float64(randint(rng, side)), np.float64(randint(rng, side))
            if abs(x - state.x) + abs(y - state.y) > params.detection:
                break
        state.predator[n, X], state.predator[n, Y] = x, y


@inlined
def _chase(dx: float, dy: float) -> tuple[float, float]:
    """One cell along the larger distance, along x if they are equal."""
    if abs(dx) >= abs(dy):
        return np.sign(dx), 0.0
    return 0.0, np.sign(dy)


@inlined
def _wander(params: Params, rng: U64, x: float, y: float) -> tuple[float, float]:
    """One cell in a random direction; a step off the grid is no step."""
    heading = randint(rng, 4)
    last = params.side - 1.0
    to_x, to_y = x + params.step_x[heading, FORWARD], y + params.step_y[heading, FORWARD]
    return min(max(to_x, 0.0), last) - x, min(max(to_y, 0.0), last) - y


@kernel()
def _move_predators(params: Params, state: State, rng: U64) -> None:
    for n in range(params.predators):
        x, y = state.predator[n, X], state.predator[n, Y]
        dx, dy = state.x - x, state.y - y
        if abs(dx) + abs(dy) <= params.detection:
            step_x, step_y = _chase(dx, dy)
        else:
            step_x, step_y = _wander(params, rng, x, y)
        state.predator[n, X], state.predator[n, Y] = x + step_x, y + step_y


@kernel()
def _heal(params: Params, state: State, foods: float) -> None:
    """Every food that was eaten heals."""
    for _ in range(int(foods)):
        state.health = min(params.health, state.health + params.heal)


@inlined
def _bite(params: Params, state: State) -> float:
    """Every predator on the worm's cell deals its damage. Returns the number of hits."""
    hits = 0.0
    for n in range(params.predators):
        here = (state.predator[n, X] == state.x) & (state.predator[n, Y] == state.y)
        hits += np.float64(here)
    state.health = max(0.0, state.health - hits * params.damage)
    state.contact = min(hits, 1.0)
    return hits


@inlined
def _sense(params: Params, state: State, obs: F32M) -> None:
    column = sense_food(params, state, obs)
    _, gx, gy = survey(params, state, state.predator, params.predator_odour)
    write_direction(params, state, gx, gy, 0.0, obs, column)
    obs[0, column + 3] = np.float32(state.contact)
    obs[0, column + 4] = np.float32(state.health / params.health)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Worm at its start, unharmed, food and predators anew."""
    start_forager(params, state, rng)
    state.health = params.health
    place_foods(params, state, rng)
    _place_predators(params, state, rng)
    survey_food(params, state)
    _sense(params, state, obs)


@memory.inlined
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """Move, eat, be hunted, sense."""
    move_worm(params, state, action[0, 0])
    eaten = state.eaten
    reward = collect(params, state, rng)
    if state.eaten > eaten:
        _heal(params, state, state.eaten - eaten)
    if state.steps % 2.0 == 0.0:
        _move_predators(params, state, rng)
    reward -= 0.5 * _bite(params, state)
    _sense(params, state, obs)
    finish_episode(params, state, outcome, metrics, state.health <= 0.0, reward)
    metrics.health = state.health


@kernel()
def _danger(params: Params, state: State, x: float, y: float) -> float:
    """What it costs to be on a cell: much if a predator is there at the end of this step, or may be.

    To keep away from predators that are merely near makes the worm starve.
    """
    moves_now = (state.steps + 1.0) % 2.0 == 0.0
    danger = 0.0
    for n in range(params.predators):
        distance = abs(state.predator[n, X] - x) + abs(state.predator[n, Y] - y)
        if distance <= (1.0 if moves_now else 0.0):
            danger += _HIT
    return danger


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Takes the shortest way to the nearest food on which no predator waits."""
    best, chosen = 1e9, 0
    for choice in range(len(ACTIONS)):
        x, y, heading = after(params, state, choice)
        cost = way_to_nearest(params, state.food, x, y, heading) + _danger(params, state, x, y)
        if cost < best:
            best, chosen = cost, choice
    action[0, 0] = np.float32(chosen)


@kernel()
def _draw_predators(params: Params, state: State, rows: F64M) -> None:
    """Each with the diamond in which it hunts; those that hunt point to the worm."""
    radius = item_radius(params.side)
    for n in range(params.predators):
        x, y = state.predator[n, X], state.predator[n, Y]
        dx, dy = state.x - x, state.y - y
        hunts = abs(dx) + abs(dy) <= params.detection
        reach = _SQRT_2 * params.detection
        rectangle(rows, DANGER, x, y, reach, reach, PI / 4.0, 0.16 if hunts else 0.07)
        direction = atan2_64(dy, dx) if hunts else PI / 2.0
        triangle(rows, DANGER, x, y, 2.6 * radius, 2.4 * radius, direction, 1.0)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M, field: F32M) -> None:
    """The odour, the food, the predators, the worm and where it smells more."""
    draw_odour(params, state, field)
    draw_foods(rows, state.food, params.side)
    _draw_predators(params, state, rows)
    draw_smell(rows, params, state, obs)
    draw_worm(rows, params, state)
    bar(rows, FOOD, SATIETY, state.satiety / params.satiety)
    bar(rows, DANGER, HEALTH, state.health / params.health)
    readout(rows, EATEN, 0.0, state.eaten)


@dataclass(frozen=True)
class Predator(Foraging):
    """As :class:`Foraging` (actions, sensing, food, satiety), plus pursuit predators.

    | further inputs | range |
    |---|---|
    | magnitude tanh(m) of the vector sum of exp(-d/predator_decay) unit vectors towards the predators | 0 to 1 |
    | sine (+ = right) and cosine of its direction relative to the heading; 0 if m is 0 | -1 to 1 |
    | contact: hit in this step | 0 or 1 |
    | health share | 0 to 1 |

    | what | rule |
    |---|---|
    | start | uniform on cells whose Manhattan distance to the worm exceeds detection |
    | moves | every second step, after the worm: one cell |
    | chase | if the Manhattan distance <= detection: along the larger of the two distances, along x if they are equal |
    | walk | otherwise in a random direction; a step off the grid is no step |
    | hit | at the end of every step each predator on the worm's cell deals its damage |
    | health | starts at its maximum, + heal a food, never above the maximum; 0 = killed |
    | reward | as foraging, -0.5 a hit, -10 killed |
    | end | target collected, killed, starved (terminated), max_steps (truncated), in this order |
    """

    foods: int = 6
    satiety: int = 250
    satiety_gain: int = 32
    predators: int = 2
    detection: int = 6
    damage: float = 20.0
    health: float = 100.0
    heal: float = 10.0
    predator_decay: float = 10.0

    name: ClassVar[str] = "predator"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Those of foraging, then the predators."""
        return (*super().sensors, *PREDATOR_SENSORS)

    def tables(self) -> Mapping[str, Any]:
        """The tables of moves and odour, and that of the predators' odour."""
        return {**super().tables(), "predator_odour": gradient_table(self.side, float(self.predator_decay))}

    def picture(self) -> Picture:
        """That of foraging, with predators."""
        foraging_picture = super().picture()
        legend = {**foraging_picture.legend, "danger": "predator and where it hunts"}
        return dataclasses.replace(foraging_picture, legend=legend)

    def _items(self, state: Any) -> Mapping[str, NDArray[np.float64]]:
        return {**super()._items(state), "predator": state.predator}
