"""Executes a fresh run of a signed record again: anybody can find out whether the verifier measured what it says."""

from dataclasses import dataclass
from pathlib import Path

from nematodebench.engine.isolation.sandbox import require_sandbox
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.records.memory_hash import not_compared, same_memory
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import make_plan
from nematodebench.submissions.bundles import foreign
from nematodebench.submissions.store import load_submission
from nematodebench.verification import challenge
from nematodebench.verification.statement import FreshRun, FreshSession, Result, Statement
from nematodebench.verification.store import VERIFICATIONS, open_record
from nematodebench.verification.workplace import own_folder

__all__ = ["Replay", "replay"]


@dataclass(frozen=True)
class Replay:
    """A run of a record, and what came out now.

    Attributes:
        result: What was signed.
        keyid: The key that signed it.
        session: Number of the fresh session.
        run: Number of the run in it.
        recorded: What the record says of the run.
        record_hash: Hash of the episodes that came out now.
        identical: Whether episodes and final memory are the same bit for bit.
        failure: Why the run did not end; empty if it did.
        note: What could not be compared; empty where everything was.
    """

    result: Result
    keyid: str
    session: int
    run: int
    recorded: FreshRun
    record_hash: str
    identical: bool
    failure: str = ""
    note: str = ""


def replay(path: Path, number: int, work: Path, *, trust_code: bool = False) -> Replay:
    """Executes one fresh run of a record again.

    Args:
        path: The record, verifications/<submission id>.dsse.json.
        number: Which run, counted through all fresh sessions from 0.
        work: A folder for copies of a bundle's source.
        trust_code: Whether the brain of a bundle may run where there is no sandbox.

    Raises:
        UsageError: The record is not believed, has no such run, or its seeds do not follow from its challenge.
    """
    place = path.absolute()
    if place.parent.name != VERIFICATIONS:
        raise UsageError(f"{path} does not lie in {VERIFICATIONS}/ of a repository.")
    root = place.parents[1]
    statement, keyid = open_record(root, place.name)
    if not isinstance(statement, Statement):
        raise UsageError(f"{path.name} withdraws an entry: there is nothing to execute.")
    result = statement.predicate
    submission = load_submission(root / statement.subject[0].name)
    _check_seeds(result, submission, statement.subject[0].digest.sha256)
    session, run = _find(result, number)
    spec = _spec(root, submission, result.sessions[session], run, work, trust_code)
    compile_for(spec.task, spec.brain)
    again, recorded = execute(spec), result.sessions[session].runs[run]
    failure = "" if again.failure is None else again.failure.message
    same = not failure and again.record_hash == recorded.record_hash
    same = same and same_memory(recorded.memory_hash, again.memory_hash) is not False
    note = not_compared(recorded.memory_hash, again.memory_hash) if same else ""
    return Replay(result, keyid, session, run, recorded, again.record_hash, same, failure, note)


def _check_seeds(result: Result, submission: NematodeBenchSubmission, digest: str) -> None:
    """The seeds have to follow from the challenge and the submission's bytes: nobody chose them."""
    taken = {one.session_seed for one in submission.sessions}
    expected = challenge.session_seeds(result.challenge, digest, len(result.sessions), taken, result.seed_bits)
    for session, seed in zip(result.sessions, expected, strict=True):
        seeds = [run_seed(seed, k) for k in range(len(session.runs))]
        if session.session_seed != seed or [run.seed for run in session.runs] != seeds:
            raise UsageError(f"Session seed {session.session_seed} of the record does not follow from its challenge.")


def _find(result: Result, number: int) -> tuple[int, int]:
    left = number
    for k, session in enumerate(result.sessions):
        if 0 <= left < len(session.runs):
            return k, left
        left -= len(session.runs)
    total = sum(len(session.runs) for session in result.sessions)
    raise UsageError(f"There is no run {number}: the record has runs 0 to {total - 1}.")


def _spec(
    root: Path, submission: NematodeBenchSubmission, session: FreshSession, run: int, work: Path, trust_code: bool
) -> RunSpec:
    brain = None
    if submission.bundle is not None:
        brain = foreign(root, submission.bundle, own_folder(work / "replayed"), trust_code)
        if not brain.trusted:
            require_sandbox()
    given = SessionConfig(
        task=submission.environment.task, brain=submission.brain_type, config=submission.brain_config,
        runs=len(session.runs), seed=session.session_seed,
    )  # fmt: skip
    return make_plan(given, workers=1, foreign=brain).specs()[run]
