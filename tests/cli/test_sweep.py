"""``nematodebench sweep``: the plan, the tidy table, paired seeds, going on after a kill."""

import json
import subprocess
import sys
import time

import polars as pl
import pytest
from typer.testing import CliRunner

import nematodebench as nb
from nematodebench.cli import build
from nematodebench.errors import Interrupted, UsageError
from nematodebench.sessions.sweep import make_cells, parse_grid

TASKS = "cartpole_untrained-v1,wall_untrained-v1"
GRID = ["--grid", "mlp_ppo.gamma=.9,.95", "--grid", "mlp_ppo.hidden=[8],[8,8]"]


def arguments(folder, *more, tasks=TASKS, brains="null_random,mlp_ppo", grid=GRID, runs=2):
    line = ["sweep", "--tasks", tasks, "--brains", brains, *grid, "--runs", str(runs), "--workers", "1"]
    return [*line, "--output", str(folder), *more]


def command(folder, *more, **what):
    done = CliRunner().invoke(build(), arguments(folder, *more, **what), catch_exceptions=False)
    return done.exit_code, done.stdout


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    code, text = command(folder, "--seed", "4")
    assert code == 0
    return folder, text


def test_a_grid_is_read_as_lists_of_values():
    grid = parse_grid(["learning_rate=1e-3,1e-4", "hidden=[8],[8,8]", "brain.kind=a,b"])
    assert grid == {"learning_rate": [1e-3, 1e-4], "hidden": [[8], [8, 8]], "brain.kind": ["a", "b"]}


@pytest.mark.parametrize("text", ["gamma", "gamma=", "=1"])
def test_a_broken_grid_is_refused(text):
    with pytest.raises(UsageError, match="key=value,value"):
        parse_grid([text])


def test_a_key_that_a_brain_does_not_have_is_refused():
    with pytest.raises(UsageError, match="Brain 'null_random' has no parameter 'gamma'"):
        make_cells(["wall-v1"], ["mlp_ppo", "null_random"], {"gamma": [0.9]}, 1, 0, 1)


def test_a_key_of_a_brain_that_is_not_swept_is_refused():
    with pytest.raises(UsageError, match="'mlp_dqn' is none of the brains mlp_ppo"):
        make_cells(["wall-v1"], ["mlp_ppo"], {"mlp_dqn.gamma": [0.9]}, 1, 0, 1)


def test_a_sweep_that_is_stopped_says_how_to_go_on(tmp_path, monkeypatch):
    def stopped(*given, **more):
        raise Interrupted

    monkeypatch.setattr("nematodebench.cli.sweep.execute_plan", stopped)
    with pytest.raises(Interrupted, match="the same command runs the cells that are left"):
        command(tmp_path)


def test_cells_are_every_combination():
    cells = make_cells(["wall-v1", "pong-v1"], ["mlp_ppo"], {"gamma": [0.9, 0.95], "clip": [0.1, 0.2]}, 1, 0, 1)
    assert len(cells) == 8
    assert len({cell.key for cell in cells}) == 8


def test_the_table_has_one_row_a_run(swept):
    frame = pl.read_parquet(swept[0] / "sweep.parquet")
    assert len(frame) == 2 * (1 + 4) * 2
    head = {"task", "brain", "parameter.gamma", "parameter.hidden", "seed", "score", "normalised", "metric.nav_score"}
    assert head <= set(frame.columns)
    assert frame["score"].null_count() == 0


def test_cells_have_paired_seeds(swept):
    frame = pl.read_parquet(swept[0] / "sweep.parquet")
    assert frame.group_by("run").agg(pl.col("seed").n_unique())["seed"].to_list() == [1, 1]


def test_a_cell_is_the_session_of_its_seed(swept):
    frame = pl.read_parquet(swept[0] / "sweep.parquet")
    session = nb.run("wall_untrained-v1", "null_random", runs=2, seed=4, workers=1)
    mine = frame.filter((pl.col("task") == "wall_untrained-v1") & (pl.col("brain") == "null_random"))
    assert mine["score"].to_list() == [run.metrics["nav_score"] for run in session.runs]


def test_the_summary_has_scores_settings_anchors_and_shares(swept):
    text = swept[1]
    assert "tasks whose ceiling is analytic" in text
    for part in ("mlp_ppo gamma=0.9 hidden=[8, 8]", "normalised", "runs > .5", "gate (movement x coverage)", "(floor:"):
        assert part in text


def test_finished_cells_are_not_run_again(swept):
    folder = swept[0]
    before = {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    code, text = command(folder, "--json")
    assert code == 0
    assert json.loads(text)["seed"] == 4
    assert {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()} == before


def test_a_dry_run_shows_plan_and_cost_and_runs_nothing(tmp_path):
    code, text = command(tmp_path / "new", "--dry-run", "--seed", "4")
    assert code == 0
    assert "seed 4; 10 of 10 cells to run, at most 150,000 steps" in text
    assert not (tmp_path / "new").exists()


def test_descriptive_tasks_are_summarised_without_a_score(tmp_path):
    _, text = command(tmp_path, "--seed", "4", tasks="torus_untrained-v1", brains="null_random", grid=[])
    assert "tasks without anchors" in text
    assert "polarization" in text
    assert "normalised" not in text


def test_a_failed_run_has_no_numbers_and_the_command_fails(tmp_path):
    code, text = command(
        tmp_path, "--seed", "4", tasks="wall_untrained-v1", brains="brains_for_tests:ReturnsNan", grid=[]
    )
    frame = pl.read_parquet(tmp_path / "sweep.parquet")
    assert code == 1
    assert "missing" in text
    assert frame["status"].to_list() == ["failed", "failed"]
    assert frame["score"].null_count() == 2


def test_a_killed_sweep_ends_with_the_same_table(swept, tmp_path):
    line = [sys.executable, "-m", "nematodebench", *arguments(tmp_path, "--seed", "4")]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(list(tmp_path.glob("cells/*.parquet"))) < 3:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert command(tmp_path)[0] == 0
    assert (tmp_path / "sweep.parquet").read_bytes() == (swept[0] / "sweep.parquet").read_bytes()


def test_twins_are_cells_of_their_own_and_the_gain_stands_beside_the_score(tmp_path):
    what = {"tasks": "gridworld-v1", "brains": "q_table,motionless", "grid": [], "runs": 3}
    _, text = command(tmp_path, "--seed", "4", "--twin", **what)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert "| learning off" in lines[0]
    assert "gridworld-v1: q_table has learned: " in text
    frame = pl.read_parquet(tmp_path / "sweep.parquet")
    assert frame["task"].unique().sort().to_list() == ["gridworld-v1", "gridworld_untrained-v1"]
    assert frame.filter(pl.col("task") == "gridworld_untrained-v1")["brain"].unique().to_list() == ["q_table"]
    _, again = command(tmp_path, "--seed", "4", "--twin", "--json", **what)
    learner, policy = json.loads(again)["cells"]
    assert learner["gain"]["learned"]
    assert policy["gain"] is None
