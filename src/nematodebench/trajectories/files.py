"""Trajectories of a run as files: a columnar NumPy archive for each phase, and ``schema.json``, which describes them.

An episode of T steps has T + 1 moments. Rows of all episodes of a phase lie one behind another; ``steps`` says how many
belong to each. The same run gives the same bytes.
"""

import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.engine.tracing import TracedEpisode
from nematodebench.errors import UsageError
from nematodebench.files import write_file
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.base import Discrete, World

__all__ = ["SCHEMA", "Recorder", "prepare", "read_episodes"]

SCHEMA = "schema.json"
_VERSION = "1.0"
_COLUMNS = {
    "episode": ("int64", "[episode]", "number of the episode in its phase, from 0"),
    "steps": ("int64", "[episode]", "how many steps it took, T"),
    "observation": ("float32", "[moment, agent, input]", "what the brains saw; T + 1 moments an episode"),
    "state": ("float64", "[moment, :]", "everything the world remembered, see `state` of the phase"),
    "action": ("float32", "[step, agent, :]", "a choice as a whole number, or effectors in [0, 1]"),
    "reward": ("float64", "[step, agent]", "what each agent was paid"),
    "terminated": ("bool", "[step]", "the episode ended with this step"),
    "truncated": ("bool", "[step]", "the episode was cut short after this step"),
    "metrics": ("float64", "[step, :]", "the world's metrics, see `metrics` of the phase; final at an episode's end"),
}


def prepare(folder: Path) -> None:
    """Makes the folder, or says in time that nothing can be written there."""
    if (folder / SCHEMA).exists():
        raise UsageError(f"{folder} already holds trajectories: give another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise UsageError(f"Nothing can be written to {folder}: give another folder.")


class Recorder:
    """Collects the episodes of a run and writes them when it is over."""

    def __init__(self) -> None:
        self.episodes: list[TracedEpisode] = []

    def keep(self, episode: TracedEpisode) -> None:
        """Takes in an episode that is over."""
        self.episodes.append(episode)

    def write(self, folder: Path, task: Task, about: Mapping[str, Any]) -> list[Path]:
        """Writes one archive a phase and the schema; returns the files."""
        written, phases = [], []
        for phase in task.phases:
            found = [episode for episode in self.episodes if episode.phase.name == phase.name]
            if found:
                path = folder / f"{phase.name}.npz"
                write_file(path, _archive(found))
                written.append(path)
                phases.append(_phase(phase, task, found))
        columns = {name: dict(zip(("type", "shape", "meaning"), told, strict=True)) for name, told in _COLUMNS.items()}
        schema = {"version": _VERSION, **about, "columns": columns, "phases": phases}
        write_file(folder / SCHEMA, (json.dumps(schema, indent=1) + "\n").encode())
        return [folder / SCHEMA, *written]


def _archive(episodes: list[TracedEpisode]) -> bytes:
    agents = episodes[0].phase.world.agents
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(episode, name) for episode in episodes])
        for name in ("observation", "state", "action", "reward", "terminated", "truncated")
    }
    metrics = np.concatenate([episode.outcome[:, 2 + agents :] for episode in episodes])
    counts = np.array([[episode.number, episode.steps] for episode in episodes], dtype=np.int64)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, episode=counts[:, 0], steps=counts[:, 1], metrics=metrics, **joined)
    return buffer.getvalue()


def _phase(phase: Phase, task: Task, episodes: list[TracedEpisode]) -> dict[str, Any]:
    """What the columns of a phase consist of, by name."""
    world, actions = phase.world, phase.world.actions
    return {
        "phase": phase.name, "file": f"{phase.name}.npz", "episodes": len(episodes),
        "steps": sum(episode.steps for episode in episodes), "world": world.name, "agents": world.agents,
        "inputs": [sensor.name for sensor in task.body_sensors],
        "actions": {"kind": "choice" if isinstance(actions, Discrete) else "effectors", "names": list(actions.names)},
        "state": _state_fields(world), "metrics": list(world.metrics),
    }  # fmt: skip


def _state_fields(world: World) -> list[dict[str, Any]]:
    """Name, first column and shape of everything in a state."""
    memory = world.memory
    params = memory.params(world.packed)
    sized = memory.state.sizes_from is not None
    count = memory.state.count(params if sized else None)
    numbered = np.arange(count, dtype=np.float64)
    view: Any = memory.state(numbered, params) if sized else memory.state(numbered)
    fields = []
    for name in memory.state.fields:
        columns = np.asarray(getattr(view, name))
        first = int(columns.flat[0]) if columns.size else count
        fields.append({"name": name, "first": first, "shape": list(columns.shape)})
    return fields


def _columns(place: Path) -> dict[str, Any]:
    """The columns of an archive; one line where it is damaged, whatever is wrong with it."""
    try:
        with np.load(place, allow_pickle=False) as archive:
            columns = {name: archive[name] for name in _COLUMNS}
    except Exception as error:
        raise UsageError(f"{place} is damaged. `nematodebench rerun --record` writes it anew.") from error
    return columns


def read_episodes(folder: Path, phase: str) -> Iterator[dict[str, Any]]:
    """The episodes of a phase, each with its columns; those of moments have a row more than those of steps."""
    place = folder / f"{phase}.npz"
    if not place.is_file():
        raise UsageError(f"{folder} holds no trajectories of a phase {phase!r}.")
    columns = _columns(place)
    step, moment = 0, 0
    for number, steps in zip(columns["episode"].tolist(), columns["steps"].tolist(), strict=True):
        made: dict[str, Any] = {"episode": number, "steps": steps}
        made |= {name: columns[name][moment : moment + steps + 1] for name in ("observation", "state")}
        made |= {
            name: columns[name][step : step + steps]
            for name in ("action", "reward", "terminated", "truncated", "metrics")
        }
        yield made
        step, moment = step + steps, moment + steps + 1
