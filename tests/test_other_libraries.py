"""The example about policies of other libraries runs as it stands, shorter."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")
EXAMPLE = Path(__file__).parents[1] / "examples" / "score_policy.py"


def test_the_files_of_one_network_get_one_score(tmp_path):
    command = [sys.executable, str(EXAMPLE), "256", "1", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    zipped, graph = [line for line in done.stdout.splitlines() if line.startswith("<Session")]
    assert "policy.zip: 1 run," in zipped
    assert zipped.replace("policy.zip", "policy.onnx") == graph
