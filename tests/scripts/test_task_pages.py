"""The pages of tasks under docs/tasks."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "task_pages.py"
spec = importlib.util.spec_from_file_location("task_pages", SCRIPT)
task_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(task_pages)


def test_the_pages_are_current():
    """If not: ``python scripts/task_pages.py --write``."""
    assert task_pages.stale(task_pages.pages()) == []


def test_a_page_that_changed_is_missing_or_belongs_to_no_task_is_stale(tmp_path):
    wanted = {"a.md": "a", "b.md": "b", "c.md": "c"}
    for name, content in {"a.md": "a", "b.md": "x", "d.md": "d"}.items():
        (tmp_path / name).write_text(content)
    assert task_pages.stale(wanted, tmp_path) == ["b.md", "c.md", "d.md"]
