"""World `gridworld`: one food at a time on a small grid, felt in four directions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import randint
from nematodebench.kernels.scene import FOOD, RAY, disc, line, readout
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.grid.scenes import draw_agent, draw_cells
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.text import grid_text

__all__ = ["Gridworld"]

_MOVES = 4
_DX = (0, 1, 0, -1)
_DY = (1, 0, -1, 0)


class Params(Block):
    """The fields of :class:`Gridworld`."""

    side = constant()
    max_steps = constant()


class State(Block):
    """The cells of the agent and of the food, the clock and what is counted."""

    x = number()
    y = number()
    food_x = number()
    food_y = number()
    step = number()
    eaten = number()
    bumps = number()


class Metrics(Block):
    """Foods eaten and bumps into the edge."""

    foods = number()
    bumps = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _place_food(params: Params, state: State, rng: U64) -> None:
    """Puts the food on any cell but the agent's.

    One cell fewer is drawn from than there are; if the agent's is drawn, the last cell stands in for it.
    """
    side = int(params.side)
    cell = randint(rng, side * side - 1)
    if cell == int(state.y) * side + int(state.x):
        cell = side * side - 1
    state.food_x, state.food_y = cell % side, cell // side


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    for way in range(_MOVES):
        d = _DX[way] * (state.food_x - state.x) + _DY[way] * (state.food_y - state.y)
        obs[0, way] = np.float32(1.0 - d / params.side if d > 0.0 else 0.0)


@kernel()
def _move(params: Params, state: State, choice: int) -> bool:
    """Whether the agent bumped into the edge instead of moving."""
    if choice >= _MOVES:
        return False
    x, y = state.x + _DX[choice], state.y + _DY[choice]
    if min(x, y) < 0.0 or max(x, y) >= params.side:
        return True
    state.x, state.y = x, y
    return False


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """The agent is at the centre, the food anywhere else."""
    state.x = state.y = params.side // 2
    _place_food(params, state, rng)
    _sense(params, state, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The agent moves, eats if it can, and senses the food."""
    reward = -0.01
    if _move(params, state, int(action[0, 0])):
        reward = -0.1
        state.bumps += 1.0
    elif state.x == state.food_x and state.y == state.food_y:
        reward = 1.0
        state.eaten += 1.0
        _place_food(params, state, rng)
    state.step += 1.0
    _sense(params, state, obs)
    outcome.truncated = 1.0 if state.step >= params.max_steps else 0.0
    outcome.reward[0] = reward
    metrics.foods, metrics.bumps = state.eaten, state.bumps


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Goes straight to the food."""
    dx, dy = state.food_x - state.x, state.food_y - state.y
    for way in range(_MOVES):
        if _DX[way] * dx + _DY[way] * dy > 0.0:
            action[0, 0] = np.float32(way)


@memory.scene
def scene(params: Params, state: State, action: F32M, obs: F32M, rows: F64M) -> None:
    """The cells, what is felt in four directions, the food and the agent."""
    draw_cells(rows, params.side)
    for way in range(_MOVES):
        felt = float(obs[0, way])
        if felt > 0.0:
            reach = (1.0 - felt) * params.side
            to_x, to_y = state.x + reach * _DX[way], state.y + reach * _DY[way]
            line(rows, RAY, state.x, state.y, to_x, to_y, 0.08, 0.2 + 0.8 * felt)
    disc(rows, FOOD, state.food_x, state.food_y, 0.28, 1.0)
    draw_agent(rows, state.x, state.y, int(action[0, 0]), _MOVES)
    readout(rows, 0.0, 0.0, state.step)
    readout(rows, 1.0, 0.0, state.eaten)
    readout(rows, 2.0, 0.0, state.bumps)


@dataclass(frozen=True)
class Gridworld(World):
    """side x side cells, y up; the agent starts on cell (side // 2, side // 2).

    | sensor | range | value |
    |---|---|---|
    | food_up, food_right, food_down, food_left | 0..1 | 1 - d/side, d = rows or columns to the food that way; 0 if it does not lie that way |

    | action | effect |
    |---|---|
    | 0 up, 1 right, 2 down, 3 left | move one cell; at the edge a bump that moves nothing |
    | any other | stay |

    | what | rule |
    |---|---|
    | food | one, uniform on the cells other than the agent's; reappears at once when eaten |
    | reward | +1 food, else -0.1 bump, else -0.01 |
    | end | after max_steps (truncated) |
    | metrics | foods eaten, bumps |
    """  # noqa: E501

    side: int = 5
    max_steps: int = 110

    name: ClassVar[str] = "gridworld"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Four directions."""
        return tuple(Sensor(f"food_{way}") for way in self.actions.names)

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return Discrete(("up", "right", "down", "left"))

    def picture(self) -> Picture:
        """The grid."""
        legend = {"brain": "agent", "food": "food", "ray": "what it feels"}
        return Picture.of_grid(self.side, words=("step", "eaten", "bumps"), legend=legend, trail=12, frames=6)

    def text(self, state: State) -> str:
        """The grid as characters: o food, ^ the agent."""
        return grid_text(self.side, _items(state))


def _items(state: State) -> dict[str, NDArray[np.float64]]:
    return {"food": np.array([[state.food_x, state.food_y]]), "worm_up": np.array([[state.x, state.y]])}
