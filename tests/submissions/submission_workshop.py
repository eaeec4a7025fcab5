"""A genuine official submission in a real git repository, made once, and the tools to copy and spoil it."""

import atexit
import contextlib
import copy
import functools
import hashlib
import io
import json
import lzma
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

from nematodebench.cli import main
from nematodebench.records.episodes import write_frame
from nematodebench.records.store import find_record
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

FOLLOWER = "gradient_follower"
FORAGING, SHORT = "foraging_small-v1", "pattern_memory_easy-v1"
CONFIG = f"task: {FORAGING}\nbrain: {FOLLOWER}\nruns: 50\n"
SEEDS = range(100, 110)


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def commit(root: Path, message: str = "change") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def new_repository(root: Path, text: str = CONFIG) -> Path:
    """A repository with a tracked config, as a contributor's clone has it."""
    (root / "configs").mkdir(parents=True)
    (root / "configs" / "follower.yml").write_text(text)
    (root / ".gitignore").write_text("/experiments/\n")
    git(root, "init", "-q")
    commit(root, "start")
    return root


def run_session(root: Path, seed: int, text: str = CONFIG, **changes: Any) -> Path:
    """One tracked session; returns its folder."""
    import yaml

    given = SessionConfig(**{**yaml.safe_load(text), "seed": seed, **changes})
    # A file without a seed is kept word for word, as the command does where no flag overrides it.
    session = run_plan(
        make_plan(given, config_name="follower.yml", text="" if changes else text), root=root / "experiments"
    )
    return root / "experiments" / session.experiment_id


@dataclass
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.out)

    def check(self, name: str) -> dict[str, Any]:
        return next(check for check in self.report["checks"] if check["name"] == name)


def command(root: Path, *arguments: object) -> Outcome:
    """Runs `nematodebench` in this process, as if started in a folder."""
    out, err = io.StringIO(), io.StringIO()
    words = ["nematodebench", *map(str, arguments)]
    with (
        contextlib.chdir(root),
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Outcome(code, out.getvalue(), err.getvalue())


def sessions_repository(brain: str = FOLLOWER, task: str = FORAGING) -> Path:
    """Ten finished sessions, not yet submitted."""
    return _sessions_repository(brain, task)  # one of a kind, however it is asked for


@functools.cache
def _sessions_repository(brain: str, task: str) -> Path:
    root = Path(tempfile.mkdtemp(prefix="nematodebench-sessions-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    text = CONFIG.replace(FOLLOWER, brain).replace(FORAGING, task)
    new_repository(root / "repo", text)
    for seed in SEEDS:
        run_session(root / "repo", seed, text)
    return root / "repo"


def official_repository(brain: str = FOLLOWER, task: str = FORAGING) -> Path:
    """The same sessions, submitted and committed."""
    return _official_repository(brain, task)  # one of a kind, however it is asked for


@functools.cache
def _official_repository(brain: str, task: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="nematodebench-official-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = copied(sessions_repository(brain, task), folder / "repo")
    done = submit(root)
    assert done.code == 0, done.err
    commit(root, "submission")
    return root


def unpacked_repository(brain: str = FOLLOWER, task: str = FORAGING) -> Path:
    """The same submission with sessions as they are before they are published, which is as good and easier to edit."""
    return _unpacked_repository(brain, task)  # one of a kind, however it is asked for


@functools.cache
def _unpacked_repository(brain: str, task: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="nematodebench-unpacked-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = copied(official_repository(brain, task), folder / "repo")
    for session in (root / "artifacts" / "experiments").iterdir():
        original = sessions_repository(brain, task) / "experiments" / session.name
        shutil.rmtree(session)
        copied(original, session)
    commit(root, "unpacked")
    return root


@functools.cache
def signed_files(brain: str) -> Path:
    """The same submission, verified by a sample: a folder with keys/, verifications/, and the private key."""
    folder = Path(tempfile.mkdtemp(prefix="nematodebench-signed-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = copied(official_repository(brain), folder / "repo")
    path = next((root / "benchmarks").glob("*/*/*.json"))
    assert command(root, "keys", "new", folder / "private.pem", "--owner", "a maintainer").code == 0
    done = command(root, "verify", path, "--key", folder / "private.pem", "--work", folder / "work", "--runs", 50)
    assert done.code == 0, done.err
    for name in ("keys", "verifications"):
        (root / name).rename(folder / name)
    return folder


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, symlinks=True)
    return target


def folders(root: Path) -> list[Path]:
    return sorted(path for path in (root / "experiments").iterdir() if not path.name.startswith("."))


def submit(root: Path, *more: object) -> Outcome:
    given = [path.relative_to(root) for path in folders(root)]
    return command(root, "submit", "--experiments", *given, "--contributor", "Ada Example", *more)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Work:
    """A copy of the official submission, to be spoiled."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = next(path for path in (root / "benchmarks").glob("*/*/*.json"))
        self.claims: dict[str, Any] = json.loads(self.path.read_text())

    def save(self) -> None:
        self.path.write_text(json.dumps(self.claims, indent=1))

    def move(self, category: str | None = None, timestamp: str | None = None) -> None:
        """Puts the file where a changed category or time says, as a careful forger would."""
        self.claims["category"] = category or self.claims["category"]
        self.claims["timestamp"] = timestamp or self.claims["timestamp"]
        category, timestamp = self.claims["category"], self.claims["timestamp"]
        self.claims["submission_id"] = f"{category.replace('/', '_')}_{timestamp}"
        target = self.root / "benchmarks" / category / f"{timestamp}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        self.path = self.path.rename(target)
        self.save()

    def folder(self, k: int) -> Path:
        return (self.root / self.claims["sessions"][k]["file_path"]).parent

    def record(self, k: int) -> dict[str, Any]:
        path = find_record(self.folder(k))
        assert path is not None
        return json.loads(lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes())

    def save_record(self, k: int, record: dict[str, Any], sign: bool = True) -> None:
        (self.folder(k) / f"{self.folder(k).name}.json").write_text(json.dumps(record, indent=1))
        if sign:
            self.sign(k)

    def edit_record(self, k: int, sign: bool = True, **fields: Any) -> None:
        self.save_record(k, {**self.record(k), **fields}, sign)

    def edit_config(self, k: int, text: str) -> None:
        """A session's own config, with the hash its record has of it."""
        path = self.folder(k) / "follower.yml"
        path.write_text(text)
        self.edit_record(k, config_hash=sha256(path))

    def table(self, k: int) -> pl.DataFrame:
        return pl.read_parquet(self.folder(k) / "episodes.parquet")

    def save_table(self, k: int, frame: pl.DataFrame) -> None:
        write_frame(frame, self.folder(k) / "episodes.parquet")
        self.sign(k)

    def sign(self, k: int) -> None:
        """Makes the submission refer to the files as they are now."""
        reference, folder = self.claims["sessions"][k], self.folder(k)
        reference["metadata_sha256"] = sha256(folder / f"{folder.name}.json")
        hashes = "\n".join(run["record_hash"] for run in self.record(k)["runs"])
        reference["records_sha256"] = hashlib.sha256(hashes.encode()).hexdigest()
        reference["config_sha256"] = sha256(folder / "follower.yml")
        self.save()

    def rename_session(self, k: int, name: str) -> None:
        """Another id for a session, everywhere."""
        record, old = {**self.record(k), "experiment_id": name}, self.folder(k)
        (old / f"{old.name}.json").unlink()
        old.rename(old.with_name(name))
        self.claims["sessions"][k].update(experiment_id=name, file_path=f"artifacts/experiments/{name}/{name}.json")
        self.save_record(k, record)

    def evaluate(self, *more: object) -> Outcome:
        return command(self.root, "evaluate", self.path, "--json", *more)


def official(target: Path, brain: str = FOLLOWER, task: str = FORAGING) -> Work:
    """A fresh copy of the official submission, to be edited."""
    return Work(copied(unpacked_repository(brain, task), target))


def verified(target: Path, brain: str = FOLLOWER) -> Work:
    """A fresh copy of the official submission with its signed verification, to be edited."""
    root = copied(unpacked_repository(brain), target)
    for name in ("keys", "verifications"):
        copied(signed_files(brain) / name, root / name)
    commit(root, "verified")
    return Work(root)


def relabelled(work: Work, brain: str, kind: str, config: dict[str, Any]) -> Work:
    """Passes the sessions off as another brain's: all records agree with each other, only the episodes are not its."""
    text = f"task: foraging_small-v1\nbrain: {brain}\nruns: 50\n"
    (work.root / "configs" / "claimed.yml").write_text(text)
    for k in range(len(work.claims["sessions"])):
        work.edit_config(k, text)
        work.edit_record(k, brain=brain, brain_class=kind, brain_config=copy.deepcopy(config))
    work.claims.update(
        brain_type=brain, brain_class=kind, brain_config=config, config_file="configs/claimed.yml",
        config_sha256=sha256(work.root / "configs" / "claimed.yml"),
    )  # fmt: skip
    work.move(category=f"foraging_small/{kind}")
    commit(work.root, "claimed")
    return work
