"""Computes again what a signed record says. A signature tells who wrote it, and not that it is true."""

import datetime
import math
from collections.abc import Iterator

import numpy as np

from nematodebench.engine.seeds import run_seed
from nematodebench.measures.base import Measurement
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.sessions.recording import normalised_record
from nematodebench.stats import StatValue
from nematodebench.submissions.compare import differences
from nematodebench.submissions.store import submission_path
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import all_tasks, get_task
from nematodebench.verification import challenge
from nematodebench.verification.claim import TOO_GOOD
from nematodebench.verification.statement import Result, Statement, WithdrawalStatement
from nematodebench.verification.wording import invented

__all__ = ["contradictions"]

_LONG_SEEDS_SINCE = datetime.datetime(2026, 11, 18, 4, tzinfo=datetime.UTC)
"""No verification since then draws fresh seeds of 32 bits."""


def contradictions(
    statement: Statement | WithdrawalStatement, submission: NematodeBenchSubmission, digest: str
) -> Iterator[str]:
    """Everything in a statement that does not follow from the submission, from the challenge or from its own runs."""
    place = submission_path(submission.category, submission.timestamp)
    if statement.subject[0].name != place:
        yield f"its first subject is {statement.subject[0].name!r}, not {place!r}"
    if statement.predicate.submission_id != submission.submission_id:
        yield f"it is about {statement.predicate.submission_id!r}, but the submission is {submission.submission_id!r}"
    if isinstance(statement, WithdrawalStatement):
        yield from _withdrawn_on(statement.predicate.date, submission)
        return
    if statement.predicate.task not in all_tasks():
        yield f"task {statement.predicate.task!r} does not exist"
        return
    yield from _subjects(statement, submission)
    yield from _identity(statement.predicate, submission)
    yield from _counts(statement.predicate, submission)
    yield from _seeds(statement.predicate, submission, digest)
    yield from _times(statement.predicate, submission)
    yield from invented(statement.predicate, submission)
    if statement.predicate.sessions:
        yield from _scores(statement.predicate, submission, get_task(statement.predicate.task))


def _subjects(statement: Statement, submission: NematodeBenchSubmission) -> Iterator[str]:
    named = [(one.name, one.digest.sha256) for one in statement.subject[1:]]
    if named != [(one.file_path, one.metadata_sha256) for one in submission.sessions]:
        yield "its subjects are not the sessions of the submission"


def _identity(result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    pairs = (
        ("task", result.task, submission.environment.task),
        ("brain", result.brain, submission.brain_type),
        ("score_key", result.score_key, submission.score_key),
    )
    for name, theirs, ours in pairs:
        if theirs != ours:
            yield f"its {name} is {theirs!r}, but the submission's is {ours!r}"


def _counts(result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    done = result.reexecution
    if done.claimed != submission.total_runs:
        yield f"it says {done.claimed} runs are claimed, but the submission claims {submission.total_runs}"
    if not 1 <= done.executed <= done.claimed or not 0 <= done.identical <= done.executed:
        yield f"{done.identical} identical of {done.executed} executed of {done.claimed} claimed runs cannot be"
    if min(done.executed - done.identical, 20) != len(done.different):
        yield f"{done.executed - done.identical} runs came out otherwise, but it names {len(done.different)}"
    good = done.identical == done.executed
    if (result.result == "PASSED") != good or (result.result == "PASSED") == bool(result.failedTests):
        yield f"it says {result.result}, though {done.identical} of {done.executed} runs are identical"


def _seeds(result: Result, submission: NematodeBenchSubmission, digest: str) -> Iterator[str]:
    taken = {reference.session_seed for reference in submission.sessions}
    runs = submission.sessions[0].num_runs
    wanted = min(len(submission.sessions), math.ceil(result.reexecution.executed / runs))
    if len(result.sessions) != wanted or any(len(session.runs) != runs for session in result.sessions):
        yield f"it has not {wanted} fresh sessions of {runs} runs each"
        return
    if [one.session_seed for one in result.sessions] != challenge.session_seeds(
        result.challenge, digest, wanted, taken, result.seed_bits
    ):
        yield "a fresh session seed does not follow from its challenge and the submission's bytes"
    for session in result.sessions:
        if [run.seed for run in session.runs] != [run_seed(session.session_seed, k) for k in range(runs)]:
            yield f"the seeds of its runs do not follow from session seed {session.session_seed}"
            return


def _times(result: Result, submission: NematodeBenchSubmission) -> Iterator[str]:
    try:
        made = datetime.datetime.strptime(submission.timestamp, "%Y%m%d_%H%M%S").replace(tzinfo=datetime.UTC)
        started, finished = (datetime.datetime.fromisoformat(text) for text in (result.started, result.finished))
        if any(text != time.astimezone(datetime.UTC).isoformat(timespec="seconds")
               for text, time in ((result.started, started), (result.finished, finished))):  # fmt: skip
            yield "its times are not written in UTC, to the second"
        if result.seed_bits < challenge.SEED_BITS and started >= _LONG_SEEDS_SINCE:
            yield f"its fresh seeds have {result.seed_bits} bits, which a brain could search: at its time they had more"
        soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=10)
        if not made <= started + datetime.timedelta(seconds=1) or not started <= finished <= soon:
            yield "it was not made after the submission, or not before now"
    except (ValueError, TypeError, OverflowError):
        yield "its times are no dates"


def _withdrawn_on(date: str, submission: NematodeBenchSubmission) -> Iterator[str]:
    """A withdrawal is made on a day that there is, after the submission and not in the future."""
    tomorrow = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)).date().isoformat()
    made = f"{submission.timestamp[:4]}-{submission.timestamp[4:6]}-{submission.timestamp[6:8]}"
    if not made <= date <= tomorrow:
        yield f"it withdraws on {date}, which is before the submission or in the future"


def _scores(result: Result, submission: NematodeBenchSubmission, task: Task) -> Iterator[str]:
    """Every metric that runs have, its interval, the level and the normalised score, from the fresh runs."""
    sessions = [[run.metrics for run in session.runs] for session in result.sessions]
    rows = [row for session in sessions for row in session]
    pseudo = [task.scoring.pseudo_values(session) for session in sessions]
    score = result.metrics.get(task.score_key)
    if score is None or not all(row.get(task.score_key) is not None for row in rows):
        yield f"its metrics, or those of its runs, lack the score, {task.score_key}"
        return
    for name, claimed in result.metrics.items():
        values = [[value for row in session if (value := row.get(name)) is not None] for session in sessions]
        if not all(values):
            continue  # only a session as a whole has it
        spread = [found[name] for found in pseudo] if all(name in found for found in pseudo) else None
        pooled = StatValue.pooled(values, spread, share=spread is None and name in task.scoring.shares())
        yield from differences(claimed, pooled, f"metrics.{name}")
    yield from differences(result.level, task.scoring.level(score.mean), "level")
    spreads = {name: np.concatenate([found[name] for found in pseudo]) for name in pseudo[0]}
    measured = Measurement(rows, dict(result.metrics), None, [], spreads)
    yield from differences(result.normalised, normalised_record(task, measured), "normalised")
    if result.claim is None or submission.score is None:
        yield "it does not say whether the claim is too good"
        return
    fresh = [row[task.score_key] or 0.0 for row in rows]
    claim = {
        "claimed_mean": submission.score.mean,
        "fresh_mean": sum(fresh) / len(fresh),
        "too_good": result.claim.p < TOO_GOOD,
    }
    yield from differences(result.claim.model_dump(include=set(claim)), claim, "claim")
