"""Verifies a submission: executes what it claims again, measures it anew on fresh seeds, and signs what came out.

Everything that is finished is kept in a work folder, so that a verification that was stopped goes on where it was.
"""

import datetime
import hashlib
import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nematodebench.brains.registry import is_built_in
from nematodebench.engine.executors import Watch, choose_executor, default_workers, execute_all
from nematodebench.engine.isolation.host import STOPPED, Foreign
from nematodebench.engine.isolation.sandbox import require_sandbox
from nematodebench.engine.run import RunSpec, compile_for
from nematodebench.errors import UsageError
from nematodebench.files import clean_leftovers
from nematodebench.kernels.target import code_generation
from nematodebench.records.locked import LOCK
from nematodebench.records.plain_text import plain
from nematodebench.records.provenance import collect_provenance, platform_class
from nematodebench.records.runs import RunResult
from nematodebench.records.schemas import RunRecord
from nematodebench.records.store import ExperimentStore
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import Progress, resume, run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.sessions.rerun import Rerun, spec_of, with_columns_of
from nematodebench.submissions.bundles import foreign
from nematodebench.submissions.case import Case
from nematodebench.submissions.evaluate import examine
from nematodebench.submissions.sessions import open_session
from nematodebench.verification import challenge as fresh
from nematodebench.verification.claim import claim_test
from nematodebench.verification.finished import Outcomes, kept_challenge, state_name
from nematodebench.verification.repeating import repeat_runs
from nematodebench.verification.statement import (
    Configuration,
    Digest,
    Executed,
    FreshRun,
    FreshSession,
    Result,
    Statement,
    Subject,
)
from nematodebench.verification.wording import TEST
from nematodebench.verification.workplace import own_folder
from nematodebench.vocabulary import BrainClass

__all__ = ["Job", "verify"]


@dataclass
class Job:
    """A verification that is going on.

    Attributes:
        path: The submission.
        root: The repository it is in.
        work: Where finished runs are kept; anything in it can be computed again.
        runs: How many of the claimed runs are executed, and how many fresh ones; all if None.
        executor: How runs are executed; chosen by the kind of brain if None.
        workers: Runs at a time; all cores if None.
        tell: Told what is going on: a word, runs done, runs in all.
        trust_code: Whether the brain of a bundle may run where there is no sandbox.
        brain_class: The class that the maintainer assigns to a brain from outside this repository.
        foreign: That brain, while it is verified.
    """

    path: Path
    root: Path
    work: Path
    runs: int | None = None
    executor: str | None = None
    workers: int | None = None
    tell: Callable[[str, int, int], None] = lambda _what, _done, _total: None
    trust_code: bool = False
    brain_class: BrainClass | None = None
    foreign: Foreign | None = None


def verify(job: Job) -> Statement:
    """Does all of it and returns what is to be signed; the result is FAILED where a claimed run came out otherwise.

    Raises:
        UsageError: The submission does not pass the checks of its data, or this machine cannot verify.
    """
    if platform_class(platform.machine()) != "x86-64":
        raise UsageError(f"Only an x86-64 machine can verify; this one is {platform.machine()}. `evaluate` compares.")
    started = _now()
    content, case = examine(job.path, job.root)
    digest = hashlib.sha256(content).hexdigest()
    work = own_folder(job.work / state_name(digest))
    clean_leftovers(work)
    job.foreign = _foreign(job, case, work)
    word = kept_challenge(work, digest)
    executed = _execute_again(job, case, work, word, digest)
    again = _measure_anew(job, case, work, word, digest)
    which = fresh.repeated(word, digest, len(again.records), again.first.num_runs)
    repeat_runs(
        again.records, which, job.foreign, job.executor, job.workers,
        lambda done, of: job.tell("fresh runs again", done, of),
    )  # fmt: skip
    claim = claim_test(case.measurements, again.measurements, case.task.score_key)
    failed = [TEST] if executed.identical < executed.executed else []
    found = again.findings
    result = Result(
        result="FAILED" if failed else "PASSED",
        configuration=_lock(job.root),
        passedTests=[] if failed else [TEST],
        failedTests=failed,
        submission_id=case.claims.submission_id,
        task=case.task.id,
        brain=case.claims.brain_type,
        brain_class=job.brain_class,
        challenge=word,
        seed_bits=fresh.SEED_BITS,
        reexecution=executed,
        sessions=_sessions(again),
        score_key=case.task.score_key,
        metrics=found.metrics.by_name(),
        level=found.level,
        normalised=found.normalised,
        chemotaxis=found.chemotaxis,
        claim=claim,
        provenance=collect_provenance(code_generation()),
        started=started,
        finished=_now(),
    )
    return Statement(subject=_subjects(job, case, digest), predicate=result)


def _foreign(job: Job, case: Case, work: Path) -> Foreign | None:
    """The brain of a bundle, ready for the sandbox; None for a brain of this installation."""
    if job.brain_class is not None and is_built_in(case.first.brain):
        raise UsageError(f"Brain {case.first.brain!r} is part of this repository: its class is not assigned.")
    if case.bundle is None:
        return None
    brain = foreign(job.root, case.bundle, work, job.trust_code)
    if not brain.trusted:
        require_sandbox()
    return brain


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _execute_again(job: Job, case: Case, work: Path, word: str, digest: str) -> Executed:
    """Executes the claimed runs and compares every bit; what is finished is read from the work folder."""
    every = [(s, run) for s, record in enumerate(case.records) for run in record.runs]
    wanted = fresh.chosen(word, digest, len(every), job.runs or len(every))
    done = Outcomes(work / "claimed.jsonl")
    specs = []
    for k in wanted:
        if k not in done.found:
            spec = spec_of(case.records[every[k][0]], every[k][1], case.trust_code, job.foreign)
            specs.append(RunSpec(spec.task, spec.brain_name, spec.brain, spec.config, spec.seed, k))
    job.tell("claimed runs", len(wanted) - len(specs), len(wanted))
    for count, (k, same, why) in enumerate(_compared(job, case, specs, every), len(wanted) - len(specs) + 1):
        done.add(k, same, why)
        job.tell("claimed runs", count, len(wanted))
    names = {k: f"{case.records[every[k][0]].experiment_id} run {every[k][1].run}" for k in wanted}
    different = [f"{names[k]}: {done.reasons[k]}" for k in wanted if not done.found[k]]
    return Executed(
        claimed=len(every), executed=len(wanted), identical=len(wanted) - len(different), different=different[:20]
    )


def _compared(
    job: Job, case: Case, specs: list[RunSpec], every: list[tuple[int, RunRecord]]
) -> Iterator[tuple[int, bool, str]]:
    if not specs:
        return
    workers = job.workers or default_workers()
    compile_for(specs[0].task, specs[0].brain)
    executor = choose_executor(specs[0].brain, job.executor, workers)
    for result in execute_all(specs, executor, workers, Watch()):
        if result.failure is not None and STOPPED in result.failure.message:
            raise UsageError(f"It cannot be verified: a claimed run did not end: {plain(result.failure.message)}.")
        session, run = every[result.index]
        recorded = case.recorded[session]
        again = with_columns_of(recorded, result, case.task)
        why = plain(Rerun(run, again, same_platform=True).difference)
        yield result.index, not why, why


def _measure_anew(job: Job, case: Case, work: Path, word: str, digest: str) -> Case:
    """Runs as many fresh sessions as were claimed, and reads them as a case of their own."""
    records = case.records
    runs = records[0].num_runs
    # Whole sessions, however few: a score that sums up a session depends on how many runs the session has.
    count = len(records) if job.runs is None else min(len(records), math.ceil(job.runs / runs))
    seeds = fresh.session_seeds(word, digest, count, {record.session_seed for record in records})
    folder = work / "fresh"
    sessions = []
    for k, seed in enumerate(seeds):
        name = f"fresh_{k:04d}"
        _fresh_session(job, case, folder, name, seed, runs, (k, len(seeds)))
        sessions.append(open_session(folder, name))
        if sessions[-1].metadata.session_seed != seed:
            raise UsageError(f"{folder / name} is not of this verification. Remove {work}, and verify again.")
        for run in sessions[-1].metadata.runs:
            if run.failure is not None:
                raise _fresh_failure(run.run, run.failure.message)
    return Case(folder, sessions, case.trust_code)


def _fresh_failure(run: int, message: str) -> UsageError:
    return UsageError(f"It cannot be verified: fresh run {run} of its session failed: {plain(message)}")


def _fresh_session(job: Job, case: Case, folder: Path, name: str, seed: int, runs: int, place: tuple[int, int]) -> None:
    store = ExperimentStore(folder, name)
    progress = _Told(job, place[0] * runs, place[1] * runs)
    if store.complete:
        store.clean()  # a kill may have come between the last write and the cleaning
        return
    if store.plan_path.is_file():
        resume(name, folder, progress, job.workers, job.foreign)
        return
    given = SessionConfig(
        task=case.task.id, brain=case.first.brain, config=case.first.brain_config, runs=runs, seed=seed
    )
    plan = make_plan(given, workers=job.workers, executor=job.executor, foreign=job.foreign)
    run_plan(plan, root=folder, progress=progress, experiment_id=name)
    store.clean()  # what could not be removed the first time would be a file too much


class _Told(Progress):
    """A session's progress that is passed on."""

    def __init__(self, job: Job, before: int, total: int) -> None:
        self._job, self._before, self._total = job, before, total
        super().__init__()

    def ended(self, result: RunResult) -> None:
        """A run has ended. One that failed ends the verification at once, and not after all the others."""
        super().ended(result)
        if result.failure is not None:
            raise _fresh_failure(result.index, result.failure.message)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "done":
            self._job.tell("fresh runs", self._before + int(str(value)), self._total)


def _sessions(again: Case) -> list[FreshSession]:
    return [
        FreshSession(
            session_seed=record.session_seed,
            runs=[
                FreshRun(seed=run.seed, record_hash=run.record_hash, memory_hash=run.memory_hash, metrics=run.metrics)
                for run in record.runs
            ],
        )
        for record in again.records
    ]


def _subjects(job: Job, case: Case, digest: str) -> list[Subject]:
    """The submission and the record of every session: what the statement is about, byte by byte."""
    own = job.path.absolute().relative_to(job.root.absolute()).as_posix()
    files = [(own, digest)] + [(one.file_path, one.metadata_sha256) for one in case.claims.sessions]
    return [Subject(name=name, digest=Digest(sha256=value)) for name, value in files]


def _lock(root: Path) -> list[Configuration]:
    path = root / LOCK
    if not path.is_file():
        return []
    return [Configuration(name=LOCK, digest=Digest(sha256=hashlib.sha256(path.read_bytes()).hexdigest()))]
