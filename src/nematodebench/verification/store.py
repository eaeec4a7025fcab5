"""Signed records of a repository: ``verifications/<submission id>.dsse.json``, and who is believed."""

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
from nematodebench.verification.envelope import opened, signed
from nematodebench.verification.keys import Keys, key_id, load_keys
from nematodebench.verification.recheck import contradictions
from nematodebench.verification.statement import Result, Statement, Subject, Summary, Withdrawal, WithdrawalStatement

__all__ = ["VERIFICATIONS", "Verified", "keep", "open_record", "read_all", "withdraw"]

VERIFICATIONS = "verifications"
_SUFFIX = ".dsse.json"
_WITHDRAWN = ".withdrawn.dsse.json"


@dataclass(frozen=True)
class Verified:
    """The believed records of a repository, by the hash of the submission's bytes; and what is not believed."""

    results: dict[str, Summary] = field(default_factory=dict)
    withdrawn: dict[str, Withdrawal] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


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
    withdrawal = isinstance(statement, WithdrawalStatement)
    name = f"{statement.predicate.submission_id}{_WITHDRAWN if withdrawal else _SUFFIX}"
    payload = statement.model_dump_json(by_alias=True).encode()
    path = root / VERIFICATIONS / name
    write_file(path, signed(payload, key))
    return path


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
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        try:
            _read(root, path.name, keys, found, before, digests or {})
        except UsageError as error:
            found.refused[f"{VERIFICATIONS}/{path.name}"] = str(error)
        except Exception as error:  # a record that breaks its reader is not believed, and the others still are
            found.refused[f"{VERIFICATIONS}/{path.name}"] = f"cannot be read: {type(error).__name__}"
    return found


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
    else:
        found.results[digest] = found_out.outcome


def open_record(root: Path, name: str) -> tuple[Statement | WithdrawalStatement, str]:
    """A record that is believed, and the id of the key that signed it; UsageError says why another one is not."""
    return _opened(root, name, read_file(root, f"{VERIFICATIONS}/{name}", MAX_JSON), load_keys(root))


def _opened(root: Path, name: str, content: bytes, keys: Keys) -> tuple[Statement | WithdrawalStatement, str]:
    if not name.endswith(_SUFFIX):
        raise UsageError(f"{name} is not a signed record, <submission id>{_SUFFIX}.")
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
    expected = f"{statement.predicate.submission_id}{_WITHDRAWN if withdrawal else _SUFFIX}"
    if name != expected:
        raise UsageError(f"{name} is about {statement.predicate.submission_id}: it has to be named {expected}.")
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
