"""Tests a claim again, from the sessions of the submission and the fresh runs of a record."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nematodebench.errors import UsageError
from nematodebench.measures.base import RunMetrics
from nematodebench.records.submission_schema import NematodeBenchSubmission, SessionReference
from nematodebench.submissions.compare import differences
from nematodebench.submissions.sessions import open_session
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import get_task
from nematodebench.verification.claim import Rows, claim_p_value
from nematodebench.verification.statement import Result

__all__ = ["untested_claim"]

Sessions = Sequence[Sequence[RunMetrics]]


def untested_claim(root: Path, result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    """What a record says of the claim, and the sessions do not give; nothing where they are damaged."""
    if result.claim is None or not result.sessions:
        return
    task, key = get_task(result.task), result.score_key
    claimed: list[list[RunMetrics]] = []
    for reference in submission.sessions:
        found = _stored(root, reference)
        if found is None:
            return
        claimed.append(found)
    fresh = [[run.metrics for run in session.runs] for session in result.sessions]
    p, by_session = claim_p_value(
        _values(claimed, key), _values(fresh, key), _pseudo(claimed, task, key), _pseudo(fresh, task, key)
    )
    yield from differences(result.claim.p, p, "claim.p")
    unit = "sessions" if by_session else "runs"
    if result.claim.unit != unit:
        yield f"its claim was tested by {result.claim.unit}, though {unit} decide"


def _stored(root: Path, reference: SessionReference) -> list[RunMetrics] | None:
    """The metrics of a claimed session's runs; None if it is not what was submitted."""
    try:
        session = open_session(root, reference.file_path.rpartition("/")[0])
    except UsageError:
        return None
    if hashlib.sha256(session.files[session.record_name]).hexdigest() != reference.metadata_sha256:
        return None
    return [run.metrics for run in session.metadata.runs]


def _values(sessions: Sessions, key: str) -> Rows:
    return [np.array([row[key] for row in session if row.get(key) is not None], np.float64) for session in sessions]


def _pseudo(sessions: Sessions, task: Task, key: str) -> Rows | None:
    found = [task.scoring.pseudo_values(list(session)) for session in sessions]
    return [one[key] for one in found] if all(key in one for one in found) else None
