"""Every world of every built-in task keeps the contract of worlds."""

import re

from nematodebench.tasks.registry import all_tasks
from nematodebench.testing import WorldSuite
from nematodebench.worlds.worm.foraging import Foraging

# A parameter that only makes the same code run longer needs no suite of its own.
_SAME_CODE = re.compile("(medium|large)")


def _worlds():
    """One of each: the worlds of all phases, named by the task that holds them."""
    found = {}
    for task in all_tasks().values():
        for phase in task.phases:
            if not _SAME_CODE.search(task.id) and phase.world not in found.values():
                found[f"{task.id.replace('-', '_')}_{phase.name}"] = phase.world
    return found


_WORLDS = _worlds()
for _name, _world in _WORLDS.items():
    globals()[f"Test_{_name}"] = type(f"Test_{_name}", (WorldSuite,), {"world": _world})


class TestForagingLarge(WorldSuite):
    world = next(task.world for task in all_tasks().values() if task.id == "foraging_large-v1")


def test_every_kind_of_world_is_among_them():
    kinds = {type(phase.world) for task in all_tasks().values() for phase in task.phases}
    assert kinds == {type(world) for world in _WORLDS.values()}
    assert Foraging in kinds
    assert len(kinds) >= 3
