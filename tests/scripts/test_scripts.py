"""The scripts take the flags they are documented with and do what the commands do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from submission_workshop import Work, copied, folders, new_repository, official_repository, sessions_repository

SCRIPTS = Path(__file__).parents[2] / "scripts"


def _run(script: str, root: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *map(str, words)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_run_simulation_stores_a_tracked_experiment(tmp_path: Path) -> None:
    root = new_repository(tmp_path / "repo")
    flags = ("--track-experiment", "--config", "configs/follower.yml", "--runs", 2, "--seed", 5, "--episodes", 20)
    done = _run("run_simulation.py", root, *flags)
    assert done.returncode == 0, done.stderr
    folder = folders(root)[0]
    record = json.loads((folder / f"{folder.name}.json").read_text())
    assert (record["session_seed"], record["num_runs"], record["episodes_per_run"]) == (5, 2, 20)
    assert (folder / "follower.yml").is_file()


def test_benchmark_submit_makes_a_submission(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    flags = ("--contributor", "Ada Example", "--github", "ada-example", "--category", "foraging_small/scripted")
    done = _run("benchmark_submit.py", root, "--experiments", *folders(root), *flags, "--notes", "by script")
    assert done.returncode == 0, done.stderr
    assert Work(root).claims["notes"] == "by script"


def test_evaluate_submission_passes_a_genuine_one() -> None:
    work = Work(official_repository())
    done = _run("evaluate_submission.py", work.root, work.path, "--reproduce", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] is True


def test_evaluate_submission_exits_2_on_a_missing_file(tmp_path: Path) -> None:
    done = _run("evaluate_submission.py", tmp_path, "nowhere.json")
    assert (done.returncode, done.stderr) == (2, "nematodebench: nowhere.json does not exist.\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "echo_state",
        "sorn",
        "homeostatic_reservoir",
        "spiking_rstdp",
        "gru_ppo",
        "eprop",
        "quantum_vqc",
        "quantum_reservoir",
        "evolved_mlp",
    ],
)
def test_figures_of_a_brains_page_can_be_measured_again(page: str, tmp_path: Path) -> None:
    done = _run("brain_pages.py", tmp_path, "--check", page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_page_of_results_is_what_was_measured_and_can_be_measured_again(tmp_path: Path) -> None:
    done = _run("results_page.py", tmp_path, "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_tables_of_continual_learning_are_what_was_measured_and_can_be_measured_again(tmp_path: Path) -> None:
    done = _run("continual_page.py", tmp_path, "--check")
    assert done.returncode == 0, done.stdout + done.stderr
