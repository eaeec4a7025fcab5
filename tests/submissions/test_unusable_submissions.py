"""Submissions that cannot be read at all, and forgeries in which everything agrees with everything."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from submission_workshop import command, git, official, relabelled, sha256

UNUSABLE = [
    ("truncated", lambda text: text[: len(text) // 2], "is not valid JSON"),
    ("nan", lambda text: text.replace('"mean": 0', '"mean": NaN, "y": 0', 1), "NaN is not a number"),
    ("infinity", lambda text: text.replace('"std": 0', '"std": Infinity, "y": 0', 1), "Infinity is not a number"),
    ("overflowing_number", lambda text: text.replace('"total_runs": 500', '"total_runs": 1e999'), "1e999 is too large"),
    ("key_twice", lambda text: text.replace("{", '{"category": "x",', 1), "key 'category' is given twice"),
    ("deep", lambda text: '{"a":' * 5000 + "1" + "}" * 5000, "nested more than 32 levels deep"),
    ("deeper_than_allowed", lambda text: "[" * 40 + "]" * 40, "nested more than 32 levels deep"),
    ("huge", lambda text: text + " " * 20_000_001, "at most 4,000,000 are read"),
    ("empty", lambda text: "", "is not valid JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [pytest.param(c, m, id=name) for name, c, m in UNUSABLE])
def test_unusable_file_is_one_line_and_exit_code_2(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    work = official(tmp_path / "repo")
    work.path.write_text(change(work.path.read_text()))
    outcome = work.evaluate()
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_file_that_is_not_text_is_unusable(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe\x00")
    outcome = command(tmp_path, "evaluate", path)
    assert (outcome.code, "is not UTF-8 text" in outcome.err) == (2, True)


@pytest.mark.parametrize("kind", ["missing", "folder", "link"])
def test_what_is_no_plain_file_is_unusable(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.json"
    if kind == "folder":
        path.mkdir()
    if kind == "link":
        path.symlink_to("/etc/hostname")
    outcome = command(tmp_path, "evaluate", path)
    expected = {"missing": "does not exist", "folder": "is not a regular file", "link": "is a symbolic link"}[kind]
    assert (outcome.code, expected in outcome.err) == (2, True)


def test_json_that_is_no_submission_fails_with_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]")
    outcome = command(tmp_path, "evaluate", path, "--json")
    assert outcome.code == 1
    assert outcome.check("schema")["outcome"] == "FAIL"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    work.claims["\x1b[31mred"] = 1
    work.save()
    outcome = command(work.root, "evaluate", work.path)
    assert outcome.code == 1
    assert "\x1b" not in outcome.out
    assert "\\x1b[31mred" in outcome.out


# Forgeries in which everything agrees with everything: no record gives them away.
def test_sessions_of_another_brain_pass_until_they_are_executed_again(tmp_path: Path) -> None:
    work = relabelled(official(tmp_path / "repo"), "null_random", "scripted", {})
    assert work.evaluate().code == 0
    outcome = work.evaluate("--reproduce", "2")
    assert outcome.code == 1
    verdict = outcome.check("re-execution")
    assert verdict["outcome"] == "FAIL"
    assert "2 different" in verdict["message"]
    assert "only re-execution finds that" in verdict["advice"]


def test_claiming_another_platform_does_not_save_a_wrong_brain(tmp_path: Path) -> None:
    work = relabelled(official(tmp_path / "repo"), "null_random", "scripted", {})
    for k in range(10):
        record = work.record(k)
        record["provenance"]["machine"] = "riscv64"
        work.save_record(k, record)
    outcome = work.evaluate("--reproduce", "3")
    assert outcome.code == 1
    assert outcome.check("re-execution")["outcome"] == "FAIL"


def test_untracking_the_config_is_noticed(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    git(work.root, "rm", "-q", "--cached", "configs/follower.yml")
    outcome = work.evaluate()
    assert outcome.code == 1
    assert "configs/follower.yml is not tracked in git" in outcome.check("config file")["message"]


def test_config_with_another_comment_is_only_a_warning(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    path = work.root / "configs" / "follower.yml"
    path.write_text("# the reference\n" + path.read_text())
    outcome = work.evaluate()
    assert outcome.code == 0
    assert outcome.check("config file")["outcome"] == "WARN"
    assert "modified since the submission" in outcome.check("config file")["message"]


def test_outside_of_git_nothing_passes(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    shutil.rmtree(work.root / ".git")
    outcome = work.evaluate()
    assert outcome.code == 1
    assert "is not a git repository" in outcome.check("config file")["message"]


def test_hash_of_config_is_the_file_that_was_there(tmp_path: Path) -> None:
    work = official(tmp_path / "repo")
    assert work.claims["config_sha256"] == sha256(work.root / "configs" / "follower.yml")
    assert json.loads(work.path.read_text())["config_file"] == "configs/follower.yml"
