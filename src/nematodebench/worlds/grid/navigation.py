"""World `navigation`: find food on a grid with dangers, seeing along eight rays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import constant
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.grid import rays
from nematodebench.worlds.grid.scenes import RAY_LEGEND, RAY_WORDS, draw_rays
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.text import grid_text

__all__ = ["Navigation"]

_MOVES = 4
_FIRST_OWN = 24


class Params(rays.Params):
    """The grid's parameters and the costs."""

    step_cost = constant()
    danger_cost = constant()


class State(rays.State, sizes=Params):
    """The state of the grid, to which this world adds nothing."""


memory = WorldMemory(Params, State, rays.Metrics)


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    rays.sense_rays(params, state, obs)
    obs[0, _FIRST_OWN] = np.float32(state.x / params.side)
    obs[0, _FIRST_OWN + 1] = np.float32(state.y / params.side)
    obs[0, _FIRST_OWN + 2] = np.float32(state.step / params.max_steps)
    obs[0, _FIRST_OWN + 3] = np.float32(min(state.eaten / params.foods, 1.0))


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Fills a new grid and puts the agent at its centre."""
    rays.scatter(params, state, rng)
    _sense(params, state, obs)


@memory.kernel
def step(
    params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: rays.Metrics
) -> None:
    """The agent moves, then eats or is hurt."""
    kind = rays.move_and_eat(params, state, rng, int(action[0, 0]), _MOVES)
    reward = -params.step_cost
    if kind == rays.FOOD:
        reward += 1.0
    elif kind == rays.DANGER:
        reward -= params.danger_cost
    _sense(params, state, obs)
    rays.write_count(params, state, outcome, metrics)
    outcome.reward[0] = reward


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Goes to the nearest food around the dangers."""
    action[0, 0] = np.float32(rays.find_food(params, state, _MOVES))


@memory.scene
def scene(params: Params, state: State, action: F32M, obs: F32M, rows: F64M) -> None:
    """The grid, the agent, its rays and what they see."""
    draw_rays(params, state, action, obs, rows, _MOVES)


@dataclass(frozen=True)
class Navigation(World):
    """side x side cells, y up; the agent starts on cell (side // 2, side // 2).

    | sensor | range | value |
    |---|---|---|
    | food, danger, wall of 8 rays | 0..1 | 1 - d/side, d = cells to the nearest food, the nearest danger and the edge or obstacle that ends the ray, diagonal cells counting 1 as well; 0 if there is none in sight; rays in the order up, right, down, left, up_right, down_right, down_left, up_left |
    | x, y | 0..1 | the agent's cell over side |
    | time | 0..1 | steps over max_steps |
    | found | 0..1 | foods eaten over `foods`, at most 1 |

    | action | effect |
    |---|---|
    | 0 up, 1 right, 2 down, 3 left | move one cell, unless the edge or an obstacle is in the way |
    | any other | stay |

    | what | rule |
    |---|---|
    | things | foods, dangers and obstacles on cells of their own, uniform, none on the agent's; eaten food reappears at once on an empty cell other than the agent's; dangers stay |
    | reward | -step_cost every step, +1 a food, -danger_cost every step that ends on a danger |
    | end | after max_steps (truncated) |
    | metrics | foods eaten, steps that ended on a danger |

    | preset | side | foods | dangers at cost | obstacles | step_cost |
    |---|---|---|---|---|---|
    | standard | 12 | 5 | 3 at 0.5 | 0 | 0.01 |
    | easy | 12 | 8 | 1 at 0.3 | 0 | 0.01 |
    | hard | 15 | 3 | 6 at 0.8 | 5 | 0.02 |
    """  # noqa: E501

    side: int = 12
    foods: int = 5
    dangers: int = 3
    obstacles: int = 0
    max_steps: int = 200
    step_cost: float = 0.01
    danger_cost: float = 0.5

    name: ClassVar[str] = "navigation"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @classmethod
    def easy(cls) -> "Navigation":
        """More food, fewer and milder dangers."""
        return cls(foods=8, dangers=1, danger_cost=0.3)

    @classmethod
    def hard(cls) -> "Navigation":
        """Less food on a larger grid with obstacles, more and worse dangers."""
        return cls(side=15, foods=3, dangers=6, obstacles=5, step_cost=0.02, danger_cost=0.8)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Eight rays, place, time, success."""
        return (*rays.ray_sensors(), Sensor("x"), Sensor("y"), Sensor("time"), Sensor("found"))

    @property
    def actions(self) -> Discrete:
        """Four moves."""
        return Discrete(rays.DIRECTIONS[:_MOVES])

    def tables(self) -> Mapping[str, Any]:
        """The sizes of the map."""
        return rays.grid_tables(self.side, self.foods + self.dangers + self.obstacles)

    def picture(self) -> Picture:
        """The grid."""
        return Picture.of_grid(self.side, words=RAY_WORDS, legend=RAY_LEGEND, trail=25, frames=8)

    def text(self, state: State) -> str:
        """The grid as characters: o food, X danger, C obstacle, ^ the agent."""
        return grid_text(self.side, rays.text_items(self.side, state))
