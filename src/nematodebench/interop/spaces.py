"""What all environments have in common: finding the world, its spaces, and which episode comes next."""

from typing import Any

import numpy as np
from gymnasium import spaces

from nematodebench.errors import UsageError
from nematodebench.worlds.base import Discrete, World

__all__ = ["METADATA", "SEED_MASK", "Episodes", "action_space", "find_world", "observation_space"]

METADATA: dict[str, Any] = {"render_modes": ["rgb_array", "ansi", "human"], "render_fps": 10}
SEED_MASK = 2**64 - 1


class Episodes:
    """Which run an environment plays, and which of its episodes comes next."""

    def __init__(self) -> None:
        self._seed: int | None = None
        self._number = 0

    def following(self, seed: int | None, random: np.random.Generator) -> tuple[int, int]:
        """The seed of the run and the number of the episode; a given seed begins a new run, at episode 0."""
        if seed is not None:
            self._seed, self._number = int(seed) & SEED_MASK, 0
        elif self._seed is None:
            self._seed = int(random.integers(2**63))
        self._number += 1
        return self._seed, self._number - 1


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
