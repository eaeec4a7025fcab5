"""The shapes of stored results. Unknown keys are errors, numbers are finite, and the JSON Schemas are published."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nematodebench.measures.base import Chemotaxis
from nematodebench.records.plain_text import is_invisible
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.records.stat_value import StoredStatValue
from nematodebench.scoring import ScoreAnchor
from nematodebench.stats import Doubt
from nematodebench.vocabulary import BrainClass

__all__ = [
    "Count",
    "ExperimentMetadata",
    "Line",
    "NormalisedRecord",
    "Provenance",
    "Record",
    "RunRecord",
    "Timing",
]

_LARGEST = 2**63 - 1


def _visible(text: str) -> str:
    """Names are shown: they hold nothing that a terminal or a browser would act on."""
    for character in "" if text.isprintable() else text:
        if is_invisible(character):
            raise ValueError(f"may not contain control or invisible characters (U+{ord(character):04X})")
    return text


def _countable(number: int) -> int:
    """A number of runs or steps fits a machine word: no array could be longer."""
    if number > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST}: nothing was counted so far")
    return number


Count = Annotated[int, AfterValidator(_countable)]
Line = Annotated[str, AfterValidator(_visible)]
"""A text of one line."""
Seed64 = Annotated[int, Field(ge=0, lt=2**64)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_visible)]
IntervalRules = Annotated[
    Literal[1, 2],
    Field(description="1: every interval is 1.96 std/sqrt(n), as in older versions; 2: as EVALUATION.md says"),
]


class Record(BaseModel):
    """Base of everything stored: frozen, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Provenance(Record):
    """Code and machine a result was made with."""

    package_version: Line
    source_hash: Sha256
    git_commit: Line | None
    git_dirty: bool | None
    python: Line
    numpy: Line
    numba: Line
    llvmlite: Line
    torch: Line | None
    platform: Line
    machine: Line
    cpu: Line
    code_generation: Line


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
    metrics: dict[str, float | None] = {}
    descriptors: dict[str, float] = {}
    record_hash: Line = ""
    memory_hash: Line = ""
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


class ExperimentMetadata(Record):
    """A stored session: everything needed to check it and to execute any of its runs again."""

    schema_version: Literal[4] = 4
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
    config_file: Name
    config_hash: Sha256
    session_seed: int = Field(ge=0, lt=2**32)
    num_runs: Count = Field(ge=1)
    episodes_per_run: Count | None
    runs: list[RunRecord]
    score_key: Line = Field(max_length=200, description="empty for a task that is described and never ranked")
    metrics: dict[str, StoredStatValue]
    interval_rules: IntervalRules = 2
    level: Line | None = None
    normalised: NormalisedRecord | None = None
    chemotaxis: Chemotaxis | None = None
    notes: list[Line] = []
    episodes_file: Name = "episodes.parquet"
    provenance: Provenance
    timing: Timing
