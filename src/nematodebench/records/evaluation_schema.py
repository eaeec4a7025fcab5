"""The shape of an evaluation report: every check with its outcome, and which runs were executed again."""

from typing import Literal

from pydantic import Field

from nematodebench.measures.base import Chemotaxis
from nematodebench.records.schemas import NormalisedRecord, Record, Seed64, Sha256
from nematodebench.records.stat_value import StoredStatValue
from nematodebench.records.submission_schema import AggregateMetrics, ExperimentId

__all__ = ["CheckResult", "EvaluationReport", "Reexecution", "Reproduction"]


class CheckResult(Record):
    """The result of one check; where it did not pass, it says what is wrong and what to do."""

    name: str
    outcome: Literal["PASS", "WARN", "FAIL", "SKIP"]
    message: str
    advice: str = ""


class Reexecution(Record):
    """One run, executed again from its seed."""

    experiment_id: ExperimentId
    run: int = Field(ge=0)
    seed: Seed64
    outcome: Literal["identical", "within", "different"]
    message: str = ""


class Reproduction(Record):
    """A fresh random choice of runs, executed again here."""

    runs: list[Reexecution]
    total_runs: int = Field(ge=1)
    same_platform: bool
    passed: bool

    def count(self, outcome: str) -> int:
        """How many runs have this outcome."""
        return sum(run.outcome == outcome for run in self.runs)


class EvaluationReport(Record):
    """What an evaluation found. Scores are those computed here from the episodes, never the claimed ones."""

    schema_version: Literal[3] = 3
    submission: str
    submission_sha256: Sha256
    submission_id: str | None = None
    evaluated: str
    package_version: str
    source_hash: Sha256
    passed: bool
    checks: list[CheckResult]
    category: str | None = None
    score_key: str | None = None
    score: StoredStatValue | None = None
    metrics: AggregateMetrics | None = None
    level: str | None = None
    normalised: NormalisedRecord | None = None
    chemotaxis: Chemotaxis | None = None
    reproduction: Reproduction | None = None

    @property
    def failures(self) -> list[CheckResult]:
        """The checks that failed."""
        return [check for check in self.checks if check.outcome == "FAIL"]
