"""Tasks are found by themselves: a new file contributes, a helper is harmless, and the list of ids needs no import."""

import json
from dataclasses import replace

import pytest

import nematodebench.tasks
from nematodebench.tasks import listing, registry
from nematodebench.tasks.registry import built_in_tasks, get_task

TASK_FILE = """
from dataclasses import replace
from nematodebench.tasks.control import TASKS as CONTROL
TASKS = (replace(CONTROL[0], id="wall-v99"),)
"""


@pytest.fixture
def new_room(tmp_path, monkeypatch):
    """A folder whose modules belong to the package of tasks for the length of a test."""
    monkeypatch.setattr(nematodebench.tasks, "__path__", [*nematodebench.tasks.__path__, str(tmp_path)])
    built_in_tasks.cache_clear()
    yield tmp_path
    built_in_tasks.cache_clear()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(folder))
    return folder


def test_a_new_file_is_found_before_it_is_calibrated(new_room):
    (new_room / "task_of_a_test.py").write_text(TASK_FILE)
    assert get_task("wall-v99").world == get_task("wall-v1").world


def test_a_helper_beside_it_is_harmless(new_room):
    (new_room / "helper_of_a_test.py").write_text("VALUE = 1\n")
    assert "wall-v1" in built_in_tasks()


def test_the_list_is_kept_and_read_again(cache, monkeypatch):
    ids = listing.task_ids()
    assert ids == sorted(built_in_tasks())
    monkeypatch.setattr(registry, "built_in_tasks", lambda: pytest.fail("the tasks were imported again"))
    assert listing.task_ids() == ids


def test_the_list_is_made_anew_after_an_edit(cache, monkeypatch, tmp_path):
    listing.task_ids()
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "more.py").write_text(TASK_FILE)
    monkeypatch.setattr(listing, "_PACKAGE", tmp_path)
    new = replace(get_task("wall-v1"), id="wall-v99")
    monkeypatch.setattr(registry, "built_in_tasks", lambda: {"wall-v99": new})
    assert listing.task_ids() == ["wall-v99"]
    assert len(list(cache.glob("*.json"))) == 2


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", "[1]", '["abc", "x"]', '[["a", "b"]]', "[[1, 2, 3]]", "\x00"])
def test_a_spoilt_list_is_made_anew(cache, content):
    ids = listing.task_ids()
    (path,) = cache.iterdir()
    path.write_text(content)
    assert listing.task_ids() == ids
    assert sorted(line[0] for line in json.loads(path.read_text())[1]) == ids


def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NEMATODEBENCH_CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert listing.task_ids() == sorted(built_in_tasks())


def test_a_user_without_a_home_can_list_tasks(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NEMATODEBENCH_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", no_home)
    assert listing.task_ids() == sorted(built_in_tasks())


def test_the_newest_version_of_every_task():
    assert listing.newest_versions(["a-v1", "a-v10", "a-v9", "b-c-v1"]) == {"a-v10", "b-c-v1"}
