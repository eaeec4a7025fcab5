"""The work behind ``nematodebench verify`` and ``nematodebench keys``."""

import datetime
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from nematodebench.cli.show import printable, stat
from nematodebench.errors import unknown_name
from nematodebench.files import write_file
from nematodebench.records.locked import unlike_the_lock
from nematodebench.submissions.evaluate import root_of
from nematodebench.submissions.repository import repository_root
from nematodebench.submissions.store import load_submission
from nematodebench.verification.keys import load_keys, new_key, read_private, revoke
from nematodebench.verification.replay import replay
from nematodebench.verification.statement import Result
from nematodebench.verification.store import keep, withdraw
from nematodebench.verification.verify import Job, verify
from nematodebench.vocabulary import BrainClass

__all__ = ["VerifyRequest", "add_key", "list_keys", "replay_run", "revoke_key", "verify_file", "withdraw_entry"]


@dataclass(frozen=True)
class VerifyRequest:
    """What ``nematodebench verify`` was asked for."""

    path: Path
    key: Path | None
    runs: int | None
    work: Path
    executor: str | None
    workers: int | None
    trust_code: bool = False
    brain_class: str | None = None
    statement: Path | None = None


class _Teller:
    """Tells at most once a second how many runs are done and how long the rest will take."""

    def __init__(self) -> None:
        self._what, self._since, self._from, self._last = "", 0.0, 0, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._since, self._from, self._last = what, now, done, 0.0
        if now - self._last < 1.0 and done < total:
            return
        self._last = now
        rate = (done - self._from) / max(now - self._since, 1e-9)
        left = f", about {(total - done) / rate:,.0f} s left" if rate > 0 and done < total else ""
        print(f"nematodebench: {what}: {done} of {total}{left}", file=sys.stderr)


def _root() -> Path:
    return repository_root(Path.cwd()) or Path.cwd()


def verify_file(request: VerifyRequest) -> bool:
    """Verifies a submission, prints what came out and, with a key, signs and stores it."""
    key = None if request.key is None else read_private(request.key)
    root = root_of(request.path)
    job = Job(
        request.path, root, request.work, request.runs, request.executor, request.workers, tell=_Teller(),
        trust_code=request.trust_code, brain_class=_class(request.brain_class),
    )  # fmt: skip
    began = time.monotonic()
    statement = verify(job)
    _print(statement.predicate, time.monotonic() - began)
    if request.statement is not None:
        write_file(request.statement, statement.model_dump_json(by_alias=True).encode())
    if key is None:
        print("not signed: without --key nothing is stored, and the board does not know of it")
    elif statement.predicate.result == "PASSED":
        print(f"signed: {keep(root, statement, key).relative_to(root)}")
    return statement.predicate.result == "PASSED"


def replay_run(path: Path, number: int, work: Path, trust_code: bool) -> bool:
    """Executes a fresh run of a record again and says whether it came out the same."""
    found = replay(path, number, work, trust_code=trust_code)
    print(f"{found.result.submission_id}: {printable(found.result.brain)} on {found.result.task}")
    print(f"signed by key {found.keyid[:16]}; its seeds follow from challenge {found.result.challenge[:16]}...")
    print(f"run {number} (run {found.run} of fresh session {found.session}), seed {found.recorded.seed}")
    print(f"recorded {found.recorded.record_hash}\nnow      {found.record_hash or printable(found.failure)}")
    note = f" ({found.note})" if found.note else ""
    print(f"identical bit for bit{note}" if found.identical else "DIFFERENT")
    return found.identical


def _class(given: str | None) -> BrainClass | None:
    classes: tuple[BrainClass, ...] = get_args(BrainClass)
    if given is None:
        return None
    if given not in classes:
        raise unknown_name("class", given, list(classes))
    return classes[classes.index(given)]


def _print(result: Result, seconds: float) -> None:
    done = result.reexecution
    print(f"{result.submission_id}: {printable(result.brain)} on {result.task}\n")
    print(f"claimed runs  {done.executed} of {done.claimed} executed again, {done.identical} identical bit for bit")
    for name in done.different:
        print(f"              different: {printable(name)}")
    runs = sum(len(session.runs) for session in result.sessions)
    without = sum(run.memory_hash is None for session in result.sessions for run in session.runs)
    if without:
        print(f"memory        no memory hash for {without} of {runs} fresh runs: the brain's memory cannot be had")
    fresh = result.metrics[result.score_key]
    level = f" ({result.level})" if result.level else ""
    print(f"fresh score   {result.score_key} {stat(fresh)}{level}, {runs} runs in {len(result.sessions)} sessions")
    if result.claim is not None:
        claim = result.claim
        word = "TOO GOOD: the fresh runs do not support it" if claim.too_good else "the fresh runs agree"
        print(f"claim         {claim.claimed_mean:.3f}, one-sided p = {claim.p:.3g}: {word}")
    if result.brain_class is not None:
        print(f"class         {result.brain_class}, assigned by whoever signs this")
    others = unlike_the_lock()
    if others:
        print(f"environment   not that of the lock file: {', '.join(others)}")
    print(f"challenge     {result.challenge}")
    print(f"\n{result.result} in {seconds:,.0f} s")


def list_keys() -> None:
    """Prints the repository's keys."""
    for keyid, key in load_keys(_root()).files.items():
        state = f"revoked {key.revoked.date}: {key.revoked.reason}" if key.revoked else "trusted"
        print(printable(f"{keyid[:16]}  {key.added}  {key.owner}  {state}"))


def add_key(private: Path, owner: str) -> None:
    """Makes a key and says where its halves are."""
    root = _root()
    stored = new_key(root, owner, private)
    print(
        f"key {stored.keyid}\npublic   keys/{stored.keyid}.json (commit it)\nprivate  {private} (keep it to yourself)"
    )


def revoke_key(keyid: str, reason: str) -> None:
    """Revokes a key."""
    revoked = revoke(_root(), keyid, reason)
    print(f"key {revoked.keyid} is revoked: commit keys/{revoked.keyid}.json")


def withdraw_entry(path: Path, key: Path, reason: str) -> None:
    """Withdraws an entry."""
    root = root_of(path)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    kept = withdraw(root, path, load_submission(path).submission_id, reason, date, read_private(key))
    print(f"withdrawn: {kept.relative_to(root)} (commit it)")
