"""``nematodebench tasks NAME`` and the pages under docs/tasks."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nematodebench.board.ranking import Entry, rank
from nematodebench.cli import build
from nematodebench.cli.task_page import published_boards, summary_table, task_page
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.meaning import meaning
from nematodebench.tasks.ranked import lines_of
from nematodebench.tasks.registry import built_in_tasks, get_task

ROOT = Path(__file__).parents[2]
TASKS = list(built_in_tasks().values())


def lines_of_table(page):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page if line.startswith("| ")]
    return {row[0]: row for row in rows}


def boards(*means):
    entries = [
        Entry(str(k), f"brain{k}", "foraging_small-v1", False, mean, (mean - 0.01, mean + 0.01), 0.1, "None", "2026")
        for k, mean in enumerate(means)
    ]
    return rank(entries)[0]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_every_task_says_in_one_sentence_what_it_measures_and_has_a_page(task):
    assert meaning(task).endswith(".")
    assert meaning(task).count(".") == 1
    page = "\n".join(task_page(task, None))
    assert meaning(task) in page
    assert f"World `{task.world.name}`" in page
    assert ":class:" not in page and not re.search(r"-0\.0+\b", page)


@pytest.mark.parametrize("name", ["foraging_small-v1", "cartpole-v1", "gridworld-v1"])
def test_a_page_has_every_line_that_scores_are_read_against(name):
    task = get_task(name)
    anchors, table = load_anchors(task), lines_of_table(task_page(task, None))
    for line in ("ceiling", "reference", "best blind policy", "motionless", "null policy", "floor"):
        assert line in table
    assert f"{anchors.blind.value:.3f}" in table["best blind policy"][1]
    assert anchors.blind.policy in table["best blind policy"][4]
    assert table["ceiling"][2] == "1.000"
    assert table["floor"][2] in {"0.000", "-0.000"}


def test_a_page_says_how_its_lines_are_read_and_where_a_long_recipe_is():
    named = {name: "\n".join(task_page(get_task(name), None)) for name in ("gridworld-v3", "gridworld-v1")}
    for page in named.values():
        assert "*Normalised* is 0 at the floor and 1 at the ceiling." in page
        assert "skill begins above it" in page
    place = "src/nematodebench/tasks/anchors/gridworld-v3.json"
    assert f"`blind.segments` of `{place}`" in named["gridworld-v3"]
    assert (ROOT / place).is_file()
    assert "blind.segments" not in named["gridworld-v1"]  # one action for ever is told as a whole
    assert "motionless; motionless" not in named["gridworld-v3"]


def test_one_episode_is_not_called_episodes():
    assert "| assay | chemotaxis | 1 episode |" in "\n".join(task_page(get_task("foraging_small-v2"), None))


def test_a_page_tells_the_resolution():
    page = "\n".join(task_page(get_task("foraging_small-v1"), boards(0.9, 0.895, 0.5)))
    assert "Resolution 0.67: it tells 2 of 3 pairs of published learners apart." in page
    assert "fewer than two learners are published" in "\n".join(task_page(get_task("foraging_small-v1"), boards(0.9)))


def test_the_index_shows_the_conditions():
    table = summary_table([get_task("pong-v1"), get_task("torus-v1")], {})
    assert table[2].split(" | ")[3] == f"{lines_of(load_anchors(get_task('pong-v1'))).blind:.3f}"
    assert "the best blind policy gets" in table[2]
    assert table[3].endswith("| no: it has no score |")


def test_the_command_prints_the_page():
    done = CliRunner().invoke(build(), ["tasks", "foraging_small-v2", "--root", str(ROOT)], catch_exceptions=False)
    board = published_boards(ROOT)["foraging_small-v2"]
    assert (
        done.stdout.rstrip("\n").splitlines() == "\n".join(task_page(get_task("foraging_small-v2"), board)).splitlines()
    )


def test_a_folder_without_submissions_has_no_boards(tmp_path):
    assert published_boards(tmp_path) == {}


def test_what_nobody_has_verified_changes_no_page(tmp_path):
    """Two invented entries could otherwise make a task a ranked one."""
    for name in ("benchmarks", "keys"):
        shutil.copytree(ROOT / name, tmp_path / name)
    assert published_boards(tmp_path) == {}
    (tmp_path / "verifications").mkdir()
    record = "wall_classical_20261116_185833.dsse.json"
    shutil.copy(ROOT / "verifications" / record, tmp_path / "verifications")
    board = published_boards(tmp_path)["wall-v2"]
    assert [standing.entry.brain for standing in board.standings] == ["mlp_ppo"]


def test_a_folder_without_entries_does_not_say_that_a_task_is_unranked(tmp_path):
    shown = CliRunner().invoke(build(), ["tasks", "association-v2", "--root", str(tmp_path)])
    assert shown.exit_code == 0
    assert "Not ranked" not in shown.output
    assert "give --root CLONE" in shown.output
