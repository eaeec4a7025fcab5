"""Sessions are published packed; plain and older ones are as good; packed ones are checked as strictly."""

import copy
import hashlib
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from submission_workshop import Work, copied, official, official_repository

from nematodebench.engine.run import record_hash
from nematodebench.records.episodes import PhaseColumns, frame_records
from nematodebench.records.packed import pack_episodes, unpack_episodes
from nematodebench.scoring import stability
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


def older_value(sessions: list[list[float]]) -> dict[str, Any]:
    """A metric as versions 1 and 2 had it: 1.96 standard errors at any n; what only sessions have, Student's t."""
    runs = np.concatenate([np.array(one) for one in sessions])
    shown = runs if len(sessions) == 1 else np.array([np.mean(one) for one in sessions])
    factor = 1.96 if len(runs) > len(sessions) else 2.2621571627409915
    half = factor * runs.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else None
    mean, std = float(shown.mean()), float(shown.std(ddof=1)) if len(shown) > 1 else 0.0
    ends = None if half is None else [mean - float(half), mean + float(half)]
    return {
        "mean": mean,
        "std": std,
        "min": float(shown.min()),
        "max": float(shown.max()),
        "n": len(shown),
        "ci95": ends,
    }


def with_older_intervals(content: dict[str, Any], sessions: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """A record or a submission of the runs of sessions, as it was before it said how intervals were computed."""
    content = copy.deepcopy(content)
    del content["interval_rules"]

    def renew(metrics: dict[str, Any]) -> None:
        for name, value in metrics.items():
            if name != "other" and value is not None:
                has_it = name in sessions[0][0]
                values = [[run[name] for run in runs] for runs in sessions] if has_it else steady
                metrics[name] = older_value(values if has_it or len(sessions) > 1 else [[value["mean"]]])

    steady = [[stability([run["final_success_rate"] for run in runs])] for runs in sessions]
    renew(content["metrics"])
    renew(content["metrics"].get("other", {}))
    norm = content["normalised"]
    del norm["ci95"], norm["doubt"]
    values = np.array([run["composite_score"] for runs in sessions for run in runs])
    (floor, ceiling), share = (norm["floor"], norm["ceiling"]), norm["unclamped"]
    variance = values.var(ddof=1) / values.size + ((1 - share) * floor["se"]) ** 2 + (share * ceiling["se"]) ** 2
    norm["se"] = float(np.sqrt(variance) / (ceiling["value"] - floor["value"]))
    return content


def as_second_version(work: Work) -> None:
    """Records and submission from before they said how their intervals were computed."""
    sessions = [[run["metrics"] for run in work.record(k)["runs"]] for k in range(10)]
    for k, runs in enumerate(sessions):
        work.save_record(k, {**with_older_intervals(work.record(k), [runs]), "schema_version": 2})
    work.claims = {**with_older_intervals(work.claims, sessions), "schema_version": 2}
    work.save()


def test_the_second_version_is_evaluated_and_shown_with_the_intervals_of_today(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    today = copy.deepcopy(work.claims["metrics"])
    as_second_version(work)
    outcome = work.evaluate()
    assert {check["outcome"] for check in outcome.report["checks"]} == {"PASS"}, outcome.out
    assert outcome.report["score"] == today["composite_score"]
    assert outcome.report["metrics"] == today
    assert work.claims["metrics"]["composite_score"]["ci95"] != today["composite_score"]["ci95"]


def test_an_older_interval_that_was_edited_is_found(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    as_second_version(work)
    work.claims["metrics"]["composite_score"]["ci95"][0] -= 0.001
    work.save()
    assert "metrics.composite_score.ci95[0]" in work.evaluate().check("submission metrics")["message"]


def as_first_version(work: Work) -> None:
    """Records and submission as the first version wrote them."""
    as_second_version(work)
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
            lambda content: lzma.compress(lzma.decompress(content).replace(b'"official": true', b'"official":  true')),
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
