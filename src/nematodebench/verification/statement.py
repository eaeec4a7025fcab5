"""What a verification states: an in-toto statement with the result of a test, about the bytes of one submission."""

from dataclasses import replace
from typing import Final, Literal

import numpy as np
from pydantic import ConfigDict, Field

from nematodebench.measures.base import Chemotaxis
from nematodebench.records.basic_schemas import Day, Line
from nematodebench.records.schemas import Name, NormalisedRecord, Provenance, Record, Seed64, SessionSeed, Sha256
from nematodebench.records.stat_value import StoredStatValue
from nematodebench.records.submission_schema import ExperimentId, RelativePath
from nematodebench.stats import Doubt, doubt, share_doubt
from nematodebench.vocabulary import BrainClass

__all__ = [
    "PREDICATE", "WITHDRAWAL", "ClaimTest", "Executed", "FreshRun", "FreshSession", "Outcome", "Result", "Statement",
    "Subject", "Summary", "Withdrawal", "WithdrawalStatement",
]  # fmt: skip

PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
WITHDRAWAL: Final = "https://in-toto.io/attestation/test-result/v0.1#withdrawn"
_TYPE: Final = "https://in-toto.io/Statement/v1"


class Digest(Record):
    """The hash of a subject's bytes."""

    sha256: Sha256


class Subject(Record):
    """A file that the statement is about."""

    name: RelativePath
    digest: Digest


class FreshRun(Record):
    """A run on a seed that the verifier drew."""

    seed: Seed64
    record_hash: Sha256
    memory_hash: str | None = Field(max_length=80)
    metrics: dict[str, float | None]


class FreshSession(Record):
    """A session on a seed that follows from the challenge and the submission's bytes."""

    session_seed: SessionSeed
    runs: list[FreshRun] = Field(min_length=1)


class Executed(Record):
    """How many of the claimed runs were executed again, and which of them did not come out the same."""

    claimed: int = Field(ge=1)
    executed: int = Field(ge=0)
    identical: int = Field(ge=0)
    different: list[Line] = Field(default=[], max_length=20, description="each with the reason where its run failed")


class ClaimTest(Record):
    """The claimed score against the fresh one, one-sided: is the claim too good to be true?

    The unit is the session where there are enough of them, because whoever chooses seeds chooses sessions.
    """

    claimed_mean: float
    fresh_mean: float
    p: float = Field(ge=0, le=1)
    too_good: bool
    unit: Literal["sessions", "runs"] = "runs"


class Configuration(Record):
    """The environment lock that the verifier ran with."""

    name: Name
    digest: Digest


class Outcome(Record):
    """What came out of a verification, without the fresh runs."""

    result: Literal["PASSED", "FAILED"]
    configuration: list[Configuration] = Field(max_length=1)
    passedTests: list[Name] = Field(max_length=1)  # noqa: N815  (names of the format)
    failedTests: list[Name] = Field(max_length=1)  # noqa: N815
    submission_id: ExperimentId
    task: Name
    brain: Name
    brain_class: BrainClass | None = Field(
        None, description="assigned by the maintainer who verified; null for a brain of this repository, or if unknown"
    )
    challenge: Sha256
    seed_bits: Literal[32, 53] = Field(
        32,
        description="of a fresh session seed; 32 could be found by trying, in an hour or so, and stand in old records",
    )
    reexecution: Executed
    score_key: Name
    metrics: dict[str, StoredStatValue]
    level: str | None
    normalised: NormalisedRecord | None
    chemotaxis: Chemotaxis | None
    claim: ClaimTest | None
    provenance: Provenance
    started: str
    finished: str


class Summary(Outcome):
    """What the board shows of a verification, with the fresh runs counted."""

    session_seeds: list[int] = Field(description="of the fresh sessions")
    fresh_runs: int = Field(ge=0)


class Result(Outcome):
    """The predicate: a test's result in the words of in-toto, and everything somebody needs to repeat the test."""

    sessions: list[FreshSession]

    def summary(self) -> Summary:
        """The same with the fresh runs counted, and with the marks of today."""
        seeds, runs = [one.session_seed for one in self.sessions], sum(len(one.runs) for one in self.sessions)
        shared = {name: getattr(self, name) for name in Outcome.model_fields}
        shared["metrics"] = {
            name: replace(value, doubt=self._doubt(name, value.kind == "wilson", value.doubt))
            for name, value in self.metrics.items()
        }
        if self.normalised is not None:
            why = self._doubt(self.score_key, False, self.normalised.doubt)
            shared["normalised"] = self.normalised.model_copy(update={"doubt": why})
        return Summary(**shared, session_seeds=seeds, fresh_runs=runs)

    def _doubt(self, name: str, share: bool, signed: Doubt) -> Doubt:
        """Why an interval may cover too rarely: as signed, or what is looked for today in the fresh runs."""
        found = [run.metrics.get(name) for session in self.sessions for run in session.runs]
        values = np.array([value for value in found if value is not None])
        if signed or not values.size or values.size < len(found):
            return signed
        return share_doubt(float(values.sum()), values.size) if share else doubt(values)


class _Statement(Record):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(_TYPE, alias="_type")
    subject: list[Subject] = Field(min_length=1)


class Statement(_Statement):
    """What is signed about a verified submission."""

    predicateType: Literal["https://in-toto.io/attestation/test-result/v0.1"] = PREDICATE  # noqa: N815
    predicate: Result


class Withdrawal(Record):
    """Why an entry leaves the board."""

    submission_id: ExperimentId
    reason: Name
    date: Day


class WithdrawalStatement(_Statement):
    """What a maintainer signs to take an entry off the board; its files stay."""

    predicateType: Literal["https://in-toto.io/attestation/test-result/v0.1#withdrawn"] = WITHDRAWAL  # noqa: N815
    predicate: Withdrawal
