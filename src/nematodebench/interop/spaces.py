"""What the scalar and the vector environment have in common: finding the world, and its spaces."""

from typing import Any

import numpy as np
from gymnasium import spaces

from nematodebench.errors import UsageError
from nematodebench.worlds.base import Discrete, World

__all__ = ["METADATA", "SEED_MASK", "action_space", "find_world", "observation_space"]

METADATA: dict[str, Any] = {"render_modes": ["rgb_array", "ansi", "human"], "render_fps": 10}
SEED_MASK = 2**64 - 1


def find_world(task: str | World) -> World:
    """The world of a task's scored phase, or the given one."""
    if isinstance(task, World):
        world = task
    else:
        from nematodebench.tasks.registry import get_task

        world = get_task(task).world
    if world.agents != 1:
        raise UsageError(
            f"World {world.name!r} has {world.agents} agents and Gymnasium environments have one. "
            "Use its PettingZoo parallel environment."
        )
    return world


def observation_space(world: World) -> spaces.Box[Any]:
    """One float32 a sensor, with its range."""
    low = np.array([sensor.low for sensor in world.sensors], dtype=np.float32)
    high = np.array([sensor.high for sensor in world.sensors], dtype=np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def action_space(world: World) -> spaces.Discrete[Any] | spaces.Box[Any]:
    """A choice, or effectors in [0, 1]."""
    if isinstance(world.actions, Discrete):
        return spaces.Discrete(world.actions.n)
    return spaces.Box(0.0, 1.0, (world.actions.n,), dtype=np.float32)
