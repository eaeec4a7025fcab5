"""Sessions are published packed; plain and older ones are as good; packed ones are checked as strictly."""

import hashlib
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from submission_workshop import Work, copied, official, official_repository

from nematodebench.engine.run import record_hash
from nematodebench.records.episodes import PhaseColumns, frame_records
from nematodebench.records.packed import pack_episodes, unpack_episodes
from nematodebench.submissions.sessions import open_session
from nematodebench.tasks.registry import get_task

TASK = get_task("foraging_small-v1")


def packed_work(target: Path) -> Work:
    """A copy of the official submission as it was published."""
    return Work(copied(official_repository(), target))


def test_published_sessions_are_packed_and_need_less_than_half(tmp_path: Path) -> None:
    packed, plain = packed_work(tmp_path / "packed"), official(tmp_path / "plain")
    assert {path.name for path in packed.folder(0).iterdir()} == {
        f"{packed.folder(0).name}.json.xz", "episodes.xz", "follower.yml",
    }  # fmt: skip
    small, large = (sum(file.stat().st_size for file in work.folder(0).iterdir()) for work in (packed, plain))
    assert small < large / 2


def test_plain_sessions_are_as_good_as_packed_ones(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    assert {path.suffix for path in work.folder(0).iterdir()} == {".json", ".parquet", ".yml"}
    outcome = work.evaluate()
    assert {check["outcome"] for check in outcome.report["checks"]} == {"PASS"}


def as_first_version(work: Work) -> None:
    """Records and submission as the first version wrote them."""
    work.claims["schema_version"] = 1
    for k, reference in enumerate(work.claims["sessions"]):
        record = {key: value for key, value in work.record(k).items() if key != "columns"}
        work.save_record(k, {**record, "schema_version": 1})
        table = work.folder(k) / "episodes.parquet"
        reference["episodes_sha256"] = hashlib.sha256(table.read_bytes()).hexdigest()
        del reference["records_sha256"]
    work.save()


def pack(work: Work, k: int) -> None:
    """What publishing does with a session's files."""
    folder = work.folder(k)
    record = folder / f"{folder.name}.json"
    phases = [PhaseColumns(phase.name, phase.columns, phase.world.terminations) for phase in TASK.phases]
    (folder / "episodes.xz").write_bytes(pack_episodes(phases, frame_records(phases, work.table(k))))
    (folder / f"{record.name}.xz").write_bytes(lzma.compress(record.read_bytes()))
    record.unlink()
    (folder / "episodes.parquet").unlink()


def test_the_first_version_is_evaluated_plain_and_packed(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    as_first_version(work)
    assert work.evaluate("--reproduce", "2").code == 0
    pack(work, 0)
    outcome = work.evaluate()
    assert {check["outcome"] for check in outcome.report["checks"]} == {"PASS"}


def test_the_first_version_binds_the_bytes_of_a_parquet_file(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    as_first_version(work)
    work.claims["sessions"][3]["episodes_sha256"] = "0" * 64
    work.save()
    assert "the episodes are not those that were submitted" in work.evaluate().check("references")["message"]


def test_the_first_version_binds_the_content_of_a_packed_table(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    as_first_version(work)
    for k in (0, 1):
        pack(work, k)
    shutil.copy(work.folder(0) / "episodes.xz", work.folder(1) / "episodes.xz")
    assert "do not have the recorded hash" in work.evaluate().check("record hashes")["message"]


def without_satiety(work: Work, *, first_version: bool) -> None:
    """Sessions from before the world recorded the satiety at the end of an episode."""
    columns = {phase.name: [name for name in phase.columns if name != "satiety"] for phase in TASK.phases}
    task = TASK.as_recorded(columns)
    phases = [PhaseColumns(phase.name, phase.columns, phase.world.terminations) for phase in task.phases]
    for k in range(10):
        frame, record = work.table(k).drop("satiety"), work.record(k)
        runs = frame_records(phases, frame)
        for run in record["runs"]:
            run["record_hash"] = record_hash(task, runs[run["run"]])
        work.save_table(k, frame)
        work.save_record(k, {**record, "columns": columns})
    if first_version:
        as_first_version(work)


@pytest.mark.parametrize("first_version", [False, True])
def test_sessions_from_before_a_metric_came_are_reproduced(tmp_path: Path, first_version: bool) -> None:
    work = official(tmp_path / "repo")
    without_satiety(work, first_version=first_version)
    outcome = work.evaluate("--reproduce", "3")
    assert outcome.code == 0, outcome.out
    assert [run["outcome"] for run in outcome.report["reproduction"]["runs"]] == ["identical"] * 3


def test_a_column_that_the_score_needs_may_not_be_left_out(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    columns = {phase.name: [name for name in phase.columns if name != "success"] for phase in TASK.phases}
    for k in range(10):
        work.save_table(k, work.table(k).drop("success"))
        work.edit_record(k, columns=columns)
    assert "do not record 'success', which the score needs" in work.evaluate().check("episodes")["message"]


FORGERIES: dict[str, tuple[str, str, Callable[[Path], None]]] = {
    "table cut off": (
        "episodes", "ends too early or too late", lambda f: _edit(f / "episodes.xz", lambda content: content[:-8])
    ),
    "table with more behind it": (
        "episodes", "ends too early or too late", lambda f: _edit(f / "episodes.xz", lambda content: content + b"x")
    ),
    "no table": ("files", "does not exist", lambda f: (f / "episodes.xz").unlink()),
    "no record": ("files", "does not exist", lambda f: next(f.glob("*.json.xz")).unlink()),
    "two tables": ("files", "not part of a session", lambda f: (f / "episodes.parquet").write_bytes(b"")),
    "two records": ("files", "not valid JSON", lambda f: (f / f"{f.name}.json").write_bytes(b"")),
    "record cut off": (
        "files", "not one whole xz file", lambda f: _edit(next(f.glob("*.json.xz")), lambda content: content[:-8])
    ),
    "record that swells": (
        "files", "at most 20,000,000 bytes",
        lambda f: _edit(next(f.glob("*.json.xz")), lambda _: lzma.compress(b" " * 30_000_000, preset=0)),
    ),
    "record edited": (
        "references", "is not the file that was submitted",
        lambda f: _edit(
            next(f.glob("*.json.xz")),
            lambda content: lzma.compress(lzma.decompress(content).replace(b'"notes": []', b'"notes":  []')),
        ),
    ),
    "number edited": ("record hashes", "do not have the recorded hash", lambda f: _edit(f / "episodes.xz", _richer)),
    "runs left out": ("episodes", "has 49 runs, not runs 0 to 49", lambda f: _edit(f / "episodes.xz", _shorter)),
    "columns renamed": ("episodes", "does not have the columns that the record names",
                        lambda f: _edit(f / "episodes.xz", _fewer_columns)),
    "other ends": ("episodes", "ended in ways that foraging_small-v1 does not have",
                   lambda f: _edit(f / "episodes.xz", _other_ends)),
}  # fmt: skip


def _edit(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def _phases() -> list[PhaseColumns]:
    return [PhaseColumns(phase.name, phase.columns, phase.world.terminations) for phase in TASK.phases]


def _richer(content: bytes) -> bytes:
    records = unpack_episodes(content)
    records[7]["train"][3, 0] += 1.0
    return pack_episodes(_phases(), records)


def _shorter(content: bytes) -> bytes:
    records = unpack_episodes(content)
    del records[49]
    return pack_episodes(_phases(), records)


def _fewer_columns(content: bytes) -> bytes:
    train, assay = _phases()
    records = {run: {**tables, "train": tables["train"][:, :-1]} for run, tables in unpack_episodes(content).items()}
    return pack_episodes([PhaseColumns("train", train.columns[:-1], train.terminations), assay], records)


def _other_ends(content: bytes) -> bytes:
    train, assay = _phases()
    return pack_episodes([PhaseColumns("train", train.columns, ("starved", "target")), assay], unpack_episodes(content))


@pytest.mark.parametrize("name", FORGERIES)
def test_packed_forgeries_are_found(name: str, tmp_path: Path) -> None:
    check, message, forge = FORGERIES[name]
    work = packed_work(tmp_path / "repo")
    forge(work.folder(0))
    outcome = work.evaluate()
    assert outcome.code == 1
    found = outcome.check(check)
    assert found["outcome"] == "FAIL", json.dumps(outcome.report["checks"], indent=1)
    assert message in found["message"]


def test_a_session_refers_to_the_same_content_plain_and_packed(tmp_path: Path) -> None:
    packed, plain = packed_work(tmp_path / "packed"), official(tmp_path / "plain")
    one, two = (
        open_session(work.root, work.claims["sessions"][4]["file_path"].rpartition("/")[0]) for work in (packed, plain)
    )
    assert one.reference() == two.reference()
