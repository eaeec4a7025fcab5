"""World `realtime`: the grid of `navigation` with eight moves, scarcer food and nothing to go by but the rays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.grid import rays
from nematodebench.worlds.grid.rays import Metrics, Params, State
from nematodebench.worlds.grid.scenes import RAY_LEGEND, RAY_WORDS, draw_rays
from nematodebench.worlds.picture import Picture
from nematodebench.worlds.text import grid_text

__all__ = ["Realtime"]

_MOVES = 8

memory = WorldMemory(Params, State, Metrics)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Fills a new grid and puts the agent at its centre."""
    rays.scatter(params, state, rng)
    rays.sense_rays(params, state, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The agent moves, then eats or is hurt."""
    kind = rays.move_and_eat(params, state, rng, int(action[0, 0]), _MOVES)
    reward = -0.01
    if kind == rays.FOOD:
        reward = 1.0
    elif kind == rays.DANGER:
        reward = -0.5
    rays.sense_rays(params, state, obs)
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
class Realtime(World):
    """side x side cells, y up; the agent starts on cell (side // 2, side // 2).

    | sensor | range | value |
    |---|---|---|
    | food, danger, wall of 8 rays | 0..1 | 1 - d/side, d = cells to the nearest food, the nearest danger and the edge that ends the ray, diagonal cells counting 1 as well; 0 if there is none in sight; rays in the order of the actions |

    | action | effect |
    |---|---|
    | 0 up, 1 right, 2 down, 3 left, 4 up_right, 5 down_right, 6 down_left, 7 up_left | move one cell, unless the edge is in the way |
    | any other | stay |

    | what | rule |
    |---|---|
    | things | foods and dangers on cells of their own, uniform, none on the agent's; eaten food reappears at once on an empty cell other than the agent's; dangers stay |
    | reward | by the cell the step ends on: +1 food, -0.5 danger, -0.01 empty |
    | end | after max_steps (truncated) |
    | metrics | foods eaten, steps that ended on a danger |
    """  # noqa: E501

    side: int = 12
    foods: int = 3
    dangers: int = 3
    max_steps: int = 220

    name: ClassVar[str] = "realtime"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)
    obstacles: ClassVar[int] = 0

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Eight rays."""
        return rays.ray_sensors()

    @property
    def actions(self) -> Discrete:
        """Eight moves."""
        return Discrete(rays.DIRECTIONS)

    def tables(self) -> Mapping[str, Any]:
        """The sizes of the map."""
        return rays.grid_tables(self.side, self.foods + self.dangers)

    def picture(self) -> Picture:
        """The grid."""
        return Picture.of_grid(self.side, words=RAY_WORDS, legend=RAY_LEGEND, trail=25, frames=8)

    def text(self, state: State) -> str:
        """The grid as characters: o food, X danger, ^ the agent."""
        return grid_text(self.side, rays.text_items(self.side, state))
