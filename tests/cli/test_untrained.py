"""``nematodebench run --untrained`` and the tables of control tasks."""

import json

from typer.testing import CliRunner

from nematodebench.cli import build


def output(*arguments):
    done = CliRunner().invoke(build(), ["run", *arguments, "--workers", "1", "--seed", "3"], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_untrained_brains_are_rows_beside_the_trained_ones():
    text = output("cartpole-v1", "null_random", "motionless", "--runs", "2", "--untrained")
    lines = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert lines[2:6] == ["null_random", "null_random untrained", "motionless", "motionless untrained"]
    assert lines[6:] == [
        "(floor: analytic)",
        "(null_random)",
        "(best blind policy)",
        "(reference)",
        "(ceiling: analytic)",
    ]
    assert "best blind policy:" in text


def test_both_have_the_same_seeds_and_only_one_is_official():
    trained, untrained = json.loads(output("cartpole-v1", "null_random", "--runs", "2", "--untrained", "--json"))
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
    output("cartpole-v1", "null_random", "--runs", "2", "--untrained", "--track", "--output", str(tmp_path))
    stored = sorted(tmp_path.iterdir())
    assert len(stored) == 2
    for folder in stored:
        done = CliRunner().invoke(build(), ["rerun", str(folder), "--run", "1"], catch_exceptions=False)
        assert done.exit_code == 0
