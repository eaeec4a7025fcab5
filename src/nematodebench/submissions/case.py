"""What checks look at: sessions, the submission that claims something of them, and what their episodes say."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.configs import earlier_values
from nematodebench.brains.registry import BrainType, canonical_name, class_of, get_brain, is_built_in
from nematodebench.engine.run import resolve_config, resolve_stored
from nematodebench.errors import UsageError
from nematodebench.measures.base import Chemotaxis, Measurement
from nematodebench.records.bundle_schema import Bundle
from nematodebench.records.schemas import ExperimentMetadata, NormalisedRecord
from nematodebench.records.submission_schema import AggregateMetrics, Environment, NematodeBenchSubmission
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import dump_config
from nematodebench.sessions.recording import measurement_records
from nematodebench.sessions.rerun import is_foreign
from nematodebench.stats import StatValue
from nematodebench.submissions.neighbours import Neighbours
from nematodebench.submissions.sessions import StoredSession
from nematodebench.submissions.tables import Records, read_episodes, recorded_task
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import all_tasks, get_task
from nematodebench.vocabulary import OPEN

__all__ = ["Case", "Findings", "config_disagreement", "full_config", "repeated_seeds"]

_NAMED = [name for name in AggregateMetrics.model_fields if name != "other"]


@dataclass(frozen=True)
class Findings:
    """What follows from the episodes of all sessions: the part of a submission that nobody needs to believe."""

    metrics: AggregateMetrics
    level: str | None
    normalised: NormalisedRecord | None
    chemotaxis: Chemotaxis | None


@dataclass
class Case:
    """Everything that a check may look at. It is computed when it is first asked for."""

    root: Path
    sessions: list[StoredSession]
    trust_code: bool = False
    submission: NematodeBenchSubmission | None = None
    path: Path | None = None
    neighbours: Neighbours | None = None

    @property
    def records(self) -> list[ExperimentMetadata]:
        """The sessions' records."""
        return [session.metadata for session in self.sessions]

    @property
    def first(self) -> ExperimentMetadata:
        """The record all others must agree with."""
        return self.sessions[0].metadata

    @property
    def claims(self) -> NematodeBenchSubmission:
        """The submission under judgement."""
        if self.submission is None:
            raise UsageError("There is no submission to check yet.")
        return self.submission

    @cached_property
    def task(self) -> Task:
        """The registered task; an alias or another version is not good enough here."""
        if self.first.task not in all_tasks():
            raise UsageError(f"Task {self.first.task!r} is not registered in this installation.")
        return get_task(self.first.task)

    @property
    def bundle(self) -> Bundle | None:
        """The source of a brain from outside this repository, where the submission carries it."""
        return None if self.submission is None else self.submission.bundle

    @cached_property
    def brain(self) -> BrainType:
        """The brain's class. Somebody's code is not even imported unless it is trusted; that of a bundle never is."""
        if self.bundle is not None:
            raise UsageError(
                f"Brain {self.bundle.entry!r} is in a bundle: it is executed in a sandbox, never imported."
            )
        if is_foreign(self.first.brain) and not self.trust_code:
            raise UsageError(
                f"Brain {self.first.brain!r} is not registered in this installation, and the submission carries no "
                "bundle of its source: it cannot be verified."
            )
        return get_brain(self.first.brain)

    @property
    def imported(self) -> BrainType | None:
        """The brain's class; None for a brain in a bundle, of which only the source is known here."""
        return self.brain if self.bundle is None else None

    @cached_property
    def recorded(self) -> list[Task]:
        """The task as each session recorded it."""
        return [recorded_task(session, self.task) for session in self.sessions]

    @cached_property
    def common(self) -> Task:
        """The task with the columns that all sessions recorded."""
        columns: dict[str, list[str]] = {}
        for phases in zip(*(task.phases for task in self.recorded), strict=True):
            first, *others = (phase.columns for phase in phases)
            columns[phases[0].name] = [name for name in first if all(name in other for other in others)]
        return self.task.as_recorded(columns)

    @cached_property
    def episodes(self) -> list[Records]:
        """Every run's episodes, by session."""
        return [read_episodes(session, task) for session, task in zip(self.sessions, self.recorded, strict=True)]

    @cached_property
    def measurements(self) -> list[Measurement]:
        """Metrics of every session, computed here."""
        return [
            task.measure([runs[k] for k in sorted(runs)])
            for task, runs in zip(self.recorded, self.episodes, strict=True)
        ]

    @cached_property
    def findings(self) -> Findings:
        """What the submission must claim, and what is shown of it."""
        return self._findings(older=False)

    @property
    def claimable(self) -> Findings:
        """What the submission must claim by the rules it was made with: older ones have simpler intervals."""
        return self.findings if self.claims.interval_rules == 2 else self._findings(older=True)

    def _findings(self, older: bool) -> Findings:
        rows = [row for session in self.measurements for row in session.runs]
        everything = [
            runs[k] if task == self.common else self.common.selected(runs[k], task)
            for task, runs in zip(self.recorded, self.episodes, strict=True)
            for k in sorted(runs)
        ]
        names = [name for name in self.measurements[0].session if all(name in one.session for one in self.measurements)]
        chemotaxis = self.common.measure(everything).chemotaxis
        pooled = Measurement(rows, {name: self._pool(name) for name in names}, chemotaxis, [], self._pseudo())
        found = measurement_records(self.task, pooled, older)
        metrics = {name: self._pool_older(name) for name in names} if older else found["metrics"]
        named = {name: metrics.pop(name, None) for name in _NAMED}
        return Findings(
            AggregateMetrics(**named, other=metrics), found["level"], found["normalised"], found["chemotaxis"]
        )

    def _pseudo(self) -> dict[str, NDArray[np.float64]]:
        """Pseudo-values of all runs. Each run's is of its own session, because the stability is."""
        names = self.measurements[0].pseudo
        return {name: np.concatenate([session.pseudo[name] for session in self.measurements]) for name in names}

    def _by_session(self, name: str) -> list[list[float]]:
        """A metric's values by session; where runs do not have it, the one of each session."""
        values = [
            [float(value) for row in session.runs if (value := row.get(name)) is not None]
            for session in self.measurements
        ]
        return values if all(values) else [[session.session[name].mean] for session in self.measurements]

    def _pool(self, name: str) -> StatValue:
        """Summarises a metric over session means, with an interval over all runs."""
        values, measure = self._by_session(name), self.task.scoring
        if name not in self.measurements[0].pseudo:
            return StatValue.pooled(values, share=name in measure.shares())
        return StatValue.pooled(values, [session.pseudo[name] for session in self.measurements])

    def _pool_older(self, name: str) -> StatValue:
        """The same as versions before had it: 1.96 standard errors of all runs, or Student's t over sessions."""
        values = self._by_session(name)
        if all(len(runs) == 1 for runs in values):
            return replace(StatValue.from_values([runs[0] for runs in values], "t"), kind="plain", doubt="")
        return StatValue.plain(values)

    @property
    def brain_class(self) -> str:
        """The class of a brain of this repository; a maintainer assigns that of any other."""
        return class_of(self.brain) if is_built_in(self.first.brain) else OPEN

    @property
    def category(self) -> str:
        """Where the submission belongs."""
        return f"{self.task.category}/{self.brain_class}"

    @property
    def environment(self) -> Environment:
        """The task, as a submission names it."""
        task = self.task
        return Environment(
            task=task.id,
            version=task.version,
            spec_hash=self.first.task_spec_hash,
            world=task.world.name,
            grid_size=getattr(task.world, "side", None),
            episodes_per_run=task.phases[0].episodes or None,
        )


def repeated_seeds(records: list[ExperimentMetadata]) -> list[str]:
    """Every run seed that occurs more than once, with the places."""
    places: dict[int, list[str]] = {}
    for record in records:
        for run in record.runs:
            places.setdefault(run.seed, []).append(f"{record.experiment_id} run {run.run}")
    return [f"seed {seed} is used by {' and '.join(where)}" for seed, where in places.items() if len(where) > 1]


def full_config(name: str, brain: BrainType | None, config: dict[str, Any]) -> dict[str, Any]:
    """A stored config with every parameter the brain has today: what it lacks has the value it meant then."""
    return dict(config) if brain is None else dump_config(resolve_stored(name, brain, config))


def _described(config: SessionConfig, brain: BrainType | None, recorded: dict[str, Any]) -> dict[str, Any]:
    """All parameters of a config file, which may lie beside results of any age.

    A parameter that it leaves out has its default: that of today, or the one before if the session was run with it. The
    defaults of a brain in a bundle are not known here; verification executes what is recorded.
    """
    if brain is None:
        return {**recorded, **config.config}
    older = {key: value for key, value in earlier_values(brain).items() if recorded.get(key) == value}
    return dump_config(resolve_config(config.brain, brain, {**older, **config.config}))


def config_disagreement(config: SessionConfig, record: ExperimentMetadata, brain: BrainType | None) -> str | None:
    """In what a config differs from a session, seeds and number of runs aside; None if it says the same."""
    try:
        task = get_task(config.task).with_episodes(config.episodes)
        recorded = full_config(record.brain, brain, record.brain_config)
        resolved = _described(config, brain, recorded)
    except UsageError as error:
        return str(error)
    for name, theirs, ours in (
        ("task", task.id, record.task),
        ("brain", canonical_name(config.brain), canonical_name(record.brain)),
        ("parameters", resolved, recorded),
        ("episodes", task.changes_since(record.task_spec), []),
    ):
        if theirs != ours:
            return (
                f"its {name} differ"
                if name in {"parameters", "episodes"}
                else f"its {name} is {theirs!r}, not {ours!r}"
            )
    return None
