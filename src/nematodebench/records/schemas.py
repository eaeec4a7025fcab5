"""The shapes of stored results. Unknown keys are errors, numbers are finite, and the JSON Schemas are published."""

from typing import Annotated, Any, Literal

from pydantic import Field

from nematodebench.measures.base import Chemotaxis
from nematodebench.records.basic_schemas import Count, Line, Name, Provenance, Record, Seed64, SessionSeed, Sha256
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.records.stat_value import StoredStatValue
from nematodebench.scoring import ScoreAnchor
from nematodebench.stats import Doubt
from nematodebench.vocabulary import BrainClass

__all__ = [
    "ContinuedFrom",
    "Count",
    "ExperimentMetadata",
    "Line",
    "Name",
    "NormalisedRecord",
    "Provenance",
    "Record",
    "RunRecord",
    "RunShape",
    "RunsTable",
    "Seed64",
    "SessionSeed",
    "Sha256",
    "Timing",
]


IntervalRules = Annotated[
    Literal[1, 2],
    Field(description="1: every interval is 1.96 std/sqrt(n), as in older versions; 2: as EVALUATION.md says"),
]


class Timing(Record):
    """Everything that differs between two executions of the same session, and nothing else does."""

    created: Line
    finished: Line
    wall_seconds: float = Field(ge=0)
    steps_per_second: float = Field(ge=0)
    workers: int = Field(ge=1)
    executor: Line


class RunRecord(Record):
    """One run: its seed, metrics, and the hashes its re-execution must give again."""

    run: Count = Field(ge=0)
    seed: Seed64
    status: Literal["finished", "failed", "missing"]
    metrics: dict[str, float | None] = Field({})
    descriptors: dict[str, float] = Field({})
    record_hash: Line = ""
    memory_hash: Line | None = Field("", description="null where the brain's memory cannot be had")
    steps: Count = Field(0, ge=0)
    failure: RunFailure | None = None

    @classmethod
    def of(cls, result: RunResult) -> "RunRecord":
        """What is stored of a run: everything but its episodes, which are in the session's table."""
        return cls(
            run=result.index,
            seed=result.seed,
            status="failed" if result.failure else "finished",
            metrics=dict(result.metrics),
            descriptors=result.descriptors,
            record_hash=result.record_hash,
            memory_hash=result.memory_hash,
            steps=result.steps,
            failure=result.failure,
        )


class ContinuedFrom(Record):
    """The saved brain that the runs of a session began with."""

    sha256: Sha256 = Field(description="of its file, which is kept with the session")
    task: Name = Field(description="the task it was trained on")
    seed: Seed64 = Field(description="of the run it comes from")
    episode: Count = Field(ge=0, description="episodes of that run")


class NormalisedRecord(Record):
    """The share of the gap from floor to ceiling that was closed."""

    score: float = Field(ge=0, le=1)
    unclamped: float
    se: float | None
    ci95: tuple[float, float] | None = Field(
        None, description="of the unclamped score; null for one run and in results of older versions"
    )
    doubt: Doubt = ""
    floor: ScoreAnchor
    ceiling: ScoreAnchor


class RunShape(Record):
    """The metrics and descriptors that a run has, in order."""

    metrics: list[Name]
    descriptors: list[Name]


class RunsTable(Record):
    """The runs of a session in a file of their own, runs.parquet beside the record."""

    sha256: Sha256 = Field(description="of the file")
    shapes: list[RunShape] = Field(max_length=1000, description="by the number in the table's column shape")


class ExperimentMetadata(Record):
    """A stored session: everything needed to check it and to execute any of its runs again."""

    schema_version: Literal[7] = 7
    experiment_id: Name
    task: Name
    task_spec_hash: Sha256
    task_spec: dict[str, Any]
    columns: dict[str, list[str]] = Field(
        description="what is recorded of every episode of a phase, in order; empty where only the table says so"
    )
    official: bool
    brain: Name
    brain_class: BrainClass
    brain_config: dict[str, Any]
    brain_source_hash: Line | None = None
    continued_from: ContinuedFrom | None = Field(None, description="null where every run began with a fresh brain")
    config_file: Name
    config_hash: Sha256
    session_seed: SessionSeed
    num_runs: Count = Field(ge=1)
    episodes_per_run: Count | None
    runs: list[RunRecord] = Field(description="empty where they are a table in a file of their own")
    runs_table: RunsTable | None = None
    score_key: Line = Field(max_length=200, description="empty for a task that is described and never ranked")
    metrics: dict[str, StoredStatValue]
    interval_rules: IntervalRules = 2
    level: Line | None = None
    normalised: NormalisedRecord | None = None
    chemotaxis: Chemotaxis | None = None
    notes: list[Line] = Field([])
    episodes_file: Name = "episodes.parquet"
    provenance: Provenance
    timing: Timing
