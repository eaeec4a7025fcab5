"""What a newcomer adds is one file: a world, a brain, a metric. Each is put into a copy of the tree and used there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/nematodebench")

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    return tmp_path


def command(tree, *words):
    env = {**os.environ, "PYTHONPATH": str(tree / "src")}
    line = [sys.executable, "-m", "nematodebench", *words]
    done = subprocess.run(line, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_world_is_one_file(copy):
    shutil.copy(ROOT / "examples" / "lamp.py", copy / PACKAGE / "worlds" / "control" / "lamp.py")
    assert "how bright it is" in command(copy, "tasks", "lamp-v0")
    assert "| motionless" in command(copy, "run", "lamp-v0", "motionless", "--runs", "2", "--seed", "1")


def test_a_brain_is_one_file(copy):
    shutil.copy(ROOT / "examples" / "sarsa_lambda.py", copy / PACKAGE / "brains" / "classical" / "sarsa_lambda.py")
    assert "| sarsa_lambda" in command(copy, "brains")
    assert "| sarsa_lambda" in command(copy, "run", "foraging_small-v1", "sarsa_lambda", "--runs", "2", "--seed", "1")


def test_a_metric_is_a_change_of_one_file(copy):
    path = copy / PACKAGE / "measures" / "composite.py"
    text = path.read_text()
    changed = text.replace(
        '"steps": scored', '"foods": scored.column("foods").mean(axis=1),\n            "steps": scored'
    )
    changed = changed.replace('"converged",\n)', '"converged", "foods",\n)').replace(
        '"stability": "stability"', '"foods": "foods"'
    )
    assert changed.count('"foods"') >= text.count('"foods"') + 3
    path.write_text(changed)
    assert "| foods " in command(copy, "run", "foraging_small-v1", "motionless", "--runs", "2", "--seed", "1")
