"""`continual`, `search` and `ablate` from the command line: output, files, bad input."""

import json
import os
import subprocess
import sys

import pytest
import yaml


def command(*arguments, cwd=None):
    line = [sys.executable, "-m", "nematodebench", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd, env=dict(os.environ))


CONTINUAL = ["continual", "null_random", "--runs", "3", "--seed", "1", "--episodes", "2", "--test-episodes", "1"]
SEARCH = [
    "search", "q_table", "--task", "association-v1", "--trials", "4", "--runs", "4", "--held-out", "6",
    "--episodes", "5",
]  # fmt: skip


def test_continual_prints_chance_beside_every_primary_score():
    done = command(*CONTINUAL)
    assert done.returncode == 0, done.stderr
    for words in ("nenv-v2", "calibrated", "null's primary", "anchored", "forgetting", "1.0 is out of reach"):
        assert words in done.stdout


@pytest.mark.slow
def test_continual_for_machines_has_learning_curves():
    content = json.loads(command(*CONTINUAL, "--json", "--no-alone").stdout)
    assert {name: len(found["curve"]) for name, found in content["environments"].items()} == dict.fromkeys(
        ["navigation", "pattern_memory", "prediction", "association", "gridworld", "realtime"], 2
    )
    assert set(content["profiles"]) == {"nenv-v2", "calibrated"}
    assert content["transfer"]["forward"] is None


@pytest.mark.slow
def test_a_search_leaves_its_champion_ready_to_run(tmp_path):
    done = command(*SEARCH, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    folder = tmp_path / content["output"]
    assert {"best.yml", "history.png", "importances.json", "journal.log", "result.json"} <= {
        path.name for path in folder.iterdir()
    }
    best = yaml.safe_load((folder / "best.yml").read_text())
    assert content["champion"].items() <= best["config"].items()
    again = command("run", "--config", str(folder / "best.yml"), "--runs", "1", "--json")
    assert again.returncode == 0, again.stderr
    refused = command(*SEARCH, cwd=tmp_path)
    assert refused.returncode == 2
    assert "Continue it with --resume" in refused.stderr
    more = command(*SEARCH, "--resume", "--trials", "6", "--json", cwd=tmp_path)
    assert sum(json.loads(more.stdout)["trials"].values()) == 6


def test_an_ablation_shows_that_learning_is_needed():
    done = command("ablate", "q_table", "--task", "gridworld-v1", "--runs", "6", "--seed", "2", "--json",
                   "--set", "epsilon_steps=500")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["ablations"]}
    assert rows["learning_rate"]["ci95"][1] < 0
    assert set(rows) == {"learning_rate", "gamma", "epsilon_start", "epsilon_end"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*CONTINUAL, "--order", "navigation,gridwold"], "Did you mean 'gridworld'"),
        ([*CONTINUAL, "--order", "navigation,xyz"], "There are: association, gridworld, navigation"),
        ([*CONTINUAL, "--order", "navigation"], "at least two environments"),
        ([*CONTINUAL, "--profile", "nenv"], "Choose nenv-v2 or calibrated"),
        ([*CONTINUAL, "--episodes", "many"], "environment=number pairs"),
        ([*CONTINUAL, "--episodes", "1"], "give at least 2"),
        ([*CONTINUAL, "--runs", "0"], "give at least 1"),
        ([*CONTINUAL, "--workers", "0"], "give at least 1"),
        ([*CONTINUAL, "--seed", "-1"], "seed is -1"),
        ([*SEARCH, "--sampler", "annealing"], "Sampler 'annealing' does not exist"),
        ([*SEARCH, "--storage", "oracle9://x"], "not the URL of a database"),
        ([*SEARCH, "--trials", "0"], "trials is 0"),
        ([*SEARCH, "--importance", "huge"], "Importance 'huge' does not exist"),
        ([*SEARCH, "--set", "learning_rat=1"], "no parameter 'learning_rat'"),
        (["search", "null_random", "--task", "association-v1"], "declares no search space"),
        (["search", "q_table", "--task", "torus-v1"], "no score to search by"),
        (["search", "q_tabl", "--task", "association-v1"], "Did you mean 'q_table'"),
        (["ablate", "null_random"], "declares nothing that can be switched off"),
        (["ablate", "q_table", "--only", "bins"], "cannot be switched off. These can: learning_rate"),
        (["ablate", "q_table", "--runs", "1"], "give at least 2"),
    ],
)
def test_bad_input_is_one_line(tmp_path, arguments, message):
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
