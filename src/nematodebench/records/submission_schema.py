"""The shape of a submission: ten or more sessions of one brain on one task, and what is claimed to follow from them."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from nematodebench.measures.base import Chemotaxis
from nematodebench.records.bundle_schema import Bundle
from nematodebench.records.plain_text import is_invisible, strange_in_name
from nematodebench.records.schemas import (
    Count,
    IntervalRules,
    Line,
    Name,
    NormalisedRecord,
    Provenance,
    Record,
    Seed64,
    SessionSeed,
    Sha256,
)
from nematodebench.records.stat_value import StoredStatValue
from nematodebench.stats import StatValue
from nematodebench.vocabulary import BrainClass

__all__ = [
    "MAX_RUNS",
    "MIN_RUNS_PER_SESSION",
    "MIN_SESSIONS",
    "AggregateMetrics",
    "Environment",
    "NematodeBenchSubmission",
    "SessionReference",
]

MIN_SESSIONS = 10
MIN_RUNS_PER_SESSION = 50
MAX_RUNS = 1_000_000
"""In all sessions together. The board derives the seeds of every run before anything is judged."""
_PLAIN_PATH = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)
"""What nearly all paths are made of: nothing of it has to be looked at more closely."""
_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"


def _plain(text: str) -> str:
    """Names and notes are shown on the board: no markup, nothing a terminal or a browser would act on."""
    for character in () if text.isascii() and text.isprintable() else text:
        if is_invisible(character):
            raise ValueError(f"may not contain control or invisible characters (U+{ord(character):04X})")
    if "<" in text or ">" in text:
        raise ValueError("may not contain < or >: no markup in names and notes")
    return text


def _readable(text: str) -> str:
    """A name is read by people: it shows something, and it is not made to be taken for another."""
    why = strange_in_name(text)
    if why is not None:
        raise ValueError(why)
    return _plain(text)


def _relative(text: str) -> str:
    """A path inside the repository, written the same on every system."""
    if _PLAIN_PATH.fullmatch(text):
        return text
    if text.startswith("/") or "\\" in text or ":" in text:
        raise ValueError("must be a relative path with forward slashes")
    if any(part in {"", ".", ".."} for part in text.split("/")):
        raise ValueError("may not contain '.', '..' or empty parts")
    return _plain(text)


ShownName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_readable)]
Notes = Annotated[str, Field(max_length=1000), AfterValidator(_plain)]
RelativePath = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_relative)]
ExperimentId = Annotated[str, Field(pattern=_ID)]
BrainName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}$")]


class SessionReference(Record):
    """Where a session of the submission lies, and what its files must be."""

    experiment_id: ExperimentId
    file_path: RelativePath
    session_seed: SessionSeed
    num_runs: int = Field(ge=1, le=1_000_000)
    run_seeds: list[Seed64] = Field(
        max_length=10_000, description="empty for more than 10,000 runs: they follow from the session seed"
    )
    metadata_sha256: Sha256 = Field(description="of the session's record, uncompressed")
    records_sha256: Sha256 | None = Field(None, description="of the record hashes of its runs, in order, one a line")
    episodes_sha256: Sha256 | None = Field(None, description="in version 1, of the bytes of episodes.parquet")
    config_sha256: Sha256


class AggregateMetrics(Record):
    """Metrics over the session means, intervals pooled over all runs; null where the task has no such metric."""

    success_rate: StoredStatValue | None
    composite_score: StoredStatValue | None
    distance_efficiency: StoredStatValue | None
    learning_speed: StoredStatValue | None
    stability: StoredStatValue | None
    other: dict[str, StoredStatValue]

    def by_name(self) -> dict[str, StatValue]:
        """Every metric there is."""
        named = {name: getattr(self, name) for name in type(self).model_fields if name != "other"}
        return {**{name: value for name, value in named.items() if value is not None}, **self.other}


class Environment(Record):
    """The task of the submission."""

    task: Name
    version: Count = Field(ge=0)
    spec_hash: Sha256
    world: Name
    grid_size: int | None = Field(ge=1)
    episodes_per_run: int | None = Field(ge=1)


class NematodeBenchSubmission(Record):
    """A submission. Everything in it but the contributor's words is computed again by whoever checks it."""

    schema_version: Literal[8] = 8
    submission_id: ExperimentId
    timestamp: str = Field(pattern=r"^[0-9]{8}_[0-9]{6}$", description="UTC, when the submission was made")
    brain_type: BrainName
    brain_class: BrainClass | Literal["open"] = Field(
        description="open for a brain from outside this repository, whose class a maintainer assigns"
    )
    brain_config: dict[str, Any]
    bundle: Bundle | None = Field(None, description="the source of a brain from outside this repository")
    environment: Environment
    category: RelativePath
    config_file: RelativePath = Field(description="a config tracked in git that says the same as every session's")
    config_sha256: Sha256
    sessions: list[SessionReference] = Field(min_length=1, max_length=1000)
    total_sessions: Count = Field(ge=1)
    total_runs: Count = Field(ge=1)
    score_key: Name
    metrics: AggregateMetrics
    interval_rules: IntervalRules = 2
    level: Line | None
    normalised: NormalisedRecord | None
    chemotaxis: Chemotaxis | None
    all_seeds_unique: bool
    contributor: ShownName
    github: str | None = Field(None, pattern=r"^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$")
    notes: Notes = ""
    provenance: Provenance

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if (runs := sum(one.num_runs for one in self.sessions)) > MAX_RUNS:
            raise ValueError(f"its sessions have {runs:,} runs: at most {MAX_RUNS:,} are judged")
        return self

    @property
    def score(self) -> StatValue | None:
        """The headline metric."""
        return self.metrics.by_name().get(self.score_key)
