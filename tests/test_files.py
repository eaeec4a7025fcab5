"""Folders that are made while other processes clean up beside them: nothing that somebody is at is removed."""

import fcntl
import os
import subprocess
import sys

import pytest

from nematodebench import files
from nematodebench.files import LOCK, clean_leftovers, new_folder, scratch_folder


def make(folder):
    with new_folder(folder, "It", lambda place: (place / "content").write_text("x")):
        assert sorted(path.name for path in folder.iterdir()) == [LOCK, "content"]
    return sorted(path.name for path in folder.parent.iterdir())


@pytest.mark.parametrize("moment", ["before its lock is there", "before its lock is held"])
@pytest.mark.parametrize("scratch", [False, True], ids=["new", "scratch"])
def test_a_folder_that_another_process_takes_for_a_leftover_is_made_again(tmp_path, monkeypatch, moment, scratch):
    original, cleaned = fcntl.flock, []

    def clean(*given):
        if not cleaned:
            cleaned.append(given)
            clean_leftovers(tmp_path)

    def flock(stream, how):
        clean()
        return original(stream, how)

    if moment.endswith("held"):
        monkeypatch.setattr(files.fcntl, "flock", flock)
    else:
        held = files.held
        monkeypatch.setattr(files, "held", lambda *given: (clean(), held(*given))[1])
    if scratch:
        with scratch_folder(tmp_path / "made") as place:
            (place / "content").write_text("x")
    else:
        assert make(tmp_path / "made") == ["made"]
    assert cleaned


def test_what_is_left_of_a_folder_is_removed_and_one_that_is_held_stays(tmp_path):
    half, empty, held = (tmp_path / f".{name}.{12345678 + n}" for n, name in enumerate(("half", "empty", "held")))
    for folder in (half, empty, held):
        folder.mkdir()
    (half / "content").touch()
    with files.held(held, "It"):
        clean_leftovers(tmp_path)
        assert list(tmp_path.iterdir()) == [held]
    clean_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_gets_its_lock_while_it_is_looked_at_stays(tmp_path, monkeypatch):
    place = tmp_path / ".made.12345678"
    place.mkdir()
    original = os.rmdir

    def rmdir(path, **given):
        (place / LOCK).touch()  # the process that makes it is just that far
        original(path, **given)

    monkeypatch.setattr(os, "rmdir", rmdir)
    clean_leftovers(tmp_path)
    assert (place / LOCK).is_file()


MANY = """
import sys
from pathlib import Path
from nematodebench.files import new_folder
for k in range(60):
    with new_folder(Path(sys.argv[1], "around", f"{sys.argv[2]}_{k}"), "It", lambda place: (place / "a").touch()):
        pass
"""


def test_many_folders_that_are_made_at_once_are_all_there(tmp_path):
    """Each process cleans what killed ones have left, in the folder where the others make theirs."""
    processes = [subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), str(k)]) for k in range(3)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    assert len(list((tmp_path / "around").iterdir())) == 180
