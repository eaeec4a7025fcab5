"""Without compilation the interpreter runs the same source: what a brain does and learns has the same bits."""

import json
import os
import subprocess
import sys

import brain_steps
import pytest


@pytest.fixture(scope="module")
def interpreted():
    """What the brains do in a process that compiles nothing."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    # The random generator's products overflow on purpose, of which NumPy's numbers warn.
    command = [sys.executable, "-W", "ignore::RuntimeWarning", brain_steps.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_other_process_compiles_nothing(interpreted):
    assert interpreted["interpreted"]
    assert not brain_steps.INTERPRETED


@pytest.mark.parametrize("name", brain_steps.CONFIGS)
@pytest.mark.parametrize("body", brain_steps.BODIES)
def test_steps_have_the_same_bits(interpreted, name, body):
    compiled = brain_steps.steps(name, body)
    for step, (ours, theirs) in enumerate(zip(compiled, interpreted[f"{name} {body}"], strict=True)):
        assert ours == theirs, f"at record {step}"
