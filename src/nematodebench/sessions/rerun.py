"""Executes a recorded run again from its seed and compares every bit."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path

from nematodebench.brains.registry import canonical_name, get_brain, list_brains
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import RunResult, RunSpec, compile_for, execute, record_hash, resolve_stored
from nematodebench.engine.tracing import Trace
from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.records.memory_hash import not_compared, same_memory
from nematodebench.records.provenance import platform_class
from nematodebench.records.schemas import ExperimentMetadata, RunRecord
from nematodebench.records.store import stored_columns, stored_start
from nematodebench.sessions.session import phase_columns
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import all_tasks, get_task

__all__ = ["Rerun", "folder_of", "is_foreign", "rerun", "run_of", "same_task", "spec_of", "task_of", "with_columns_of"]


@dataclass(frozen=True)
class Rerun:
    """A recorded run, and what its re-execution gave."""

    recorded: RunRecord
    result: RunResult
    same_platform: bool

    @property
    def identical(self) -> bool:
        """Whether nothing that can be compared differs."""
        return not self.difference

    @property
    def difference(self) -> str:
        """In what the two differ: episodes, final memory or what the brain tells of it; empty where in nothing."""
        if self.result.failure is not None:
            return f"the re-execution failed: {self.result.failure.message}"
        if self.result.record_hash != self.recorded.record_hash:
            return "the episodes differ"
        if self._same_memory is False:
            return "the final memory differs"
        told = self.result.descriptors
        other = [name for name, value in self.recorded.descriptors.items() if told.get(name) != value]
        return f"another {', '.join(other)} is told" if other else ""

    @property
    def note(self) -> str:
        """What could not be compared; empty where everything was."""
        if self.result.failure is not None:
            return ""
        return not_compared(self.recorded.memory_hash, self.result.memory_hash)

    @property
    def _same_memory(self) -> bool | None:
        return same_memory(self.recorded.memory_hash, self.result.memory_hash)


def is_foreign(brain: str) -> bool:
    """Whether a brain is code from outside this installation's registered brains."""
    return canonical_name(brain) not in list_brains()


def task_of(metadata: ExperimentMetadata) -> Task:
    """The task a session ran, with its number of episodes."""
    task = get_task(metadata.task)
    return task if metadata.official else task.with_episodes(metadata.episodes_per_run)


def same_task(one: ExperimentMetadata, other: ExperimentMetadata) -> bool:
    """Whether two sessions ran the same task, parameters that came between them and do nothing aside."""
    if one.task_spec_hash == other.task_spec_hash:
        return True
    if one.task != other.task or one.task not in all_tasks():
        return False
    task = get_task(one.task)
    return task.completed(one.task_spec) == task.completed(other.task_spec)


def spec_of(
    metadata: ExperimentMetadata,
    run: RunRecord,
    trust_code: bool = False,
    foreign: Foreign | None = None,
    start: Checkpoint | None = None,
) -> RunSpec:
    """Says what has to be executed. It refuses another task specification, and foreign code unless it is trusted.

    Args:
        metadata: The session's record.
        run: The run's record.
        trust_code: Whether a brain that is not registered here may be imported and executed.
        foreign: The brain, if it is to be executed in a process of its own: its code is not imported here.
        start: The saved brain that the run began with, if it continued one.
    """
    if metadata.continued_from is not None and start is None:
        raise UsageError(f"The runs of {metadata.experiment_id} began with a saved brain: without it none is executed.")
    task = task_of(metadata)
    changes = task.changes_since(metadata.task_spec)
    if changes:
        raise UsageError(
            f"{metadata.task} has another specification here than in {metadata.experiment_id}: {'; '.join(changes)}."
        )
    if foreign is not None:
        return RunSpec(task, metadata.brain, foreign, dict(metadata.brain_config), run.seed, run.run)
    if is_foreign(metadata.brain) and not trust_code:
        raise UsageError(f"Brain {metadata.brain!r} is somebody's code: it runs only with --trust-code.")
    brain = get_brain(metadata.brain)
    config = resolve_stored(metadata.brain, brain, metadata.brain_config)
    return RunSpec(task, metadata.brain, brain, config, run.seed, run.run, start)


def with_columns_of(recorded: Task, result: RunResult, executed: Task) -> RunResult:
    """A run executed today, with the columns that were recorded when it was executed first."""
    if result.failure is not None or recorded == executed:
        return result
    records = dict(recorded.selected(result.records, executed))
    return replace(result, records=records, record_hash=record_hash(recorded, records))


def folder_of(place: Path) -> Path:
    """The folder of a stored session, given that or a file in it."""
    return (place if place.is_dir() else place.parent).resolve()


def run_of(metadata: ExperimentMetadata, index: int) -> RunRecord:
    """The record of a run of a session."""
    run = next((run for run in metadata.runs if run.run == index), None)
    if run is None:
        raise UsageError(f"{metadata.experiment_id} has no run {index}: it has runs 0 to {metadata.num_runs - 1}.")
    return run


def rerun(
    metadata: ExperimentMetadata,
    index: int,
    trust_code: bool = False,
    place: Path | None = None,
    trace: Trace | None = None,
) -> Rerun:
    """Executes one recorded run again from its seed.

    Args:
        metadata: The session's record.
        index: Number of the run.
        trust_code: Whether a brain that is not registered here may be imported and executed.
        place: The session's folder or file: older records do not say what was recorded of an episode, but tables do,
            and a saved brain that runs began with is kept there.
        trace: Keeps what happens in the episodes that it wants.
    """
    run = run_of(metadata, index)
    start = stored_start(folder_of(place), metadata.continued_from) if place is not None else None
    spec = spec_of(metadata, run, trust_code, start=start)
    compile_for(spec.task, spec.brain)
    same = platform_class(metadata.provenance.machine) == platform_class(platform.machine())
    columns = metadata.columns or ({} if place is None else stored_columns(place, phase_columns(spec.task)))
    return Rerun(run, with_columns_of(spec.task.as_recorded(columns), execute(spec, trace=trace), spec.task), same)
