"""World `gridworld`: one food at a time on a small grid, felt in four directions."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw import cells

__all__ = ["Gridworld"]

_P_SIDE, _P_MAX_STEPS = 0, 1
_S_X, _S_Y, _S_FOOD_X, _S_FOOD_Y, _S_STEP, _S_FOODS, _S_BUMPS = 0, 1, 2, 3, 4, 5, 6
_STATE = 7
_MOVES = 4
_DX = (0, 1, 0, -1)
_DY = (1, 0, -1, 0)


@kernel()
def _place_food(params: F64, state: F64, rng: U64) -> None:
    """On any cell but the agent's: of the others the last takes the place of the agent's."""
    side = int(params[_P_SIDE])
    cell = randint(rng, side * side - 1)
    if cell == int(state[_S_Y]) * side + int(state[_S_X]):
        cell = side * side - 1
    state[_S_FOOD_X], state[_S_FOOD_Y] = cell % side, cell // side


@kernel()
def _sense(params: F64, state: F64, obs: F32M) -> None:
    for way in range(_MOVES):
        d = _DX[way] * (state[_S_FOOD_X] - state[_S_X]) + _DY[way] * (state[_S_FOOD_Y] - state[_S_Y])
        obs[0, way] = np.float32(1.0 - d / params[_P_SIDE] if d > 0.0 else 0.0)


@kernel()
def _move(params: F64, state: F64, choice: int) -> bool:
    """Whether the agent bumped into the edge instead of moving."""
    if choice >= _MOVES:
        return False
    x, y = state[_S_X] + _DX[choice], state[_S_Y] + _DY[choice]
    if min(x, y) < 0.0 or max(x, y) >= params[_P_SIDE]:
        return True
    state[_S_X], state[_S_Y] = x, y
    return False


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """The agent at the centre, food anywhere else."""
    state[:] = 0.0
    state[_S_X] = state[_S_Y] = params[_P_SIDE] // 2
    _place_food(params, state, rng)
    _sense(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move, eat, sense."""
    reward = -0.01
    if _move(params, state, int(action[0, 0])):
        reward = -0.1
        state[_S_BUMPS] += 1.0
    elif state[_S_X] == state[_S_FOOD_X] and state[_S_Y] == state[_S_FOOD_Y]:
        reward = 1.0
        state[_S_FOODS] += 1.0
        _place_food(params, state, rng)
    state[_S_STEP] += 1.0
    _sense(params, state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_STEP] >= params[_P_MAX_STEPS] else 0.0
    out[OUT_REWARD] = reward
    out[3], out[4] = state[_S_FOODS], state[_S_BUMPS]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Goes straight to the food."""
    dx, dy = state[_S_FOOD_X] - state[_S_X], state[_S_FOOD_Y] - state[_S_Y]
    for way in range(_MOVES):
        if _DX[way] * dx + _DY[way] * dy > 0.0:
            action[0, 0] = np.float32(way)


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("foods", "bumps")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Four directions."""
        return tuple(Sensor(f"food_{way}") for way in self.actions.names)

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return Discrete(("up", "right", "down", "left"))

    @property
    def state_size(self) -> int:
        """Agent, food, clock, counts."""
        return _STATE

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.side, self.max_steps], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The grid with agent and food."""
        return cells.grid_image(self.side, _items(state))

    def text(self, state: F64) -> str:
        """The grid as characters: o food, ^ the agent."""
        return cells.grid_text(self.side, _items(state))


def _items(state: F64) -> dict[str, NDArray[np.float64]]:
    return {"food": state[_S_FOOD_X : _S_FOOD_Y + 1][None], "worm_up": state[_S_X : _S_Y + 1][None]}
