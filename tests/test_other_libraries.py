"""The examples about libraries of others run as they stand, shorter."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import nematodebench as nb

pytest.importorskip("stable_baselines3")
EXAMPLES = Path(__file__).parents[1] / "examples"


def test_policies_of_other_libraries_are_scored(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "score_policy.py"), "256", "1", "2"], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    zipped, graph = [line for line in done.stdout.splitlines() if line.startswith("<Session")]
    assert "policy.zip: 1 runs" in zipped
    assert zipped.replace("policy.zip", "policy.onnx") == graph


def test_an_algorithm_of_another_library_is_a_brain():
    brain = f"{EXAMPLES / 'sb3_brain.py'}:SmallPPO"
    session = nb.run("association-v2", brain, runs=1, episodes=4, seed=1, workers=1)
    assert not session.failed_runs
    assert session.plan.config.n_steps == 128
    assert "main" in runpy.run_path(str(EXAMPLES / "sb3_brain.py"))
