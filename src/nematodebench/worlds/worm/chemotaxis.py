"""World `chemotaxis`: the plate assay. One attractant, one mirrored control, the worm midway between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, inlined
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import randint
from nematodebench.kernels.scene import FOOD, NULL, disc, readout, rectangle
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.text import HEADINGS, grid_text
from nematodebench.worlds.worm.body import Body, BodyState, X, Y, move_worm, start_worm, survey_food
from nematodebench.worlds.worm.foraging import Foraging
from nematodebench.worlds.worm.predator import PREDATOR_SENSORS
from nematodebench.worlds.worm.scenes import DISTANCE, WORDS, draw_odour, draw_smell, draw_worm, item_radius
from nematodebench.worlds.worm.senses import body_tables, sense_food

__all__ = ["Chemotaxis"]

_ATTRACTANT = 0
"""The attractant is the plate's one food, which is never eaten."""


class Params(Body):
    """Those of the worm's body, and how far from the start the two spots lie."""

    arm = constant()


class State(BodyState, sizes=Params):
    """The worm, the attractant as its food, and the control."""

    control_x = number()
    control_y = number()


class Metrics(Block):
    """Where the worm is."""

    zone = number()
    distance = number()
    side = number()


memory = WorldMemory(Params, State, Metrics)


@inlined
def _in_zone(state: State, x: float, y: float) -> float:
    """1 if the worm is in the 3 x 3 block around a spot."""
    return np.float64(max(abs(state.x - x), abs(state.y - y)) <= 1.0)


@inlined
def _sense(params: Params, state: State, obs: F32M) -> None:
    """Odour, satiety 1 and touch; what is left are the predator inputs at rest, of which health is 1."""
    column = sense_food(params, state, obs)
    if column < obs.shape[1]:
        obs[0, column:] = np.float32(0.0)
        obs[0, obs.shape[1] - 1] = np.float32(1.0)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Worm at the centre; a coin decides on which side the attractant lies."""
    start_worm(params, state)
    arm = params.arm if randint(rng, 2) == 1 else -params.arm
    state.food[_ATTRACTANT, X], state.food[_ATTRACTANT, Y] = state.x + arm, state.y
    state.control_x, state.control_y = state.x - arm, state.y
    survey_food(params, state)
    _sense(params, state, obs)


@memory.inlined
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """Move and sense."""
    move_worm(params, state, action[0, 0])
    before = state.nearest
    survey_food(params, state)
    _sense(params, state, obs)
    outcome.terminated = 0.0
    outcome.truncated = np.float64(state.steps >= params.max_steps)
    outcome.reward[0] = 0.5 * (before - state.nearest) - 0.005 - 0.02 * state.touch
    x, y = state.food[_ATTRACTANT, X], state.food[_ATTRACTANT, Y]
    metrics.zone = _in_zone(state, x, y) - _in_zone(state, state.control_x, state.control_y)
    metrics.distance = state.nearest
    metrics.side = np.sign(x - state.control_x)


@memory.scene
def scene(params: Params, state: State, obs: F32M, rows: F64M, field: F32M) -> None:
    """The odour, the zones around attractant and control, and the worm."""
    draw_odour(params, state, field)
    x, y, radius = state.food[_ATTRACTANT, X], state.food[_ATTRACTANT, Y], item_radius(params.side)
    rectangle(rows, FOOD, x, y, 3.0, 3.0, 0.0, 0.3)
    rectangle(rows, NULL, state.control_x, state.control_y, 3.0, 3.0, 0.0, 0.4)
    disc(rows, FOOD, x, y, radius, 1.0)
    disc(rows, NULL, state.control_x, state.control_y, radius, 1.0)
    draw_smell(rows, params, state, obs)
    draw_worm(rows, params, state)
    readout(rows, DISTANCE, 0.0, state.nearest)


@dataclass(frozen=True)
class Chemotaxis(World):
    """side x side cells, y up; the worm starts at the centre facing up and nothing is eaten.

    Actions, odour and the kinds of sensing are those of :class:`Foraging`, so that a
    brain trained there can be placed on the plate.

    | input | value |
    |---|---|
    | odour by the kind of sensing, touch | as foraging, the attractant being the only source |
    | satiety share | 1 |
    | predator magnitude, sine, cosine, contact, health (only `with_predator_inputs`) | 0, 0, 0, 0, 1 |

    | what | rule |
    |---|---|
    | attractant | `arm` cells left or right of the start, by a fair coin of the episode |
    | control | the attractant's mirror image; it smells of nothing |
    | reward | +0.5 x decrease of the Manhattan distance to the attractant, -0.005 a step, -0.02 touch |
    | end | max_steps (truncated) |
    | metric `zone` | +1 if the worm ends in the 3 x 3 block around the attractant, -1 around the control, 0 elsewhere |
    | metric `distance` | Manhattan distance from the end position to the attractant |
    | metric `side` | -1 attractant left, +1 right |
    """

    side: int = 41
    arm: int = 12
    decay: float = 8.0
    max_steps: int = 300
    sensing: str = "gradient"
    with_predator_inputs: bool = False

    name: ClassVar[str] = "chemotaxis"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    scene = staticmethod(scene)

    @property
    def _forager(self) -> Foraging:
        """A worm with the same senses and actions."""
        return Foraging(sensing=self.sensing)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Those of foraging, then the predators' if wanted."""
        return self._forager.sensors + (PREDATOR_SENSORS if self.with_predator_inputs else ())

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return self._forager.actions

    def tables(self) -> Mapping[str, Any]:
        """The tables of moves and odour, for one food and a worm that is always full."""
        return {**body_tables(self.side, self.decay, self.sensing), "foods": 1, "satiety": 1.0}

    def picture(self) -> Picture:
        """The plate."""
        legend = {"brain": "worm", "food": "attractant", "null": "control", "ray": "what it smells"}
        return Picture.of_grid(self.side, words=WORDS, legend=legend, field="odour of the attractant")

    def text(self, state: State) -> str:
        """The plate as characters."""
        return grid_text(self.side, self._items(state))

    def _items(self, state: State) -> Mapping[str, NDArray[np.float64]]:
        return {
            "control": np.array([[state.control_x, state.control_y]]),
            "attractant": state.food,
            HEADINGS[int(state.heading)]: np.array([[state.x, state.y]]),
        }
