"""`run A B --until decided` stops when the verdict falls, and `--dry-run` says what a plan can find out."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import nematodebench as nb
from nematodebench.cli import build
from nematodebench.errors import UsageError
from nematodebench.records.store import load_experiment
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.detectable import Detectable, detectable
from nematodebench.sessions.execution import extend
from nematodebench.sessions.plan import make_plan
from nematodebench.stats import detectable_difference

TASK = "foraging_small-v1"


def command(*arguments):
    result = CliRunner().invoke(build(), [str(argument) for argument in arguments])
    if isinstance(result.exception, UsageError):
        raise result.exception
    return result


def test_a_clear_case_is_decided_at_the_first_look_and_stored(tmp_path):
    line = ("run", TASK, "gradient_follower", "null_random", "--episodes", 20, "--until", "decided", "--max-runs", 40)
    result = command(*line, "--workers", 1, "--track", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert "A = gradient_follower, B = null_random, look 1 of at most 4" in result.output
    assert "| A is better |" in result.output
    records = [load_experiment(folder) for folder in tmp_path.iterdir()]
    assert {record.num_runs for record in records} == {10}
    assert len({record.session_seed for record in records}) == 1
    first, second = ([run.seed for run in record.runs] for record in records)
    assert first == second


def test_a_brain_against_itself_is_the_same_in_every_run():
    line = ("run", TASK, "null_random", "null_random", "--episodes", 20, "--until", "decided", "--seed", 3)
    found = command(*line, "--workers", 1, "--max-runs", 60).output
    assert "equivalent: the same in every run; up to 5.0% of runs may be unlike these 60" in found
    few = command(*line, "--workers", 1, "--max-runs", 10).output
    assert "undecided: 10 runs agree, 50 more would show equivalence" in few


def test_machines_are_told_the_verdict_too():
    line = ("run", TASK, "gradient_follower", "null_random", "--episodes", 20, "--until", "decided", "--max-runs", 40)
    found = json.loads(command(*line, "--seed", 3, "--workers", 1, "--json").stdout)
    assert (found["verdict"]["outcome"], found["verdict"]["looks"]) == ("better", 1)
    assert found["comparison"]["pairs"] == 10
    assert [record["brain"] for record in found["sessions"]] == ["gradient_follower", "null_random"]


def test_a_session_is_extended_without_running_anything_twice():
    short = nb.run(TASK, "null_random", runs=3, episodes=20, seed=3, workers=1)
    longer, whole = extend(short, 5), nb.run(TASK, "null_random", runs=5, episodes=20, seed=3, workers=1)
    assert longer.results[:3] == short.results
    assert [run.record_hash for run in longer.runs] == [run.record_hash for run in whole.runs]
    assert longer.plan.config_text == whole.plan.config_text
    assert longer.metrics.composite_score == whole.metrics.composite_score


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("null_random", "--until", "decided"), "compares two brains"),
        (("null_random", "motionless", "--until", "bored"), "`decided`"),
        (("null_random", "motionless", "--until", "decided", "--runs", 5), "leave out --runs"),
        (("null_random", "motionless", "--until", "decided", "--max-runs", 2), "at least 3"),
    ],
)
def test_what_cannot_be_decided_is_refused(words, message):
    with pytest.raises(UsageError, match=message):
        command("run", TASK, *words)


def test_a_dry_run_says_what_the_plan_detects_and_what_that_assumes():
    (row,) = json.loads(command("run", TASK, "q_table", "--runs", 50, "--dry-run", "--json").stdout)
    assert "between two brains with 80 % power, if runs have std" in row["smallest_difference"]
    assert "measured of the blind policy" in row["smallest_difference"]
    assert "if half of the runs fail" in row["smallest_difference"]
    (single,) = json.loads(command("run", TASK, "q_table", "--runs", 1, "--dry-run", "--json").stdout)
    assert single["smallest_difference"] == "none: one run has no spread"


@pytest.mark.parametrize("brain", ["q_table", "spiking_rstdp", "eprop"])
def test_a_dry_run_assumes_what_the_runs_of_a_learner_spread(brain):
    """Policies that never learn spread much less: with theirs the plan would promise too much."""
    plan = make_plan(SessionConfig(task="association-v2", brain=brain, runs=40, seed=77), workers=1)
    runs = [run.metrics["reward"] for run in nb.run("association-v2", brain, runs=40, seed=77, workers=1).runs]
    found = detectable(plan)
    assert 0.7 < found.std / np.std(runs, ddof=1) < 1.4
    assert found.difference == pytest.approx(detectable_difference(np.sqrt(2) * found.std, 40))


def test_a_learner_that_was_not_measured_is_taken_for_the_middle_one(monkeypatch):
    plan = make_plan(SessionConfig(task="association-v2", brain="q_table", runs=40, seed=77), workers=1)
    measured = {"association-v2": {"a": 1.0, "b": 2.0, "c": 9.0}}
    monkeypatch.setattr("nematodebench.sessions.detectable._measured", lambda: measured)
    assert (detectable(plan).std, detectable(plan).source) == (2, "the middle of 3 learners that were measured")
    never = make_plan(SessionConfig(task="association-v2", brain="null_random", runs=40, seed=77), workers=1)
    assert "anchors" in detectable(never).source


@pytest.mark.parametrize(
    ("difference", "worst", "told"),
    [
        (0.2, 0.7, "0.2000 (0.250 normalised)"),
        (0.2, 2.5, "; none if half of the runs fail"),
        (0.9, 2.5, "none between"),
    ],
)
def test_a_difference_that_no_two_brains_can_have_is_not_promised(difference, worst, told):
    found = str(Detectable(difference, 0.8, 0.1, "measured", worst))
    assert told in found
    assert "2.5" not in found


def test_the_plan_of_a_dry_run_has_a_line_for_each_parameter_and_fits_a_page():
    text = command("run", TASK, "mlp_ppo", "--runs", 50, "--dry-run").stdout
    assert "| config           | hidden = [64, 64]" in text and "gamma = 0.95" in text
    assert max(len(line) for line in text.splitlines() if line.startswith("|")) <= 100
    assert "smallest difference that can be shown: 0.0" in text
    assert "| config           | -" in command("run", TASK, "null_random", "--runs", 50, "--dry-run").stdout


def test_compare_has_words_for_constants(tmp_path):
    places = [nb.run(TASK, "null_random", runs=3, episodes=20, seed=3, workers=1).save(tmp_path / k) for k in "ab"]
    (row,) = json.loads(command("compare", *places, "--json").stdout)
    assert (row["interval"], row["p (Holm)"]) == ("constant", "-")
    assert row["verdict"] == "undecided: 3 runs agree, 57 more would show equivalence"


@pytest.mark.parametrize(("runs", "verdict"), [(1, "one pair cannot tell"), (2, "two pairs cannot tell")])
def test_compare_has_words_for_very_few_runs(runs, verdict, tmp_path):
    places = [
        nb.run(TASK, brain, runs=runs, episodes=20, seed=3, workers=1).save(tmp_path / brain)
        for brain in ("gradient_follower", "null_random")
    ]
    (row,) = json.loads(command("compare", *places, "--json").stdout)
    assert (row["p (Holm)"], row["verdict"]) == ("-", f"undecided: {verdict}")


def test_a_smallest_effect_is_above_zero(tmp_path):
    place = nb.run(TASK, "null_random", runs=3, episodes=20, seed=3, workers=1).save(tmp_path)
    assert command("compare", place, place, "--smallest-effect", 0).exit_code == 2
