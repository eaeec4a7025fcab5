"""Recorded runs as an offline data set of Minari, which learners of other libraries read."""

import contextlib
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from nematodebench.engine.spec import interface
from nematodebench.engine.tracing import TracedEpisode
from nematodebench.errors import UsageError
from nematodebench.files import clean_leftovers, scratch_folder
from nematodebench.tasks.base import Task

__all__ = ["check_name", "export"]

_PLACE = "MINARI_DATASETS_PATH"
_NAME = re.compile(r"^(?:[\w-]+/)*[\w-]+-v\d+$", re.ASCII)


def check_name(name: str) -> Any:
    """Minari itself, if it is there and the name can be used."""
    import minari

    if not _NAME.match(name):
        raise UsageError(f"{name!r} is no name of a Minari data set: give one like nematodebench/foraging-v0.")
    place = _place(name)
    clean_leftovers(place.parent, place.name)
    if place.exists():
        raise UsageError(f"Minari already has a data set {name}: give another version, or `minari delete {name}`.")
    return minari


def _place(name: str) -> Path:
    root = os.environ.get(_PLACE) or Path.home() / ".minari" / "datasets"
    return Path(root) / name


def _spaces(task: Task) -> tuple[Any, Any]:
    """Of observations and actions; those of a swarm have a row for each agent."""
    body, agents = interface(task), task.world.agents
    shape = (agents,) if agents > 1 else ()
    low, high = (
        np.broadcast_to(np.array(end, dtype=np.float32), (*shape, body.inputs)) for end in (body.low, body.high)
    )
    seen = spaces.Box(low.copy(), high.copy(), dtype=np.float32)
    if body.choices:
        return seen, spaces.Discrete(body.choices) if agents == 1 else spaces.MultiDiscrete([body.choices] * agents)
    return seen, spaces.Box(0.0, 1.0, (*shape, body.effectors), dtype=np.float32)


def _environment(task: Task) -> Any:
    """The environment of Gymnasium in which a learner of the data set is tried.

    None for swarms, for tasks from outside, and where the task's body has more inputs or actions than its world.
    """
    body, world = interface(task), task.world
    same = body.inputs == len(world.sensors) and (body.choices or body.effectors) == world.actions.n
    return gymnasium.registry.get(f"nematodebench/{task.id}") if same and world.agents == 1 else None


def _buffer(buffers: Any, task: Task, number: int, episode: TracedEpisode, seed: int) -> Any:
    agents, choices = task.world.agents, interface(task).choices
    seen, done = episode.observation, episode.action
    if choices:
        done = done[:, :, 0].astype(np.int64)
    if agents == 1:
        seen, done = seen[:, 0], done[:, 0]
    first = np.zeros((1, agents))
    return buffers.EpisodeBuffer(
        id=number, seed=seed, observations=seen, actions=done, rewards=episode.reward.mean(axis=1),
        terminations=episode.terminated, truncations=episode.truncated,
        infos={"reward_of_agents": np.concatenate([first, episode.reward])} if agents > 1 else None,
    )  # fmt: skip


def export(name: str, task: Task, episodes: Sequence[TracedEpisode], brain: str, seed: int) -> Any:
    """Writes the episodes of a run as a Minari data set; returns it as Minari does.

    A swarm is one learner with as many rows as agents: its reward is the mean of theirs, as in the records, and what
    each agent was paid is told as info.
    """
    minari = check_name(name)
    from minari.data_collector import episode_buffer

    observation_space, action_space = _spaces(task)
    buffers = [_buffer(episode_buffer, task, n, episode, seed) for n, episode in enumerate(episodes)]
    with _appearing(name), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an author, which a recorded run has no use for
        minari.create_dataset_from_buffers(
            name, buffers, env=_environment(task), observation_space=observation_space, action_space=action_space,
            algorithm_name=brain, description=f"{task.id}, run seed {seed}", data_format="hdf5",
        )  # fmt: skip
    return minari.load_dataset(name)


@contextlib.contextmanager
def _appearing(name: str) -> Iterator[None]:
    """Lets Minari write a data set beside its place, so that it appears there whole or not at all."""
    folder = _place(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder) as place:
        before = os.environ.get(_PLACE)
        os.environ[_PLACE] = str(place)
        try:
            yield
        finally:
            os.environ.pop(_PLACE)
            os.environ.update({} if before is None else {_PLACE: before})
        (place / name).rename(folder)
