"""Stored sessions can be shown again and compared."""

import json

import pytest
from typer.testing import CliRunner

import nematodebench as nb
from nematodebench.cli import build
from nematodebench.cli.comparison import print_comparisons
from nematodebench.errors import UsageError


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The same seeds for two brains on two tasks, and other seeds for one."""
    root = tmp_path_factory.mktemp("stored")

    def save(brain, task, seed, place):
        return nb.run(task, brain, runs=6, episodes=30, seed=seed).save(root / place)

    for task in ("foraging_small-v1", "predator_small-v1"):
        save("gradient_follower", task, 3, "follower")
        save("null_random", task, 3, "null")
    save("null_random", "foraging_small-v1", 4, "other")
    return root


def command(*arguments):
    result = CliRunner().invoke(build(), [str(argument) for argument in arguments])
    if isinstance(result.exception, UsageError):
        raise result.exception
    return result


def test_report_prints_the_table_and_the_runs(stored):
    (folder,) = (stored / "other").iterdir()
    result = command("report", folder, "--runs")
    assert result.exit_code == 0
    assert "30 episodes a run" in result.stdout
    assert result.stdout.count("| finished") == 6


def test_sessions_of_different_lengths_have_tables_of_their_own(stored, tmp_path):
    short = nb.run("foraging_small-v1", "null_random", runs=6, episodes=5, seed=3).save(tmp_path)
    result = command("report", *(stored / "other").iterdir(), short)
    tables = result.stdout.split("episodes a run")
    assert [table.split()[-1] for table in tables[:2]] == ["30", "5"]
    assert [table.count("| null_random") for table in tables] == [0, 1, 1]


def test_the_ending_of_a_report_says_what_is_written(stored, tmp_path):
    (folder,) = (stored / "other").iterdir()
    assert command("report", folder, "--output", tmp_path / "report.md").exit_code == 0
    assert (tmp_path / "report.md").read_text().startswith("#")
    with pytest.raises(UsageError, match="does not say what is written"):
        command("report", folder, "--output", tmp_path / "pages")


def test_report_refuses_to_mix_tasks(stored):
    with pytest.raises(UsageError, match="different tasks"):
        command("report", *sorted((stored / "null").iterdir()))


def test_compare_pairs_by_seed_and_names_the_better(stored):
    rows = json.loads(command("compare", stored / "follower", stored / "null", "--json").stdout)
    assert {row["task"] for row in rows} == {"foraging_small-v1", "predator_small-v1"}
    assert {row["verdict"] for row in rows} == {"A is better"}
    assert {row["runs"] for row in rows} == {"6, 6 (6 paired)"}
    assert {row["P(A > B)"] for row in rows} == {"1.000 [0.610, 1.000] (!)"}


def test_compare_names_both_brains_once_above_a_table_that_begins_with_the_verdict(stored):
    lines = command("compare", stored / "follower", stored / "null").stdout.splitlines()
    assert lines[2:4] == ["A: gradient_follower", "B: null_random"]
    assert [cell.strip() for cell in lines[5].split("|")[1:4]] == ["task", "verdict", "difference"]


def test_compare_of_different_brains_names_them_in_every_row(capsys):
    rows = [{"task": "a", "A": "x", "B": "y", "verdict": "-"}, {"task": "b", "A": "x", "B": "z", "verdict": "-"}]
    print_comparisons(rows)
    assert "| task | A | B | verdict |" in capsys.readouterr().out


def test_compare_of_a_brain_with_itself_on_other_seeds_shows_nothing(stored):
    (other,) = (stored / "other").iterdir()
    (row,) = json.loads(command("compare", stored / "null", other, "--json").stdout)
    assert row["runs"] == "6, 6 (unpaired)"
    assert row["verdict"].startswith("undecided: about ")
    assert row["verdict"].endswith(" more runs would tell")


def test_compare_needs_a_task_in_common_and_sessions_at_all(stored, tmp_path):
    with pytest.raises(UsageError, match="no stored session"):
        command("compare", stored / "null", tmp_path)
    only = nb.run("foraging_medium-v1", "motionless", runs=2, episodes=20, seed=1).save(tmp_path)
    with pytest.raises(UsageError, match="no task in common"):
        command("compare", stored / "null", only)
