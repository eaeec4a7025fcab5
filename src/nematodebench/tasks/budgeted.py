"""Tasks with a budget: some experience, the same for every brain, then scored episodes on new world streams."""

from typing import Any

from nematodebench.measures.anchored import ANCHORED
from nematodebench.measures.descriptive import DESCRIPTIVE
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.base import World

__all__ = ["budgeted"]

_SCORED_EPISODES = 5


def budgeted(name: str, summary: str, world: World, budget: int, score_key: str, **more: Any) -> Task:
    """A task by its name, which is that of a first version where it has none; ``more`` is what else a task is told."""
    scoring = ANCHORED if score_key else DESCRIPTIVE
    phases = (Phase("train", world, ticks=budget), Phase("scored", world, episodes=_SCORED_EPISODES))
    named = name if "-v" in name else f"{name}-v1"
    return Task(named, summary, phases, "scored", scoring, score_key, **more)
