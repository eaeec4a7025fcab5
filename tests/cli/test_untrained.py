"""``nematodebench run --twin`` and the tables of control tasks."""

import json

from typer.testing import CliRunner

from nematodebench.cli import build
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task


def output(*arguments):
    done = CliRunner().invoke(build(), ["run", *arguments, "--workers", "1", "--seed", "3"], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_learner_has_its_twin_and_its_gain_beside_its_score_and_a_policy_has_none():
    text = output("cartpole-v1", "null_random", "q_table", "--runs", "2", "--twin")
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert table[0][4:6] == ["gain", "learning off"]
    assert [row[0] for row in table[2:]] == [
        "null_random",
        "q_table",
        "(floor: analytic)",
        "(null_random)",
        *["(motionless)"] * (load_anchors(get_task("cartpole-v1")).motionless is not None),
        "(best blind policy)",
        "(reference)",
        "(ceiling: analytic)",
    ]
    assert table[2][4:6] == ["-", "-"]
    assert "±" in table[3][4]
    assert "±" in table[3][5]
    assert "best blind policy:" in text
    assert "q_table is not shown to have learned" in text or "q_table has learned" in text
    assert "null_random is" not in text


def test_both_have_the_same_seeds_and_only_one_is_official():
    trained, untrained = json.loads(output("cartpole-v1", "q_table", "--runs", "2", "--untrained", "--json"))
    assert [run["seed"] for run in trained["runs"]] == [run["seed"] for run in untrained["runs"]]
    assert (trained["official"], untrained["official"]) == (True, False)
    assert untrained["task"] == "cartpole_untrained-v1"
    assert untrained["normalised"]["floor"] == trained["normalised"]["floor"]


def test_the_gate_has_its_name_and_descriptors_their_own_table():
    score, descriptors = output("wall_untrained-v1", "motionless", "--runs", "2").split("descriptors (never ranked)")
    assert "gate (movement x coverage)" in score
    assert "ungated" in score
    assert "collisions" not in score
    assert "collisions" in descriptors


def test_an_untrained_session_is_stored_and_runs_again_bit_for_bit(tmp_path):
    printed = output("gridworld-v1", "q_table", "--runs", "2", "--twin", "--track", "--output", str(tmp_path))
    stored = sorted(tmp_path.iterdir())
    assert len(stored) == 2
    for folders in (stored, stored[::-1]):
        report = CliRunner().invoke(build(), ["report", *map(str, folders)], catch_exceptions=False).stdout
        assert report.splitlines()[:12] == printed.splitlines()[:12]  # the report finds the twin
    for folder in stored:
        done = CliRunner().invoke(build(), ["rerun", str(folder), "--run", "1"], catch_exceptions=False)
        assert done.exit_code == 0
