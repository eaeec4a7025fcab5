"""Without compilation the interpreter runs the same source: what a world does has the same bits."""

import json
import os
import subprocess
import sys

import interpreter_steps
import pytest


@pytest.fixture(scope="module")
def interpreted():
    """What the worlds do in a process that compiles nothing."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    # The random generator's products overflow on purpose, of which NumPy's numbers warn.
    command = [sys.executable, "-W", "ignore::RuntimeWarning", interpreter_steps.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_other_process_compiles_nothing(interpreted):
    assert interpreted["interpreted"]
    assert not interpreter_steps.INTERPRETED


@pytest.mark.parametrize("name", interpreter_steps.WORLDS)
def test_steps_have_the_same_bits(interpreted, name):
    compiled = interpreter_steps.steps(interpreter_steps.WORLDS[name])
    assert len(compiled) == len(interpreted[name]) > interpreter_steps.STEPS
    for step, (ours, theirs) in enumerate(zip(compiled, interpreted[name], strict=True)):
        assert ours == theirs, f"at record {step}"
