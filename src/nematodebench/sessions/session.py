"""The results of a session: its runs, their metrics, and the record that is stored of them."""

import hashlib
import html
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nematodebench.brains.registry import class_of
from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.spec import RunSpec
from nematodebench.engine.trained import TrainedBrain
from nematodebench.errors import UsageError
from nematodebench.kernels.target import code_generation
from nematodebench.measures.base import Measurement
from nematodebench.records.basic_schemas import Provenance
from nematodebench.records.episodes import PhaseColumns, episodes_frame, write_frame
from nematodebench.records.labels import shown_brain
from nematodebench.records.provenance import collect_provenance
from nematodebench.records.runs import RunResult
from nematodebench.records.schemas import ExperimentMetadata, RunRecord, Timing
from nematodebench.records.store import EXPERIMENTS, ExperimentStore
from nematodebench.sessions.brains import brain_of_run
from nematodebench.sessions.plan import Plan, dump_config
from nematodebench.sessions.recording import brain_file, brain_source_hash, continued_record, measurement_records
from nematodebench.tasks.base import Task

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EXPERIMENTS", "Metrics", "Run", "Session", "phase_columns"]


@dataclass(frozen=True, repr=False)
class Run(RunResult):
    """One run of a session; its brain can be had."""

    spec: RunSpec | None = field(default=None, repr=False, compare=False)

    def brain(self) -> TrainedBrain:
        """The brain that the run has left: read from its last checkpoint if there is one, otherwise executed again."""
        if self.spec is None:
            raise UsageError(f"Run {self.index} does not belong to a session any more: it has no brain.")
        return brain_of_run(self.spec, self)


@dataclass(repr=False)
class Session:
    """The results of a session."""

    plan: Plan
    results: list[RunResult]
    created: str
    finished: str
    wall_seconds: float
    experiment_id: str
    stored: ExperimentMetadata | None = None
    """The record of a session that was read and not run."""

    @cached_property
    def measurement(self) -> Measurement:
        """Metrics of the finished runs."""
        with standard_floats():
            return self.plan.task.measure([result.records for result in self.finished_runs])

    @property
    def finished_runs(self) -> list[RunResult]:
        """Runs that have a result."""
        return [result for result in self.results if result.failure is None]

    @property
    def failed_runs(self) -> list[RunResult]:
        """Runs that failed. They are shown as failed and never scored."""
        return [result for result in self.results if result.failure is not None]

    @cached_property
    def metrics(self) -> "Metrics":
        """Summaries by name: ``session.metrics.success_rate``."""
        return Metrics(self.measurement.session)

    @cached_property
    def runs(self) -> list[Run]:
        """Every run with seed, metrics and hashes."""
        table, specs = iter(self.measurement.runs), {spec.index: spec for spec in self.plan.specs()}
        return [
            Run(**{**vars(result), "metrics": {} if result.failure else next(table), "spec": specs.get(result.index)})
            for result in self.results
        ]

    @cached_property
    def episodes(self) -> "pl.DataFrame":
        """The episodes of all finished runs as a polars frame, one row for each episode."""
        return episodes_frame(phase_columns(self.plan.task), {r.index: r.records for r in self.finished_runs})

    @property
    def steps(self) -> int:
        """Training steps of all finished runs."""
        return sum(result.steps for result in self.finished_runs)

    def __repr__(self) -> str:
        plan, failed = self.plan, len(self.failed_runs)
        runs = f"{plan.runs} run{'s' * (plan.runs > 1)}" + (f" ({failed} failed)" if failed else "")
        score, name = (
            self.metrics.get(plan.task.score_key) or "missing",
            shown_brain(plan.brain_name, dump_config(plan.config)),
        )
        return f"<Session {plan.task.id} {name}: {runs}, seed {plan.seed}, {plan.task.score_key} {score}>"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return f"<p>{html.escape(repr(self))}</p>{self.metrics._repr_html_()}"

    def metadata(self) -> ExperimentMetadata:
        """The record that is stored."""
        if self.stored is not None:
            return self.stored
        plan = self.plan
        return ExperimentMetadata(
            experiment_id=self.experiment_id,
            task=plan.task.id,
            task_spec_hash=plan.task.spec_hash,
            task_spec=dict(plan.task.spec()),
            columns={phase.name: list(phase.columns) for phase in plan.task.phases},
            official=plan.task.official,
            brain=plan.brain_name,
            brain_class=cast("Any", class_of(plan.brain)),  # checked by the schema
            brain_config=dump_config(plan.config),
            brain_source_hash=plan.brain_sha256,
            continued_from=continued_record(plan.start),
            config_file=plan.config_name,
            config_hash=hashlib.sha256(plan.config_text.encode()).hexdigest(),
            session_seed=plan.seed,
            num_runs=plan.runs,
            episodes_per_run=plan.task.phases[0].episodes or None,
            runs=[RunRecord.of(run) for run in self.runs],
            score_key=plan.task.score_key,
            **measurement_records(plan.task, self.measurement),
            provenance=self._provenance(),
            timing=self._timing(),
        )

    def _provenance(self) -> Provenance:
        found = collect_provenance(code_generation(), brain_file(self.plan.brain))
        if brain_source_hash(self.plan.brain) == self.plan.brain_sha256:
            return found
        return found.model_copy(update={"brain_dirty": True})  # it was edited meanwhile: no commit is known to have it

    def _timing(self) -> Timing:
        return Timing(
            created=self.created,
            finished=self.finished,
            wall_seconds=self.wall_seconds,
            steps_per_second=self.steps / max(self.wall_seconds, 1e-9),
            workers=self.plan.workers,
            executor=self.plan.executor,
        )

    def store(self, store: ExperimentStore) -> Path:
        """Writes the finished session; returns its folder."""
        if not store.folder.exists():
            store.create({}, self.plan.config_name, self.plan.config_text, self.plan.start)
        buffer = io.BytesIO()
        write_frame(self.episodes, buffer)
        store.finish(self.metadata(), buffer.getvalue())
        return store.folder

    def save(self, root: Path | str = EXPERIMENTS) -> Path:
        """Stores the session under ``root``; returns its folder."""
        return self.store(ExperimentStore(Path(root), self.experiment_id))


class Metrics(Mapping[str, Any]):
    """The summaries of metrics by name, as items or as attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError as error:
            raise AttributeError(
                f"no metric {name!r}; there are: {', '.join(self.__dict__.get('_values', ()))}"
            ) from error

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return "\n".join(f"{name:<24} {value}" for name, value in self._values.items())

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = "".join(f"<tr><td>{name}</td><td>{html.escape(str(value))}</td></tr>" for name, value in self.items())
        return f"<table><tr><th>metric</th><th>mean ± half the 95 % interval</th></tr>{rows}</table>"


def phase_columns(task: Task) -> list[PhaseColumns]:
    """Says what the columns of a task's table of episodes are."""
    return [PhaseColumns(phase.name, phase.columns, phase.world.terminations) for phase in task.phases]
