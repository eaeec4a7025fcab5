"""Nothing is checked twice, and nothing is believed that somebody else could have put there."""

import shutil
import sqlite3
from typing import ClassVar

import pytest
from signed_workshop import KEY, Forge, public_key
from submission_workshop import commit

from nematodebench.board import collect as board_collect
from nematodebench.board.collect import collect
from nematodebench.submissions import judging, known
from nematodebench.submissions.guarded import verdict_on
from nematodebench.submissions.store import load_submission
from nematodebench.verification import store
from nematodebench.verification.keys import Revocation, _write


class Count:
    """A judge in this process who counts."""

    judged: ClassVar[list[str]] = []

    def __init__(self, root):
        self._root = root

    def judge(self, path):
        self.judged.append(path.name)
        return verdict_on(path, self._root, alone=True)

    def __exit__(self, *_error):
        pass


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own, outside of the repository."""
    monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(judging, "Judge", Count)
    return tmp_path / "cache" / known.FOLDER


@pytest.fixture
def forge(tmp_path):
    return Forge(tmp_path / "repo")


def judged(root):
    """How many submissions are judged for the board, which shows both entries of the repository."""
    Count.judged.clear()
    found = collect(root)
    assert (len(found.listings), found.rejected) == (2, [])
    return len(Count.judged)


def test_what_has_not_changed_is_not_judged_again(forge):
    assert [judged(forge.root), judged(forge.root)] == [2, 0]


def test_one_that_is_added_is_the_only_one_to_be_judged(forge):
    record = forge.path.read_bytes()
    content = forge.submission.read_bytes()
    forge.submission.unlink()
    forge.path.unlink()
    collect(forge.root)
    forge.submission.write_bytes(content)
    forge.path.write_bytes(record)
    assert judged(forge.root) == 1


def test_records_of_verification_are_computed_once(forge, monkeypatch):
    judged(forge.root)
    monkeypatch.setattr(store, "_opened", None)
    assert judged(forge.root) == 0


def test_a_change_of_the_code_that_judges_makes_all_verdicts_old(forge, monkeypatch):
    judged(forge.root)
    monkeypatch.setattr(known, "judging_code", lambda: "f" * 64)
    assert judged(forge.root) == 2


def folder_of(forge):
    return forge.root / "artifacts" / "experiments" / forge.statement["subject"][1]["name"].split("/")[-2]


@pytest.mark.parametrize("name", ["episodes.parquet", "follower.yml", "{id}.json"])
def test_a_changed_byte_in_a_file_of_a_session_is_judged_and_refused(forge, name):
    judged(forge.root)
    path = folder_of(forge) / name.format(id=folder_of(forge).name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    for _ in range(2):  # what is refused is judged anew each time
        Count.judged.clear()
        found = collect(forge.root)
        assert (len(found.listings), len(Count.judged)) == (1, 1)


def test_a_file_beside_those_of_a_session_and_a_link_to_its_folder_are_refused(forge, tmp_path):
    judged(forge.root)
    stray = folder_of(forge) / "stray.txt"
    stray.write_text("a word")
    assert len(collect(forge.root).listings) == 1
    stray.unlink()
    assert judged(forge.root) == 0
    folder_of(forge).rename(tmp_path / "elsewhere")
    folder_of(forge).symlink_to(tmp_path / "elsewhere")
    assert len(collect(forge.root).listings) == 1


def test_a_config_that_changes_or_leaves_git_is_judged_again(forge):
    judged(forge.root)
    config = forge.root / "configs" / "follower.yml"
    config.write_text(config.read_text() + "# a word more\n")
    assert judged(forge.root) == 1
    (forge.root / "configs" / "follower.yml").rename(forge.root / "follower.yml")
    commit(forge.root, "moved")
    assert len(collect(forge.root).listings) == 1


def test_a_record_by_a_key_that_was_revoked_since_is_not_believed(forge):
    judged(forge.root)
    _write(forge.root, public_key(KEY, revoked=Revocation(date="2026-01-02", reason="lost")))
    found = collect(forge.root)
    assert (found.listings, len(found.waiting)) == ({}, 2)
    assert "is revoked" in " ".join(reason for one in found.rejected for reason in one.reasons)


def test_a_submission_that_changes_after_its_verification_is_not_believed(forge):
    judged(forge.root)
    forge.submission.write_bytes(forge.submission.read_bytes() + b"\n")
    assert "its bytes have changed" in " ".join(collect(forge.root).rejected[0].reasons)


def test_bytes_that_move_from_one_file_to_the_next_are_another_folder(tmp_path):
    judge, found = judging.PatientJudge(tmp_path, known.Known(None)), set()
    for files in ({"a": "xy", "b": "z"}, {"a": "x", "b": "yz"}, {"a": "xyz", "b": ""}, {"axy": "", "b": "z"}):
        folder = tmp_path / "artifacts" / "experiments" / "one"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        found.add(judge._content("artifacts/experiments/one"))
    assert len(found) == 4


def test_a_submission_is_parsed_once_and_read_each_time(forge, monkeypatch):
    judged(forge.root)
    shown = {one.path: one.submission for one in collect(forge.root).listings.values()}
    monkeypatch.setattr(board_collect, "parsed_submission", None)
    assert {one.path: one.submission for one in collect(forge.root).listings.values()} == shown
    assert all(load_submission(forge.root / path) == one for path, one in shown.items())


class TestPlanted:
    """Somebody wants a verdict to be believed."""

    def test_a_cache_inside_of_the_repository_is_not_believed(self, forge, monkeypatch):
        monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(forge.root / "cache"))
        assert [judged(forge.root), judged(forge.root)] == [2, 2]

    def test_nor_one_that_a_link_leads_into_the_repository(self, forge, tmp_path, monkeypatch):
        (forge.root / "cache").mkdir()
        (tmp_path / "link").symlink_to(forge.root / "cache")
        monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(tmp_path / "link"))
        assert [judged(forge.root), judged(forge.root)] == [2, 2]

    def test_a_database_of_another_cache_is_not_believed(self, forge, cache, tmp_path):
        judged(forge.root)
        shutil.copytree(cache, tmp_path / "theirs")
        (cache / "secret").unlink()
        assert judged(forge.root) == 2
        for path in (tmp_path / "theirs").glob("*.sqlite"):
            shutil.copy(path, cache / path.name)
        assert judged(forge.root) == 2

    def test_a_line_without_our_seal_is_not_believed(self, forge, cache):
        judged(forge.root)
        (path,) = cache.glob("*.sqlite")
        with sqlite3.connect(path) as database:
            database.execute("UPDATE findings SET seal = zeroblob(32)")
        database.close()
        assert judged(forge.root) == 2

    @pytest.mark.parametrize("place", [".", "..", "secret", "*.sqlite"])
    def test_what_others_may_write_is_not_believed(self, forge, cache, place):
        judged(forge.root)
        (path,) = [cache / place] if place in {".", "..", "secret"} else cache.glob(place)
        path.chmod(0o777)
        assert judged(forge.root) == 2

    def test_a_database_that_is_damaged_is_made_anew(self, forge, cache):
        judged(forge.root)
        (path,) = cache.glob("*.sqlite")
        path.write_bytes(b"not a database" * 1000)
        assert [judged(forge.root), judged(forge.root)] == [2, 0]


def test_where_nothing_can_be_written_everything_is_judged(forge, cache):
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("in the way")
    assert [judged(forge.root), judged(forge.root)] == [2, 2]


def test_databases_of_former_code_are_removed(cache, monkeypatch):
    cache.mkdir(mode=0o700, parents=True)
    for k in range(9):
        monkeypatch.setattr(known, "judging_code", lambda k=k: f"{k}" * 64)
        with known.Known(cache) as one:
            one.keep("found", "basis")
            assert one.find("basis") == "found"
    assert len(list(cache.glob("*.sqlite"))) == 4
