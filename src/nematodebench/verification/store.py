"""Signed records of a repository: ``verifications/<submission id>.dsse.json``, and who is believed.

Records are added and never replaced: a later one of the same submission is ``<submission id>.2.dsse.json``.
"""

import contextlib
import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.files import write_file
from nematodebench.records.schemas import Record
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.known import Known
from nematodebench.submissions.untrusted import MAX_JSON, MAX_SUBMISSION, parse_record, problems, read_file
from nematodebench.verification.claimed_sessions import untested_claim
from nematodebench.verification.deciding import SUFFIX, decides, is_name_of, name_of, repeats
from nematodebench.verification.envelope import opened, signed
from nematodebench.verification.keys import Keys, key_id, load_keys
from nematodebench.verification.recheck import contradictions
from nematodebench.verification.statement import Result, Statement, Subject, Summary, Withdrawal, WithdrawalStatement

__all__ = ["VERIFICATIONS", "Verified", "keep", "open_record", "read_all", "withdraw"]

VERIFICATIONS = "verifications"
_WITHDRAWN = ".withdrawn.dsse.json"


@dataclass(frozen=True)
class Verified:
    """The believed records of a repository, by the hash of the submission's bytes; and what is not believed.

    Attributes:
        records: Every record of a submission, by the name of its file.
        withdrawn: What a maintainer took off the board.
        refused: Files that are not believed, and why.
    """

    records: dict[str, dict[str, Summary]] = field(default_factory=dict)
    withdrawn: dict[str, Withdrawal] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def record(self, digest: str) -> str | None:
        """The name of the record that decides about a submission; None where there is none."""
        found = self.records.get(digest)
        return None if found is None else decides(found)

    def result(self, digest: str) -> Summary | None:
        """What the record says that decides; its class may be assigned in another one."""
        name = self.record(digest)
        if name is None:
            return None
        found = self.records[digest]
        classes = [one.brain_class for one in (found[name], *found.values()) if one.brain_class is not None]
        return found[name].model_copy(update={"brain_class": classes[0]}) if classes else found[name]


class _Believed(Record):
    """A record that was believed: what it is about, and what it says."""

    subject: Subject
    outcome: Summary | Withdrawal


def keep(root: Path, statement: Statement | WithdrawalStatement, key: Ed25519PrivateKey) -> Path:
    """Signs a statement and stores it where the board looks; the key has to be one the board believes."""
    if key_id(key.public_key()) not in load_keys(root).trusted:
        raise UsageError(
            f"Key {key_id(key.public_key())[:12]} is not a trusted key of this repository: the board would not believe "
            "it. `nematodebench keys new` adds one."
        )
    path = root / VERIFICATIONS / _free_name(root, statement)
    if not path.exists():
        write_file(path, signed(statement.model_dump_json(by_alias=True).encode(), key))
    return path


def _free_name(root: Path, statement: Statement | WithdrawalStatement) -> str:
    """Where a record is stored: beside those that are there, unless one of them tells of the same verification."""
    made = statement.predicate
    if not isinstance(made, Result):
        return f"{made.submission_id}{_WITHDRAWN}"
    for number in itertools.count(1):
        name = name_of(made.submission_id, number)
        if not (root / VERIFICATIONS / name).exists():
            break
        with contextlib.suppress(UsageError):  # one that is not believed any more stays, and another is put beside it
            found = open_record(root, name)[0].predicate
            if isinstance(found, Result) and repeats(found, made):
                break
    return name


def read_all(root: Path, known: Known | None = None, digests: Mapping[str, str] | None = None) -> Verified:
    """Opens every record. One that is not signed, wrongly signed or by a revoked key counts for nothing.

    Args:
        root: Top of the repository.
        known: What was found out before: a record that was believed is not computed again as long as neither it nor
            the keys nor the submission have changed.
        digests: Hashes of submissions that were read, by path; others are read where a record is about them.
    """
    keys, found = load_keys(root), Verified()
    found.refused.update(keys.refused)
    folder, before = root / VERIFICATIONS, Known(None) if known is None else known
    for path in sorted(folder.iterdir(), key=_order) if folder.is_dir() else []:
        try:
            _read(root, path.name, keys, found, before, digests or {})
        except UsageError as error:
            found.refused[f"{VERIFICATIONS}/{path.name}"] = str(error)
        except Exception as error:  # a record that breaks its reader is not believed, and the others still are
            found.refused[f"{VERIFICATIONS}/{path.name}"] = f"cannot be read: {type(error).__name__}"
    return found


def _order(path: Path) -> tuple[int, str]:
    """First records come first, so that a copy is the later one."""
    return len(path.name), path.name


def _read(root: Path, name: str, keys: Keys, found: Verified, known: Known, digests: Mapping[str, str]) -> None:
    content = read_file(root, f"{VERIFICATIONS}/{name}", MAX_JSON)
    basis = "believed", name, hashlib.sha256(content).hexdigest(), keys.digest
    kept = known.find(*basis)
    if kept is None:
        statement, _ = _opened(root, name, content, keys)
        subject, made = statement.subject[0], statement.predicate
        found_out = _Believed(subject=subject, outcome=made.summary() if isinstance(made, Result) else made)
        known.keep(found_out.model_dump_json(), *basis)
    else:
        found_out = _Believed.model_validate_json(kept)
        place = found_out.subject.name
        _check_bytes(digests.get(place) or _digest(root, place), found_out.subject)
    digest = found_out.subject.digest.sha256
    if isinstance(found_out.outcome, Withdrawal):
        found.withdrawn[digest] = found_out.outcome
        return
    others = found.records.setdefault(digest, {})
    for other, outcome in others.items():
        if repeats(outcome, found_out.outcome):
            raise UsageError(f"{name} tells of the same verification as {other}: a copy counts for nothing.")
    others[name] = found_out.outcome


def open_record(root: Path, name: str) -> tuple[Statement | WithdrawalStatement, str]:
    """A record that is believed, and the id of the key that signed it; UsageError says why another one is not."""
    return _opened(root, name, read_file(root, f"{VERIFICATIONS}/{name}", MAX_JSON), load_keys(root))


def _opened(root: Path, name: str, content: bytes, keys: Keys) -> tuple[Statement | WithdrawalStatement, str]:
    if not name.endswith(SUFFIX):
        raise UsageError(f"{name} is not a signed record, <submission id>{SUFFIX}.")
    payload, keyid = opened(content, keys, name)
    withdrawal = name.endswith(_WITHDRAWN)
    statement: Statement | WithdrawalStatement
    try:
        if withdrawal:
            statement = parse_record(WithdrawalStatement, payload, name)
        else:
            statement = parse_record(Statement, payload, name)
    except ValidationError as error:
        raise UsageError(f"{name} does not state a verification: {'; '.join(problems(error))}.") from error
    about = statement.predicate.submission_id
    if not (name == f"{about}{_WITHDRAWN}" if withdrawal else is_name_of(name, about)):
        raise UsageError(f"{name} is about {about}: it has to be named {about}{_WITHDRAWN if withdrawal else SUFFIX}.")
    made = statement.predicate.finished if isinstance(statement, Statement) else statement.predicate.date
    if made[:10] < keys.files[keyid].added:
        raise UsageError(f"{name} says {made[:10]}, before its key {keyid[:12]} was made.")
    _check_subjects(root, name, statement)
    return statement, keyid


def _check_subjects(root: Path, name: str, statement: Statement | WithdrawalStatement) -> None:
    """The submission is the first subject; its bytes have to be those that were verified, and the record true."""
    subject = statement.subject[0]
    content = read_file(root, subject.name, MAX_SUBMISSION)
    _check_bytes(hashlib.sha256(content).hexdigest(), subject)
    try:
        submission = parse_record(NematodeBenchSubmission, content, subject.name)
    except ValidationError as error:
        raise UsageError(f"{name} is about {subject.name}, which is not a submission.") from error
    found = list(itertools.islice(contradictions(statement, submission, subject.digest.sha256), 5))
    if not found and isinstance(statement, Statement):
        found = list(untested_claim(root, statement.predicate, submission))
    if found:
        raise UsageError(f"{name} is signed, but not true: {'; '.join(found)}.")


def _digest(root: Path, name: str) -> str:
    return hashlib.sha256(read_file(root, name, MAX_SUBMISSION)).hexdigest()


def _check_bytes(digest: str, subject: Subject) -> None:
    if digest != subject.digest.sha256:
        raise UsageError(f"{subject.name} is not what was verified: its bytes have changed.")


def withdraw(root: Path, path: Path, submission_id: str, reason: str, date: str, key: Ed25519PrivateKey) -> Path:
    """Takes an entry off the board with a signed statement; its files stay."""
    content = read_file(root, path.absolute().relative_to(root.absolute()).as_posix(), MAX_JSON)
    name = path.absolute().relative_to(root.absolute()).as_posix()
    try:
        statement = WithdrawalStatement.model_validate(
            {
                "subject": [{"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}],
                "predicate": {"submission_id": submission_id, "reason": reason, "date": date},
            }
        )
    except ValidationError as error:
        raise UsageError(f"The withdrawal cannot be made: {'; '.join(problems(error))}.") from error
    return keep(root, statement, key)
