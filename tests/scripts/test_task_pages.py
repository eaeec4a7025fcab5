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


def test_no_independent_search_has_beaten_a_line():
    assert task_pages.beaten(list(task_pages.built_in_tasks().values())) == []


def test_a_better_search_is_seen_and_one_of_another_specification_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(task_pages, "SEARCHES", tmp_path)
    task = task_pages.get_task("wall-v2")
    line = task_pages.load_anchors(task).blind.value
    for spec, gain, expected in ((task.spec_hash, 0.06, ["wall-v2"]), (task.spec_hash, 0.04, []), ("other", 0.06, [])):
        (tmp_path / "wall-v2.json").write_text(f'{{"spec": "{spec}", "value": {line + gain}}}')
        assert task_pages.beaten([task]) == expected


def test_the_index_has_earlier_versions_in_a_table_of_their_own():
    current, earlier = task_pages.pages()["README.md"].split("## Earlier versions")
    earlier = earlier.split("## The search")[0]
    assert "| [gridworld-v3]" in current
    assert "| [gridworld-v2]" in earlier
    assert "| [gridworld-v2]" not in current
    assert "| [gridworld-v3]" not in earlier
    assert "has taken its place" not in current
