"""World `realtime`: the grid of `navigation` with eight moves, scarcer food and nothing to go by but the rays."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw import cells
from nematodebench.worlds.grid import rays

__all__ = ["Realtime"]

_MOVES = 8


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """A new grid, the agent at its centre."""
    rays.scatter(params, state, rng)
    rays.sense_rays(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move, then eat or be hurt."""
    kind = rays.live_step(params, state, rng, int(action[0, 0]), _MOVES)
    reward = -0.01
    if kind == rays.FOOD:
        reward = 1.0
    elif kind == rays.DANGER:
        reward = -0.5
    rays.sense_rays(params, state, obs)
    rays.write_count(params, state, out)
    out[OUT_REWARD] = reward


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Goes to the nearest food around the dangers."""
    action[0, 0] = np.float32(rays.find_food(params, state, _MOVES))


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("foods", "dangers")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Eight rays."""
        return rays.ray_sensors()

    @property
    def actions(self) -> Discrete:
        """Eight moves."""
        return Discrete(rays.DIRECTIONS)

    @property
    def state_size(self) -> int:
        """The agent and the grid."""
        return rays.map_size(self.side)

    def pack(self) -> F64:
        """The fields in order, without obstacles."""
        return rays.pack_grid(self.side, self.foods, self.dangers, 0, self.max_steps)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The grid with the agent."""
        return cells.grid_image(self.side, rays.picture_items(self.side, state))

    def text(self, state: F64) -> str:
        """The grid as characters: o food, X danger, ^ the agent."""
        return cells.grid_text(self.side, rays.picture_items(self.side, state))
