"""Order and date of entries come from the merges, not from what somebody wrote."""

import os
import subprocess
from datetime import UTC, datetime

import pytest
from submission_workshop import Work, command, commit, copied, git, official, official_repository

from nematodebench.board.collect import collect
from nematodebench.records.git import git as ask
from nematodebench.submissions import history
from nematodebench.submissions.history import merge_history

FIRST, SECOND = "benchmarks/a/b/20990101_000000.json", "benchmarks/a/b/19990101_000000.json"


def committed(root, name, date, text="{}"):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    git(root, "add", "-A")
    environment = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z"}
    words = ["git", "-c", "user.name=T", "-c", "user.email=t@x.org", "commit", "-q", "-m", name]
    subprocess.run(words, cwd=root, env=environment, check=True)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    committed(folder, "other.txt", "2026-01-01T00:00:00Z")
    committed(folder, FIRST, "2026-02-03T04:05:06+02:00")
    return folder


def test_the_date_is_that_of_the_commit_in_utc(root):
    assert merge_history(root).place(FIRST, "20990101_000000") == (1, "20260203_020506")


def test_the_order_is_that_of_the_line_whatever_the_clocks_say(root):
    committed(root, SECOND, "1999-01-01T00:00:00Z")
    found = merge_history(root)
    assert found.place(FIRST, "") < found.place(SECOND, "")


def test_a_branch_counts_from_its_merge(root):
    git(root, "switch", "-q", "-c", "side")
    committed(root, SECOND, "2020-01-01T00:00:00Z")
    git(root, "switch", "-q", "main")
    committed(root, "benchmarks/a/b/20260101_000000.json", "2026-03-01T00:00:00Z")
    environment = {**os.environ, "GIT_COMMITTER_DATE": "2026-04-01T00:00:00Z"}
    words = ["git", "-c", "user.name=T", "-c", "user.email=t@x.org", "merge", "-q", "--no-ff", "-m", "merge", "side"]
    subprocess.run(words, cwd=root, env=environment, check=True)
    assert merge_history(root).place(SECOND, "") == (3, "20260401_000000")


def test_other_bytes_are_another_entry(root):
    committed(root, SECOND, "2026-03-01T00:00:00Z")
    committed(root, FIRST, "2026-04-01T00:00:00Z", "{ }")
    assert merge_history(root).place(FIRST, "") == (3, "20260401_000000")


def test_what_is_not_committed_is_last_and_has_its_own_date(root):
    assert merge_history(root).place(SECOND, "19990101_000000") == (2, "19990101_000000")


def test_a_shallow_or_missing_history_says_so(root, tmp_path):
    committed(root, SECOND, "2026-03-01T00:00:00Z")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    found = merge_history(tmp_path / "shallow")
    assert "shallow" in found.doubt
    assert found.place(SECOND, "19990101_000000") < found.place(FIRST, "20990101_000000")
    (tmp_path / "empty").mkdir()
    assert "no git history" in merge_history(tmp_path / "empty").doubt


@pytest.mark.parametrize(
    "time", ["253402300800", "99999999999999999999", "-62135596801", "-1", "tomorrow", "", "1e9", "0x10"]
)
def test_a_commit_whose_time_is_no_date_keeps_its_place_and_stops_nothing(root, time):
    """Such times are in commits that were made by hand; the one after it has its own."""
    (root / SECOND).write_text("{}")
    git(root, "add", "-A")
    tree, parent = git(root, "write-tree").strip(), git(root, "rev-parse", "HEAD").strip()
    text = f"tree {tree}\nparent {parent}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> {time} +0000\n\nx\n"
    words = ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    made = subprocess.run(words, cwd=root, input=text, text=True, capture_output=True, check=True).stdout.strip()
    git(root, "update-ref", "HEAD", made)
    committed(root, "benchmarks/a/b/20260101_000000.json", "2026-03-01T00:00:00Z")
    found = merge_history(root)
    place, date = found.place(SECOND, "19990101_000000")
    assert place == 2
    assert date in {"19990101_000000", "19700101_000000", "19700101_000001", "19700101_000016"}, date
    assert found.place("benchmarks/a/b/20260101_000000.json", "") == (3, "20260301_000000")


def test_it_takes_one_log_however_many_entries_there_are(root, monkeypatch):
    asked = []
    monkeypatch.setattr(history, "git", lambda *words, folder: asked.append(words[0]) or ask(*words, folder=folder))
    history._read.cache_clear()
    for k in range(3):
        merge_history(root).place(f"{k}", "")
    assert asked.count("log") == 1


def test_a_copy_that_claims_to_be_older_does_not_drive_out_the_original(tmp_path):
    """Both hold the same episodes; the one that was merged first stays."""
    work = official(tmp_path / "repo")
    original = work.path.read_bytes()
    made = work.path
    work.move(timestamp="20200101_000000")
    copy = work.path
    made.write_bytes(original)
    commit(work.root, "copy")
    found = collect(work.root)
    rejected = {one.path: one.reasons for one in found.rejected}
    assert list(rejected) == [copy.relative_to(work.root).as_posix()]
    assert any("holds the same episodes" in reason for reason in rejected[copy.relative_to(work.root).as_posix()])
    assert len(found.waiting) == 1


def test_the_board_says_where_its_dates_come_from(tmp_path):
    work = Work(copied(official_repository(), tmp_path / "repo"))
    seconds = int(git(work.root, "log", "-1", "--format=%ct"))
    (listing,) = collect(work.root).waiting.values()
    assert listing.entry.date == datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d_%H%M%S")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{work.root}", "shallow")
    done = command(tmp_path / "shallow", "board", "show")
    assert "dates and order are the claimed ones" in done.err
