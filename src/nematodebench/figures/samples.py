"""What figures show: the runs of one brain on one task, from a stored session or from a cell of a sweep."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

from nematodebench.errors import UsageError
from nematodebench.figures.curves_of_runs import Curves, curves_of
from nematodebench.measures.base import RunRecords
from nematodebench.records.labels import shown_brain
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import stored_columns
from nematodebench.scoring import AnchoredScore
from nematodebench.sessions.checked import load_checked
from nematodebench.sessions.loading import stored_records
from nematodebench.sessions.rerun import folder_of, task_of
from nematodebench.sessions.scores import RunScores, scores_of, scores_of_record, with_todays_intervals
from nematodebench.sessions.session import phase_columns
from nematodebench.sessions.sweep import SweepStore
from nematodebench.stats import StatValue
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors, normalise
from nematodebench.tasks.base import Task, trained_id
from nematodebench.tasks.registry import get_task

__all__ = ["CellRun", "Sample", "SweepCell", "best_first", "distinct", "sample_of_session", "samples_of_sweep"]


@dataclass(frozen=True)
class CellRun:
    """A run of a sweep; the score is None where it has none."""

    number: int
    seed: int
    status: str
    score: float | None


@dataclass(frozen=True)
class SweepCell:
    """What a sweep stores of one brain with one config on one task.

    Attributes:
        place: The folder of the sweep.
        task: Id of the task.
        brain: Name of the brain.
        session_seed: What the seeds of the runs follow from.
        config: All parameters of the brain.
        runs: Its runs, in order.
        key: Tells it from other cells of this sweep and of others.
    """

    place: str
    task: str
    brain: str
    session_seed: int
    config: Mapping[str, Any]
    runs: tuple[CellRun, ...]
    key: str


@dataclass(frozen=True)
class Sample:
    """The runs of one brain on one task.

    Attributes:
        label: What the brain is called in figures and tables.
        task: What it was run on.
        scores: One score for each run that has one.
        metrics: Every metric over the runs.
        detail: What tells it from another sample with the same label.
        runs: How many runs were wanted; those without a score are missing, and are said to be.
        record: Of a stored session.
        place: Its folder.
        cell: Of a sweep.
    """

    label: str
    task: Task
    scores: RunScores
    metrics: Mapping[str, StatValue]
    detail: str
    runs: int
    record: ExperimentMetadata | None = None
    place: Path | None = None
    cell: SweepCell | None = None

    @property
    def score(self) -> StatValue | None:
        """The headline metric with its interval."""
        return self.metrics.get(self.task.score_key) or self.scores.summary

    @cached_property
    def anchors(self) -> TaskAnchors | None:
        """What its scores are read against; of a task with another length, those of the task itself."""
        return load_anchors(get_task(trained_id(self.task.id) or self.task.id))

    @cached_property
    def normalised(self) -> AnchoredScore | None:
        """The share of the gap from chance to the ceiling that was closed."""
        return normalise(self.scores.values.tolist(), self.anchors, self.scores.pseudo)

    @cached_property
    def curves(self) -> Curves | None:
        """How its runs learned; None for runs of which no episodes are stored."""
        task, episodes = self.episodes()
        finished = [run.run for run in self.record.runs if run.status == "finished"] if self.record else []
        return curves_of(task, [episodes[run] for run in finished if run in episodes])

    def episodes(self) -> tuple[Task, Mapping[int, RunRecords]]:
        """The stored episodes of every run, and the task with the columns that they have; none where none are kept."""
        if self.record is None or self.place is None:
            return self.task, {}
        known = phase_columns(self.task)
        recorded = self.task.as_recorded(self.record.columns or stored_columns(self.place, known))
        return recorded, stored_records(self.place, phase_columns(recorded))


def sample_of_session(place: Path) -> Sample:
    """The runs of a stored session whose numbers follow from its episodes. No brain is imported for it."""
    record = with_todays_intervals(load_checked(place))
    label = shown_brain(record.brain, record.brain_config) + ", learning off" * bool(trained_id(record.task))
    return Sample(
        label, task_of(record), scores_of_record(record), record.metrics, f"seed {record.session_seed}",
        record.num_runs, record, folder_of(place),
    )  # fmt: skip


def samples_of_sweep(folder: Path) -> list[Sample]:
    """The cells of a sweep, in the order of its table."""
    import polars as pl

    frame = SweepStore(folder).combined()
    names = [name for name in frame.columns if name.startswith("parameter.")]
    try:
        cells = frame.partition_by("task", "brain", *names, maintain_order=True)
        return [_sample(cell, names, _cell(cell, folder, n)) for n, cell in enumerate(cells)]
    except UsageError:
        raise
    except (pl.exceptions.PolarsError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = str(error).partition("\n")[0]
        raise UsageError(f"{folder / 'sweep.parquet'} is not the table of a sweep: {what}.") from error


def _cell(frame: Any, folder: Path, number: int) -> SweepCell:
    first = frame.row(0, named=True)
    runs = [
        CellRun(int(row["run"]), int(row["seed"], 16), row["status"], row["score"])
        for row in frame.iter_rows(named=True)
    ]
    return SweepCell(
        str(folder), first["task"], first["brain"], int(first["session_seed"]), json.loads(first["config"]),
        tuple(runs), f"sweep-{crc32(str(folder).encode()):08x}-{number}",
    )  # fmt: skip


def _sample(frame: Any, names: Sequence[str], cell: SweepCell) -> Sample:
    first = frame.row(0, named=True)
    task = get_task(first["task"])
    values = {name.removeprefix("parameter."): first[name] for name in names if first[name] is not None}
    metrics = [name for name in frame.columns if name.startswith("metric.")]
    runs = {
        int(row["seed"], 16): {name.removeprefix("metric."): row[name] for name in metrics}
        for row in frame.iter_rows(named=True)
        if row["status"] == "finished"
    }
    known = [name for name in next(iter(runs.values()), {}) if any(run[name] is not None for run in runs.values())]
    detail = ", ".join(f"{key}={value}" for key, value in values.items())
    label = " ".join(filter(None, [first["brain"], detail]))
    summary = task.scoring.summarise(list(runs.values()), {}, known) if runs else {}
    return Sample(label, task, scores_of(task, runs), summary, detail, len(frame), cell=cell)


def best_first(samples: Sequence[Sample]) -> list[Sample]:
    """The samples by their means; those without a score are the last."""
    return sorted(samples, key=lambda one: -(one.score.mean if one.score else float("-inf")))


def distinct(samples: Sequence[Sample]) -> list[Sample]:
    """The same samples with labels that tell those of one task apart: by their detail, and by number if need be."""
    found: list[Sample] = []
    for sample in samples:
        rivals = [one for one in samples if one.label == sample.label and one.task.id == sample.task.id]
        label = sample.label if len(rivals) == 1 else f"{sample.label} ({sample.detail or 'sweep'})"
        taken = [one.label for one in found if one.task.id == sample.task.id]
        count = sum(name.partition(" no. ")[0] == label for name in taken)
        found.append(replace(sample, label=f"{label} no. {count + 1}" if count else label))
    return found
