"""Lines of policies that ignore their input: measured, stored, and of the standard settings only."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from nematodebench import scoring
from nematodebench.cli import build
from nematodebench.continual import lines as stored
from nematodebench.continual import runs
from nematodebench.continual.lines import load_lines, write_lines
from nematodebench.continual.report import summarise
from nematodebench.continual.runs import Settings, run_continual
from nematodebench.errors import UsageError
from nematodebench.tasks.continual import continual_task


@pytest.fixture
def few_null_runs(monkeypatch):
    """The null policy's own score is no matter of these tests."""
    monkeypatch.setattr(runs, "NULL_RUNS", 5)


STANDARD = Settings(runs=40, seed=9, probe_episodes=0, alone=False, workers=1)


def test_other_settings_have_no_lines():
    assert [line.name for line in load_lines(STANDARD)] == ["motionless", "best constant"]
    assert load_lines(replace(STANDARD, order=("gridworld", "realtime"))) == []
    assert load_lines(replace(STANDARD, episodes={"gridworld": 12})) == []


@pytest.mark.parametrize("line", load_lines(STANDARD), ids=lambda line: line.name)
def test_a_line_measured_on_other_seeds_agrees(line):
    brain, config = ("motionless", None)
    if line.name == "best constant":
        brain, config = "blind_cycle", {"segments": [[1.0, float(line.policy.split()[1])]]}
    again = stored._primaries(continual_task(), brain, config or {}, 40, 9)
    for profile, values in again.items():
        wanted = line.scores[profile]
        error = np.hypot(np.std(values, ddof=1) / np.sqrt(40), wanted.se)
        assert abs(np.mean(values) - wanted.primary) <= 4 * error


def test_doing_nothing_does_not_score_0_and_the_best_constant_beats_it():
    still, constant = load_lines(STANDARD)
    for profile in scoring.PROFILES:
        assert 0.0 < still.scores[profile].anchored < constant.scores[profile].anchored < 0.25


def test_lines_of_another_task_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(stored, "lines_path", lambda name: tmp_path / f"{name}.json")
    write_lines(replace(continual_task(), score_key="x"), [])
    with pytest.raises(UsageError, match="of another task"):
        load_lines(STANDARD)


def test_a_twin_stands_beside_the_brain_and_gains_are_of_the_primary_score(few_null_runs):
    settings = replace(STANDARD, runs=3, twin=True)
    result = run_continual("q_table", None, settings)
    report = summarise(result)
    assert [run.seed for run in result.twin.runs] == [run.seed for run in result.session.runs]
    assert report.gains["nenv-v2"].trained.mean == pytest.approx(report.profiles["nenv-v2"].primary.mean)
    assert report.gains["nenv-v2"].difference > 0
    assert summarise(run_continual("motionless", None, settings)).gains == {}


def test_the_command_prints_the_lines(few_null_runs):
    line = [
        "continual",
        "q_table",
        "--runs",
        "2",
        "--seed",
        "1",
        "--workers",
        "1",
        "--no-alone",
        "--test-episodes",
        "0",
    ]
    text = CliRunner().invoke(build(), [*line, "--twin"], catch_exceptions=False).stdout
    rows = [row.split("|")[1].strip() for row in text.split("| policy")[1].splitlines() if row.startswith("| ")]
    assert rows[1:3] == ["q_table", "q_table, learning off"]
    assert rows[3] == "(null_random)"
    assert rows[4].startswith("(motionless")
    assert rows[5].startswith("(best constant: action")
    assert "nenv-v2: q_table " in text
