"""Without compilation the interpreter runs the same source: what a world does has the same bits."""

import interpreter_steps
import pytest
from without_compiler import interpreted_output


@pytest.fixture(scope="module")
def interpreted():
    """What the worlds do in a process that compiles nothing."""
    return interpreted_output(interpreter_steps.__file__)


def test_the_other_process_compiles_nothing(interpreted):
    assert interpreted["interpreted"]
    assert not interpreter_steps.INTERPRETED


@pytest.mark.parametrize("name", interpreter_steps.WORLDS)
def test_steps_have_the_same_bits(interpreted, name):
    compiled = interpreter_steps.steps(interpreter_steps.WORLDS[name])
    assert len(compiled) == len(interpreted[name]) > interpreter_steps.STEPS
    for step, (ours, theirs) in enumerate(zip(compiled, interpreted[name], strict=True)):
        assert ours == theirs, f"at record {step}"
