"""Without compilation the interpreter runs the same source: what a brain does and learns has the same bits."""

import brain_steps
import pytest
from without_compiler import interpreted_output


@pytest.fixture(scope="module")
def interpreted():
    """What the brains do in a process that compiles nothing."""
    return interpreted_output(brain_steps.__file__)


def test_the_other_process_compiles_nothing(interpreted):
    assert interpreted["interpreted"]
    assert not brain_steps.INTERPRETED


@pytest.mark.parametrize("name", brain_steps.CONFIGS)
@pytest.mark.parametrize("body", brain_steps.BODIES)
def test_steps_have_the_same_bits(interpreted, name, body):
    compiled = brain_steps.steps(name, body)
    for step, (ours, theirs) in enumerate(zip(compiled, interpreted[f"{name} {body}"], strict=True)):
        assert ours == theirs, f"at record {step}"
