"""Defines what a search improves: the score of a brain on a task, from the runs of given seeds."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import BrainType, get_brain
from nematodebench.continual.runs import Anchors, anchors_of, run_scores
from nematodebench.engine.executors import ExecutorName, Watch, choose_executor, default_workers, execute_all
from nematodebench.engine.run import RunResult, RunSpec, compile_for, resolve_config
from nematodebench.errors import UsageError
from nematodebench.records.run_files import RunFiles
from nematodebench.scoring import ProfileName
from nematodebench.sessions.begun import remember_sources
from nematodebench.sessions.kept import kept_runs
from nematodebench.sessions.plan import dump_config
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import ORDER, continual_task
from nematodebench.tasks.registry import get_task

__all__ = ["BrainTarget", "Target", "TrialFailedError", "brain_target"]

_CONTINUAL = "continual"


class TrialFailedError(RuntimeError):
    """A run of a trial failed: the trial has no value."""


class Target(Protocol):
    """Runs seeds with a config and scores them; both apart, because some scores belong to all runs together."""

    def run(self, config: Mapping[str, Any], seeds: Sequence[int]) -> list[Any]:
        """Executes one run for each seed; results are in the order of the seeds."""

    def values(self, results: Sequence[Any]) -> NDArray[np.float64]:
        """Gives one score for each result; more is better."""


@dataclass(frozen=True)
class BrainTarget:
    """A brain on a task, or through all continual environments (its primary score under a profile)."""

    task: Task
    brain_name: str
    brain: BrainType
    base: dict[str, Any]
    workers: int
    executor: ExecutorName
    profile: ProfileName = "calibrated"
    anchors: Mapping[str, Anchors] = field(default_factory=dict)
    keep: Callable[[str], RunFiles | None] = lambda part: None
    """Says where the runs of a part are kept as they end; those that are there are not executed again."""
    damaged: list[str] = field(default_factory=list)
    """Files of runs that were kept and not believed."""

    @property
    def config_text(self) -> str:
        """What is fixed: the parameters, the task and its specification."""
        return json.dumps([self.base, self.task.id, self.task.spec_hash], sort_keys=True, default=str)

    def run(self, config: Mapping[str, Any], seeds: Sequence[int]) -> list[RunResult]:
        """Executes one run for each seed; the first failure ends the trial."""
        full = resolve_config(self.brain_name, self.brain, {**self.base, **config})
        specs = [RunSpec(self.task, self.brain_name, self.brain, full, seed, k) for k, seed in enumerate(seeds)]
        results = sorted(self._results(specs), key=lambda result: result.index)
        for result in results:
            if result.failure is not None:
                raise TrialFailedError(f"run with seed {result.seed}: {result.failure.message}")
        return results

    def _results(self, specs: list[RunSpec]) -> list[RunResult]:
        """The runs, in any order: those that are kept are read, and the others executed."""
        named = json.dumps([dump_config(specs[0].config), [spec.seed for spec in specs]], sort_keys=True, default=str)
        files = self.keep(hashlib.sha256(named.encode()).hexdigest()[:16])
        kept = {} if files is None else kept_runs(specs, files, self.damaged)
        results, left = list(kept.values()), [spec for spec in specs if spec.index not in kept]
        for result in execute_all(left, self.executor, self.workers, Watch()):
            results.append(result)
            if files is not None and result.failure is None:
                files.write(result)
        return results

    def values(self, results: Sequence[RunResult]) -> NDArray[np.float64]:
        """The task's score of each run."""
        if self.anchors:
            return np.array([run_scores(self.task, run, self.anchors)[self.profile].primary for run in results])
        rows = self.task.measure([run.records for run in results]).runs
        return np.array([row[self.task.score_key] for row in rows], dtype=np.float64)

    def pseudo_values(self, results: Sequence[RunResult]) -> NDArray[np.float64] | None:
        """Jackknife pseudo-values of a score that a run does not have on its own; None for any other."""
        if self.anchors:
            return None
        return self.task.measure([run.records for run in results]).pseudo.get(self.task.score_key)

    def full_config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A config with everything that was not searched."""
        return dump_config(resolve_config(self.brain_name, self.brain, {**self.base, **config}))


def brain_target(
    brain: str,
    task: str,
    base: dict[str, Any] | None = None,
    episodes: int | None = None,
    workers: int | None = None,
    profile: ProfileName = "calibrated",
    executor: str | None = None,
) -> BrainTarget:
    """Finds and compiles what is going to be searched.

    Args:
        brain: Name of the brain.
        task: Id of a task, or ``continual``.
        base: Parameters that are fixed at other values than the defaults.
        episodes: Episodes a run, if not the task's own number; of every environment for ``continual``.
        workers: Runs at a time.
        profile: Of the continual score.
        executor: How runs are executed; chosen by the kind of brain if None.
    """
    kind = get_brain(brain)
    resolve_config(brain, kind, base)
    count = default_workers() if workers is None else workers
    if count < 1:
        raise UsageError(f"workers is {count}: give at least 1")
    anchors: Mapping[str, Anchors] = {}
    if task in {_CONTINUAL, f"{_CONTINUAL}-v1"}:
        found, anchors = (
            continual_task(episodes={} if episodes is None else dict.fromkeys(ORDER, episodes)),
            anchors_of(ORDER),
        )
    else:
        found = get_task(task).with_episodes(episodes)
        if not found.scoring.has_score:
            raise UsageError(f"Task {found.id} has no score to search by.")
    chosen = choose_executor(kind, executor, count)
    if chosen == "threads":
        compile_for(found, kind)
    target = BrainTarget(found, brain, kind, dict(base or {}), count, chosen, profile, anchors)
    remember_sources(target)
    return target
