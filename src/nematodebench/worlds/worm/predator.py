"""World `predator`: foraging while hunted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, inline, inlined, kernel
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Sensor
from nematodebench.worlds.worm import body as worm
from nematodebench.worlds.worm import senses
from nematodebench.worlds.worm.foraging import Foraging, finish_episode, pack_nematode

__all__ = ["PREDATOR_SENSORS", "Predator"]

PREDATOR_SENSORS = (
    Sensor("predator_magnitude"),
    Sensor("predator_sine", -1.0),
    Sensor("predator_cosine", -1.0),
    Sensor("contact"),
    Sensor("health"),
)
_TRIES = 1000
_OUT_HEALTH = 9


@inlined
def _first_predator(params: F64) -> int:
    return worm.S_FOOD + 2 * int(params[worm.P_FOOD])


@kernel()
def _place_predators(params: F64, state: F64, rng: U64) -> None:
    """Uniform on the cells farther than their detection from the worm, by rejection."""
    side = int(params[worm.P_SIDE])
    first = _first_predator(params)
    for n in range(int(params[worm.P_PREDATORS])):
        x, y = 0.0, 0.0
        for _ in range(_TRIES):
            x, y = np.float64(randint(rng, side)), np.float64(randint(rng, side))
            if abs(x - state[worm.S_X]) + abs(y - state[worm.S_Y]) > params[worm.P_DETECTION]:
                break
        state[first + 2 * n], state[first + 2 * n + 1] = x, y


@inlined
def _chase(dx: float, dy: float) -> tuple[float, float]:
    """One cell along the larger distance, along x if they are equal."""
    if abs(dx) >= abs(dy):
        return np.sign(dx), 0.0
    return 0.0, np.sign(dy)


@inlined
def _wander(params: F64, rng: U64, x: float, y: float) -> tuple[float, float]:
    """One cell in a random direction; a step off the grid is no step."""
    direction = worm.P_MOVES + 16 * randint(rng, 4)
    last = params[worm.P_SIDE] - 1.0
    to_x, to_y = x + params[direction], y + params[direction + 1]
    return min(max(to_x, 0.0), last) - x, min(max(to_y, 0.0), last) - y


@kernel()
def _move_predators(params: F64, state: F64, rng: U64) -> None:
    first = _first_predator(params)
    for n in range(int(params[worm.P_PREDATORS])):
        x, y = state[first + 2 * n], state[first + 2 * n + 1]
        dx, dy = state[worm.S_X] - x, state[worm.S_Y] - y
        if abs(dx) + abs(dy) <= params[worm.P_DETECTION]:
            step_x, step_y = _chase(dx, dy)
        else:
            step_x, step_y = _wander(params, rng, x, y)
        state[first + 2 * n], state[first + 2 * n + 1] = x + step_x, y + step_y


@inlined
def _bite(params: F64, state: F64) -> float:
    """Every predator on the worm's cell deals its damage. Returns the number of hits."""
    first = _first_predator(params)
    hits = 0.0
    for n in range(int(params[worm.P_PREDATORS])):
        here = (state[first + 2 * n] == state[worm.S_X]) & (state[first + 2 * n + 1] == state[worm.S_Y])
        hits += np.float64(here)
    state[worm.S_HEALTH] = max(0.0, state[worm.S_HEALTH] - hits * params[worm.P_DAMAGE])
    state[worm.S_CONTACT] = min(hits, 1.0)
    return hits


@inlined
def _sense(params: F64, state: F64, obs: F32M) -> None:
    column = senses.sense_food(params, state, obs)
    table, count = int(params[worm.P_PREDATOR_TABLE]), int(params[worm.P_PREDATORS])
    _, gx, gy = worm.survey(params, state, table, _first_predator(params), count)
    senses.write_direction(params, state, gx, gy, 0.0, obs, column)
    obs[0, column + 3] = np.float32(state[worm.S_CONTACT])
    obs[0, column + 4] = np.float32(state[worm.S_HEALTH] / params[worm.P_HEALTH])


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Worm at the centre, food and predators anew."""
    worm.start_worm(params, state)
    worm.place_foods(params, state, rng)
    _place_predators(params, state, rng)
    worm.survey_food(params, state)
    _sense(params, state, obs)
    out[:] = 0.0


@inline
@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move, eat, be hunted, sense."""
    worm.move_worm(params, state, action[0, 0])
    reward = worm.collect(params, state, rng)
    if state[worm.S_STEPS] % 2.0 == 0.0:
        _move_predators(params, state, rng)
    reward -= 0.5 * _bite(params, state)
    _sense(params, state, obs)
    finish_episode(params, state, state[worm.S_HEALTH] <= 0.0, reward, out)
    out[_OUT_HEALTH] = state[worm.S_HEALTH]


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    metrics: ClassVar[tuple[str, ...]] = (*Foraging.metrics, "health")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Those of foraging, then the predators."""
        return (*super().sensors, *PREDATOR_SENSORS)

    @property
    def state_size(self) -> int:
        """The worm, its foods and the predators."""
        return super().state_size + 2 * self.predators

    def pack(self) -> F64:
        """Parameters and odour tables, then the table of the predators' smell."""
        packed = pack_nematode(self)
        packed[worm.P_PREDATORS : worm.P_PREDATOR_TABLE + 1] = (
            self.predators, self.detection, self.damage, self.health, self.heal, packed.size,
        )  # fmt: skip
        return np.concatenate([packed, senses.gradient_table(self.side, float(self.predator_decay))])

    def _items(self, state: F64) -> Mapping[str, NDArray[np.float64]]:
        predators = state[super().state_size : self.state_size].reshape(-1, 2)
        return {**super()._items(state), "predator": predators}
