"""The page with a picture of every task."""

import importlib.util
from pathlib import Path

from nematodebench.tasks.registry import get_task

SCRIPT = Path(__file__).parents[2] / "scripts" / "gallery_page.py"
spec = importlib.util.spec_from_file_location("gallery_page", SCRIPT)
gallery_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery_page)


def test_the_page_is_current_and_every_task_has_a_picture():
    """If not: ``python scripts/gallery_page.py --write``."""
    assert gallery_page.PAGE.read_text(encoding="utf-8") == gallery_page.page()
    assert "Without a picture" not in gallery_page.page()


def test_a_moving_picture_of_the_task_comes_before_a_still_one_of_its_world(tmp_path):
    task = get_task("foraging_small-v2")
    assert gallery_page.picture_of(task, tmp_path) is None
    for name in ("foraging.png", "foraging_small.png", "foraging_small.gif"):
        (tmp_path / name).touch()
        assert gallery_page.picture_of(task, tmp_path) == name


def test_only_the_newest_version_of_a_task_is_shown():
    tasks = {name: get_task(name) for name in ("pong-v1", "pong-v2", "torus-v1")}
    assert [task.id for task in gallery_page.newest(tasks)] == ["pong-v2", "torus-v1"]
