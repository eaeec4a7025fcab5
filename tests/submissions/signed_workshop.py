"""A repository with two verified entries, made once, and the tools to forge their signed records."""

import atexit
import copy
import functools
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from submission_workshop import SHORT, Work, commit, copied, unpacked_repository

from nematodebench.board.collect import Collection, collect
from nematodebench.engine.seeds import run_seed
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.case import Case
from nematodebench.submissions.evaluate import examine
from nematodebench.submissions.guarded import Verdict, verdict_on
from nematodebench.submissions.known import Known
from nematodebench.verification.challenge import SEED_BITS, session_seeds
from nematodebench.verification.claim import claim_test
from nematodebench.verification.envelope import signed
from nematodebench.verification.keys import PublicKey, _raw, _write, key_id

VICTIM, BYSTANDER = "null_random", "blind_cycle"
KEY, STRANGER = (Ed25519PrivateKey.from_private_bytes(bytes([k]) * 32) for k in (1, 2))
CHALLENGE = "ab" * 32


def public_key(key: Ed25519PrivateKey, **changes: Any) -> PublicKey:
    """The public half as it is stored."""
    import base64

    public = key.public_key()
    raw = base64.b64encode(_raw(public)).decode()
    return PublicKey(keyid=key_id(public), public_key=raw, owner="A tester", added="2026-01-01", **changes)


def trust(root: Path, key: Ed25519PrivateKey, **changes: Any) -> Path:
    """Adds a key to those the board believes."""
    return _write(root, public_key(key, **changes))


def statement_of(root: Path, path: Path) -> dict[str, Any]:
    """What an honest verifier would state, with the claimed runs in the place of fresh ones."""
    content, case = examine(path, root)
    digest = hashlib.sha256(content).hexdigest()
    claims, found = case.claims, case.findings
    tested = claim_test(case.measurements, case.measurements, case.task.score_key)
    assert tested is not None
    seeds = session_seeds(CHALLENGE, digest, len(case.records), {record.session_seed for record in case.records})
    subjects = [(path.relative_to(root).as_posix(), digest)]
    subjects += [(one.file_path, one.metadata_sha256) for one in claims.sessions]
    predicate = {
        "result": "PASSED", "configuration": [], "passedTests": ["every claimed run gives identical bits"],
        "failedTests": [], "submission_id": claims.submission_id, "task": case.task.id, "brain": case.first.brain,
        "challenge": CHALLENGE, "seed_bits": SEED_BITS,
        "reexecution": {"claimed": claims.total_runs, "executed": claims.total_runs, "identical": claims.total_runs},
        "sessions": [_fresh(case, k, seed) for k, seed in enumerate(seeds)],
        "score_key": case.task.score_key, "metrics": _plain(found.metrics.model_dump(mode="json")),
        "level": found.level, "normalised": found.normalised and found.normalised.model_dump(mode="json"),
        "chemotaxis": None,
        "claim": tested.model_dump(),
        "provenance": claims.provenance.model_dump(mode="json"),
        "started": _iso(claims.timestamp), "finished": _iso(claims.timestamp),
    }  # fmt: skip
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in subjects],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": predicate,
    }


def _plain(metrics: dict[str, Any]) -> dict[str, Any]:
    other = metrics.pop("other")
    return {**{name: value for name, value in metrics.items() if value is not None}, **other}


def _iso(timestamp: str) -> str:
    day, time = timestamp.split("_")
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}+00:00"


def _fresh(case: Case, k: int, seed: int) -> dict[str, Any]:
    runs = [
        {"seed": run_seed(seed, run.run), "record_hash": run.record_hash, "memory_hash": run.memory_hash,
         "metrics": dict(run.metrics)}
        for run in case.records[k].runs
    ]  # fmt: skip
    return {"session_seed": seed, "runs": runs}


@functools.cache
def verified_repository() -> tuple[Path, dict[str, Any]]:
    """Two entries of two brains with signed records, and what the first one's record states."""
    folder = Path(tempfile.mkdtemp(prefix="nematodebench-verified-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = copied(unpacked_repository(VICTIM, SHORT), folder / "repo")
    other = unpacked_repository(BYSTANDER, SHORT)
    for name in ("artifacts", "benchmarks"):
        shutil.copytree(other / name, root / name, dirs_exist_ok=True)
    shutil.copy(other / "configs" / "follower.yml", root / "configs" / "bystander.yml")
    for path in (root / "benchmarks").rglob("*.json"):
        claims = json.loads(path.read_text())
        if claims["brain_type"] == BYSTANDER:
            path.write_text(json.dumps({**claims, "config_file": "configs/bystander.yml"}))
    commit(root, "two entries")
    trust(root, KEY)
    (root / "verifications").mkdir()
    stated = {}
    for path in sorted((root / "benchmarks").rglob("*.json")):
        statement = statement_of(root, path)
        stated[statement["predicate"]["brain"]] = statement
        name = f"{statement['predicate']['submission_id']}.dsse.json"
        (root / "verifications" / name).write_bytes(signed(json.dumps(statement).encode(), KEY))
    return root, stated[VICTIM]


class Forge:
    """A copy of the repository and the victim's record, to be forged."""

    def __init__(self, root: Path) -> None:
        source, stated = verified_repository()
        self.root = copied(source, root)
        self.statement = copy.deepcopy(stated)
        self.id = self.statement["predicate"]["submission_id"]
        self.submission = self.root / self.statement["subject"][0]["name"]
        self.path = self.root / "verifications" / f"{self.id}.dsse.json"

    @property
    def predicate(self) -> dict[str, Any]:
        return self.statement["predicate"]

    def sign(self, key: Ed25519PrivateKey = KEY) -> None:
        """Writes what the statement says now, with a right signature."""
        self.path.write_bytes(signed(json.dumps(self.statement).encode(), key))

    def envelope(self) -> dict[str, Any]:
        return json.loads(self.path.read_text())

    def board(self, judged: bool = False) -> Collection:
        """The board of the repository; submissions that nobody changed are not judged again unless wanted."""
        with _judge_here(None if judged else Verdict(True, [])):
            return collect(self.root)


@contextmanager
def _judge_here(known: Verdict | None) -> Iterator[None]:
    """Lets the board judge in this process, which starts no other and is a hundred times as fast."""

    class Here:
        def __init__(self, root: Path, _known: Known) -> None:
            self._root = root

        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *_error: object) -> None:
            pass

        def expect(self, submission: NematodeBenchSubmission) -> None:
            pass

        def all_expected(self) -> None:
            pass

        def judge(self, path: Path, _submission: NematodeBenchSubmission | None, _digest: str) -> Verdict:
            return known or verdict_on(path, self._root, alone=True)

    with mock.patch("nematodebench.board.collect.PatientJudge", Here):
        yield


def victim(forge: Forge) -> Work:
    """The submission, to be spoiled."""
    work = Work(forge.root)
    work.path, work.claims = forge.submission, json.loads(forge.submission.read_text())
    return work
