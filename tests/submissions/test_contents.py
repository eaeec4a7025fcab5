"""Folders have one hash, whoever computes it: this process, or a child ahead of time."""

import os
import sys

import pytest

from nematodebench.submissions import contents
from nematodebench.submissions.contents import Ahead, folder_hash


@pytest.fixture
def ahead():
    made = Ahead()
    yield made
    made.close()


def _folders(tmp_path, count):
    for k in range(count):
        (tmp_path / f"f {k}").mkdir()
        (tmp_path / f"f {k}" / "a").write_bytes(b"x" * k)
    return [str(tmp_path / f"f {k}") for k in range(count)]


def test_the_child_finds_the_same(ahead, tmp_path):
    folders = _folders(tmp_path, 20)
    ahead.announce(folders[:10])
    ahead.announce(folders[10:])
    ahead.all_announced()
    found = [ahead.find(folder) for folder in reversed(folders)]
    assert found == [folder_hash(folder) for folder in reversed(folders)]
    assert len(set(found)) == 20
    assert ahead.find(folders[0]) is None  # each is told once: who asks again wants to know how it is now


def test_any_changed_byte_name_or_size_is_another_hash(tmp_path):
    (folder,) = _folders(tmp_path, 1)
    path, found = tmp_path / "f 0" / "a", set()
    for content in (b"", b"\0", b"\1", b"\0\0", b"x" * (1 << 20), b"x" * (1 << 20) + b"y"):
        path.write_bytes(content)
        found.add(folder_hash(folder))
    path.rename(tmp_path / "f 0" / "b")
    found.add(folder_hash(folder))
    (tmp_path / "f 0" / "c").touch()
    found.add(folder_hash(folder))
    assert len(found) == 8


@pytest.mark.parametrize("kind", ["missing", "file", "link", "link inside", "hard link", "pipe", "folder inside"])
def test_what_is_no_folder_of_plain_files_has_none(ahead, tmp_path, kind):
    place, (theirs, other) = tmp_path / "it", _folders(tmp_path, 2)
    if kind == "file":
        place.touch()
    elif kind == "link":
        place.symlink_to(theirs)
    elif kind != "missing":
        place.mkdir()
        inside = place / "a"
        {
            "link inside": lambda: inside.symlink_to(f"{theirs}/a"),
            "hard link": lambda: inside.hardlink_to(f"{theirs}/a"),
            "pipe": lambda: os.mkfifo(inside),
            "folder inside": inside.mkdir,
        }[kind]()
    with pytest.raises((OSError, ValueError)):
        folder_hash(str(place))
    ahead.announce([str(place), other])
    ahead.all_announced()
    assert (ahead.find(str(place)), ahead.find(other)) == (None, folder_hash(other))


def test_more_names_than_pipes_hold_do_not_stop_anybody(ahead, tmp_path):
    (one,) = _folders(tmp_path, 1)
    many = [f"{one}/{'n' * 200}{k}" for k in range(30_000)]
    for start in range(0, len(many), 100):
        ahead.announce(many[start : start + 100])
    ahead.announce([one])
    ahead.all_announced()
    assert ahead.find(one) == folder_hash(one)


@pytest.mark.parametrize("program", ["/bin/false", "/nowhere/python", "/bin/cat"])
def test_without_a_child_nothing_is_known_ahead_and_nobody_waits(ahead, tmp_path, monkeypatch, program):
    monkeypatch.setattr(contents.sys, "executable", program)
    folders = _folders(tmp_path, 3)
    for _ in range(2000):
        ahead.announce(folders)
    ahead.all_announced()
    assert [ahead.find(folder) for folder in folders] == [None] * 3


def test_a_newline_in_a_name_gives_no_other_folder_its_hash(ahead, tmp_path):
    first, second = _folders(tmp_path, 2)
    ahead.announce([f"{first}\n{second}", second])
    ahead.all_announced()
    assert ahead.find(f"{first}\n{second}") is None
    assert ahead.find(second) in {None, folder_hash(second)}


def test_a_child_that_is_killed_leaves_the_rest_to_us(ahead, tmp_path):
    (folder,) = _folders(tmp_path, 1)
    ahead.announce([folder])
    ahead._child.kill()
    ahead._child.wait()
    ahead.announce([folder] * 100_000)
    ahead.all_announced()
    assert ahead.find(folder) is None


def test_it_starts_without_libraries():
    source = open(contents.__file__).read()  # noqa: SIM115, PTH123
    imported = {
        line.split()[1].partition(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names)
