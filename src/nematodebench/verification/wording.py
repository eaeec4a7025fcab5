"""What a signed record may say beside its numbers: which tests, which files, which environment, which class."""

from collections.abc import Iterator, Sequence
from typing import Final

from nematodebench.measures.base import Chemotaxis
from nematodebench.measures.chemotaxis import counted
from nematodebench.records.locked import LOCK
from nematodebench.records.memory_hash import memory_kind
from nematodebench.records.plain_text import plain
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.stats import smallest_exchange_p_value
from nematodebench.submissions.compare import differences
from nematodebench.verification.claim import deciding_unit
from nematodebench.verification.statement import FreshRun, Result
from nematodebench.vocabulary import OPEN

__all__ = ["TEST", "invented"]

TEST: Final = "every claimed run gives identical bits"
"""The one test that a verification is."""


def invented(result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    """Everything that a record says and no verification would."""
    if (result.passedTests, result.failedTests) not in (([TEST], []), ([], [TEST])):
        yield "its tests are others than the one there is"
    if [one.name for one in result.configuration] not in ([], [LOCK]):
        yield f"its configuration is something else than {LOCK}"
    if result.brain_class is not None and submission.brain_class != OPEN:
        yield f"it assigns a class to {result.brain}, which is part of this repository"
    runs = [run for session in result.sessions for run in session.runs]
    if any(run.memory_hash is not None and memory_kind(run.memory_hash) is None for run in runs):
        yield "the hash of a run's memory is none"
    expected = set(submission.metrics.by_name())
    if result.sessions and set(result.metrics) != expected:
        yield f"its metrics are others than the task's: {plain(', '.join(sorted(set(result.metrics) ^ expected)))}"
    if len({frozenset(run.metrics) for run in runs}) > 1:
        yield "its runs do not all have the same metrics"
    yield from _hashes(runs)
    yield from _unit(result, submission)
    yield from _assay(result.chemotaxis, submission, len(runs))


def _hashes(runs: Sequence[FreshRun]) -> Iterator[str]:
    """Runs with one hash had the same episodes, so all their metrics are the same as well."""
    first: dict[str, FreshRun] = {}
    for run in runs:
        if first.setdefault(run.record_hash, run).metrics != run.metrics:
            yield f"two runs have the hash {run.record_hash[:12]}, and other metrics"
            return


def _unit(result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    """Sessions decide whether a claim is too good wherever there are enough of them."""
    if result.claim is None or not result.sessions:
        return
    unit = deciding_unit(len(submission.sessions), len(result.sessions))
    if result.claim.unit != unit:
        yield f"its claim was tested by {result.claim.unit}, though {unit} decide"
    if (
        result.claim.p < smallest_exchange_p_value(len(submission.sessions), len(result.sessions))
        and unit == "sessions"
    ):
        yield f"no exchange of its sessions gives p = {result.claim.p:g}"


def _assay(told: Chemotaxis | None, submission: NematodeBenchSubmission, runs: int) -> Iterator[str]:
    """The plate assay of fresh runs follows from what it counted, and there is one where the task has one."""
    if runs and (told is None) != (submission.chemotaxis is None):
        has, other = ("no", "one") if told is None else ("a", "none")
        yield f"it has {has} plate assay, and the submission has {other}"
    elif told is not None and (told.total != runs or told.attractant + told.control > told.total):
        yield f"{told.attractant} and {told.control} of {told.total} worms in {runs} runs cannot be"
    elif told is not None:
        yield from differences(told, counted(told.attractant, told.control, told.total), "chemotaxis")
