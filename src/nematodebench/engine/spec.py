"""What decides a run: task, brain, config and seed, and the saved brain that it begins with where there is one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import BrainType
from nematodebench.engine.isolation.host import Foreign
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.tasks.base import Task
from nematodebench.worlds.base import Discrete

__all__ = ["Keeping", "RunSpec", "interface"]


@dataclass(frozen=True)
class Keeping:
    """Where a session keeps the brains of its runs: after ``every`` so many episodes of a phase, and at the end."""

    folder: Path
    every: int

    def place(self, run: int, episode: int | None) -> Path:
        """The file of a run after some episodes; without a number that of its end."""
        name = "final" if episode is None else f"episode_{episode:06d}"
        return self.folder / f"run_{run:05d}" / f"{name}.safetensors"


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run; what is kept on its way decides nothing."""

    task: Task
    brain_name: str
    brain: BrainType | Foreign
    config: Any
    seed: int
    index: int = 0
    start: Checkpoint | None = None
    keeping: Keeping | None = None
    limit: float | None = None
    """Seconds that it may take; longer ones have failed."""


def interface(task: Task) -> Interface:
    """The body a task gives its brain: the widest of its worlds, narrower ones leave inputs at 0 and actions idle."""
    sensors = task.body_sensors
    actions = max((world.actions for world in task.worlds), key=lambda kind: kind.n)
    discrete = isinstance(actions, Discrete)
    return Interface(
        sensors=tuple(sensor.name for sensor in sensors),
        low=tuple(sensor.low for sensor in sensors),
        high=tuple(sensor.high for sensor in sensors),
        choices=actions.n if discrete else 0,
        effectors=0 if discrete else actions.n,
        choice_names=actions.names if discrete else (),
    )
