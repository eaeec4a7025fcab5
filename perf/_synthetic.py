"""Synthetic boards for measurements of growth. They live in temporary folders, and their names say what they are.

An entry has the files and sizes of a published one, but its episodes are noise and nobody executed anything: whoever
judged it would refuse it. So its verdict is put into a cache of the same temporary folder, as if it had passed before.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from nematodebench.board import collect as board_collect
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import ExperimentStore, load_experiment
from nematodebench.submissions.guarded import Verdict
from nematodebench.submissions.store import submission_files
from nematodebench.verification import store
from nematodebench.verification.statement import Statement

REPOSITORY = Path(__file__).resolve().parents[1]
_SIZES = {"{id}.json.xz": 8_300, "episodes.xz": 51_000}
_NEW = 4
_ENVELOPE = 231_000
"""Bytes of a record of verification; those of published ones are of this size."""


def git(root: Path, *words: str) -> None:
    """Calls git with an identity of its own."""
    who = ("-c", "user.name=Synthetic", "-c", "user.email=synthetic@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def templates() -> list[dict[str, Any]]:
    """The published submissions of brains of this repository, without those that are added as new."""
    published = [json.loads(path.read_text()) for path in submission_files(REPOSITORY)[_NEW:]]
    return [one for one in published if one.get("bundle") is None]


def new_entry(number: int) -> dict[str, Any]:
    """One of the published submissions that are added to synthetic ones, and are truly judged."""
    return dict(json.loads(submission_files(REPOSITORY)[:_NEW][number].read_text()))


def empty_board(root: Path) -> None:
    """A repository with configs, keys and a README, and no entry."""
    root.mkdir()
    for name in ("configs", "keys"):
        shutil.copytree(REPOSITORY / name, root / name)
    (root / "README.md").write_text("# A synthetic board\n\n<!-- leaders:begin -->\n<!-- leaders:end -->\n")
    git(root, "init", "-q")
    git(root, "add", "configs", "keys", "README.md")
    git(root, "commit", "-q", "-m", "start")


def add_entries(root: Path, first: int, last: int) -> None:
    """Adds entries number ``first`` to ``last`` - 1 and commits their submissions."""
    known = templates()
    (root / "verifications").mkdir(exist_ok=True)
    for number in range(first, last):
        _add(root, synthetic(known[number % len(known)], number), number)
    git(root, "add", "benchmarks")
    git(root, "commit", "-q", "-m", f"synthetic entries {first} to {last}")


def synthetic(template: dict[str, Any], number: int) -> dict[str, Any]:
    """A submission like a published one, with an id, sessions, seeds and a contributor of its own."""
    noise = np.random.default_rng(number)
    stamp = f"2020{1 + number // 86400 % 12:02d}01_{number // 3600 % 24:02d}{number // 60 % 60:02d}{number % 60:02d}"
    sessions = []
    for k, one in enumerate(template["sessions"]):
        name = f"synthetic_{number:06d}_{k:02d}"
        seeds = [int(seed) for seed in noise.integers(0, 2**64, one["num_runs"], dtype=np.uint64)]
        sessions.append(
            one | {"experiment_id": name, "file_path": f"artifacts/experiments/{name}/{name}.json",
                   "session_seed": int(noise.integers(2**32)), "run_seeds": seeds,
                   "records_sha256": noise.bytes(32).hex()}
        )  # fmt: skip
    return template | {
        "submission_id": f"{template['category'].replace('/', '_')}_{stamp}", "timestamp": stamp, "sessions": sessions,
        "contributor": f"Synthetic contributor {number % 500}", "github": None, "notes": "synthetic",
    }  # fmt: skip


def _add(root: Path, made: dict[str, Any], number: int) -> None:
    noise = np.random.default_rng(number)
    path = root / "benchmarks" / made["category"] / f"{made['timestamp']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made, indent=1))
    for one in made["sessions"]:
        folder = root / Path(one["file_path"]).parent
        folder.mkdir(parents=True)
        (folder / "synthetic.yml").write_text("task: synthetic\n")
        for name, size in _SIZES.items():
            (folder / name.format(id=one["experiment_id"])).write_bytes(noise.bytes(size))
    subject = {"name": path.relative_to(root).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    head = json.dumps({"synthetic": number, "subject": subject, "mean": float(noise.normal())}).encode()
    record = root / "verifications" / f"{made['submission_id']}.dsse.json"
    record.write_bytes(head + b"\n" + b" " * (_ENVELOPE - len(head)))


def add_new(root: Path, number: int) -> None:
    """Adds a published entry with everything that belongs to it: this one is truly judged."""
    made = new_entry(number)
    place = Path("benchmarks") / made["category"] / f"{made['timestamp']}.json"
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(REPOSITORY / place, root / place)
    for one in made["sessions"]:
        folder = Path(one["file_path"]).parent
        shutil.copytree(REPOSITORY / folder, root / folder)
    record = f"verifications/{made['submission_id']}.dsse.json"
    shutil.copy(REPOSITORY / record, root / record)


class _Believing:
    """Stands for the child that judges: synthetic entries pass."""

    def __init__(self, _root: Path) -> None:
        pass

    def judge(self, _path: Path) -> Verdict:
        """Passes."""
        return Verdict(True, [])

    def __exit__(self, *_error: object) -> None:
        pass


def _statements() -> Iterator[dict[str, Any]]:
    for path in sorted((REPOSITORY / "verifications").glob("*.dsse.json")):
        statement, _ = store.open_record(REPOSITORY, path.name)
        yield json.loads(statement.model_dump_json(by_alias=True))


def remember(root: Path) -> int:
    """Fills the cache with verdicts on synthetic entries and their records; returns how many entries there are."""
    by_task = {one["predicate"]["task"]: one for one in _statements()}

    genuinely = store._opened

    def opened(where: Path, name: str, content: bytes, keys: Any) -> tuple[Any, str]:
        first = content.partition(b"\n")[0]
        if not first.startswith(b'{"synthetic"'):
            return genuinely(where, name, content, keys)
        head = json.loads(first)
        made = json.loads((root / head["subject"]["name"]).read_text())
        known = by_task[made["environment"]["task"]]
        subject = {"name": head["subject"]["name"], "digest": {"sha256": head["subject"]["sha256"]}}
        metrics = dict(known["predicate"]["metrics"])
        key = known["predicate"]["score_key"]
        metrics[key] = {**metrics[key], "mean": metrics[key]["mean"] + 0.01 * head["mean"]}
        predicate = known["predicate"] | {"submission_id": made["submission_id"], "metrics": metrics}
        return Statement.model_validate({**known, "subject": [subject], "predicate": predicate}), "synthetic"

    with (
        mock.patch("nematodebench.submissions.judging.Judge", _Believing),
        mock.patch("nematodebench.verification.store._opened", opened),
    ):
        found = board_collect.collect(root)
    if found.rejected:
        raise SystemExit(f"synthetic entries are rejected: {found.rejected[0]}")
    return len(found.listings)


def own_cache(folder: Path) -> None:
    """Lets this process and its children keep what they find out in a temporary folder, and nowhere else."""
    folder.mkdir(mode=0o700)
    os.environ["NEMATODEBENCH_CACHE_DIR"] = str(folder)


def long_session(count: int) -> ExperimentMetadata:
    """A record like a published one, of many runs that nobody executed."""
    folder = sorted((REPOSITORY / "artifacts" / "experiments").iterdir())[0]
    known = load_experiment(folder)
    noise = np.random.default_rng(count)
    hashes, seeds = noise.bytes(32 * count).hex(), noise.integers(0, 2**63, count).tolist()
    runs = [
        known.runs[k % len(known.runs)].model_copy(
            update={"run": k, "seed": seeds[k], "record_hash": hashes[64 * k : 64 * k + 64],
                    "memory_hash": hashes[64 * k : 64 * k + 64][::-1]}
        )
        for k in range(count)
    ]  # fmt: skip
    name = f"synthetic_{count}"
    return known.model_copy(update={"experiment_id": name, "runs": runs, "num_runs": count, "notes": ["synthetic"]})


def store_of(root: Path, made: ExperimentMetadata) -> ExperimentStore:
    """A folder for a synthetic session."""
    store = ExperimentStore(root, made.experiment_id)
    store.create({}, made.config_file, "synthetic: true\n")
    return store
