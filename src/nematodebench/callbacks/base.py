"""What a callback is, and what it is told: plain data that nobody can change a run with.

>>> import nematodebench as nb
>>> class Count(nb.Callback):
...     episodes = 0
...
...     def on_episode(self, episode):
...         self.episodes += 1
>>> count = Count()
>>> session = nb.run("foraging_small-v1", "null_random", runs=2, episodes=20, seed=1, callbacks=[count])
>>> count.episodes == len(session.episodes)
True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Callback", "Episode", "RunEnd", "RunStart", "SessionStart", "Step"]


@dataclass(frozen=True)
class SessionStart:
    """A session begins.

    Attributes:
        task: Id of the task.
        brain: Name of the brain.
        config: The brain's parameters.
        seed: The session's seed.
        runs: How many runs there will be.
        columns: For each phase of a run, what is recorded of its episodes.
        experiment_id: The name under which the session is stored, if it is.
    """

    task: str
    brain: str
    config: Mapping[str, Any]
    seed: int
    runs: int
    columns: Mapping[str, tuple[str, ...]]
    experiment_id: str


@dataclass(frozen=True)
class RunStart:
    """A run has begun: its number in the session, and its seed."""

    run: int
    seed: int


@dataclass(frozen=True)
class Step:
    """One step of one agent.

    Attributes:
        run: Number of the run.
        seed: The run's seed.
        phase: Name of the phase.
        episode: Number of the episode in its phase, from 0.
        step: Number of the step in its episode, from 0.
        agent: Number of the agent; 0 in a world with one.
        observation: What the brain saw.
        action: What it did: a whole number, or an array of effectors.
        reward: What that brought.
        terminated: Whether the episode ended with it.
        truncated: Whether the episode was cut short there.
    """

    run: int
    seed: int
    phase: str
    episode: int
    step: int
    agent: int
    observation: NDArray[np.float32]
    action: int | NDArray[np.float32]
    reward: float
    terminated: bool
    truncated: bool


@dataclass(frozen=True)
class Episode:
    """An episode that has ended.

    Attributes:
        run: Number of the run.
        seed: The run's seed.
        phase: Name of the phase.
        episode: Its number in its phase, from 0.
        columns: What is recorded of it, by name; the same numbers as in the session's records.
    """

    run: int
    seed: int
    phase: str
    episode: int
    columns: Mapping[str, float]

    @property
    def reward(self) -> float:
        """The sum of its rewards (their mean over agents)."""
        return self.columns["reward"]

    @property
    def steps(self) -> int:
        """How many steps it took."""
        return int(self.columns["steps"])


@dataclass(frozen=True)
class RunEnd:
    """A run has ended.

    Attributes:
        run: Its number.
        seed: Its seed.
        steps: Its training steps.
        seconds: How long it took.
        record_hash: SHA-256 of its episodes.
        memory_hash: SHA-256 of the brain's final memory; None where it cannot be had.
        descriptors: What the brain says of its final state.
        failure: Why it has no result; None where it has one.
    """

    run: int
    seed: int
    steps: int
    seconds: float
    record_hash: str
    memory_hash: str | None
    descriptors: Mapping[str, float]
    failure: str | None


class Callback:
    """Base of callbacks: override what you want to be told.

    All functions are called one at a time, in the thread that runs the session. What is said of one run comes in its
    order; several runs go on at the same time. A callback changes no bit of a run, and one that raises an error stops
    the session.
    """

    def on_start(self, session: SessionStart) -> None:
        """The session begins."""

    def on_run_start(self, run: RunStart) -> None:
        """A run has begun."""

    def on_step(self, step: Step) -> None:
        """A step was made. A callback with this function has the runs go one after another, step by step in Python."""

    def on_episode(self, episode: Episode) -> None:
        """An episode has ended."""

    def on_run(self, run: RunEnd) -> None:
        """A run has ended, or failed."""

    def on_end(self) -> None:
        """The session is over: complete, interrupted or failed. It is called once for every ``on_start``."""
