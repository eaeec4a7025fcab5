"""A run that fails says where, when and what would have been legal."""

import numpy as np
import pytest
from brains_for_tests import Fine

from nematodebench.engine.failures import illegal_action
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task


@pytest.mark.parametrize(
    ("action", "choices", "message"),
    [
        ([[1.0], [7.0]], 4, "an illegal action (7; legal is a whole number from 0 to 3)"),
        ([[0.5]], 4, "an illegal action (0.5; legal"),
        ([[0.2, 1.5]], 0, "an illegal action (0.2, 1.5; legal is every effector in [0, 1])"),
        ([[0.2, np.nan]], 0, "NaN (0.2, nan; legal is every effector in [0, 1])"),
    ],
)
def test_an_action_that_is_not_legal_is_shown(action, choices, message):
    assert message in illegal_action(np.array(action, dtype=np.float32), choices)


class FailsWhenBuilt(Fine):
    def __init__(self, *given):
        raise KeyError("no such thing")


class FailsToLearn(Fine):
    """At the end of the first episode."""

    def learn(self, transition):
        if transition.terminated or transition.truncated:
            self._helper()

    def _helper(self):
        raise RuntimeError("nothing to learn")


def failure_of(brain):
    task = get_task("foraging_small-v1").with_episodes(2)
    compile_for(task, brain)
    return execute(RunSpec(task, brain.__name__, brain, {}, seed=1)).failure


def test_a_brain_that_cannot_be_built():
    failure = failure_of(FailsWhenBuilt)
    assert "KeyError: 'no such thing' (test_failures.py, line" in failure.message
    assert "while the brain was built" in failure.message
    assert (failure.episode, failure.step) == (None, None)


def test_the_last_step_belongs_to_its_episode_and_frames_are_those_of_the_brain():
    failure = failure_of(FailsToLearn)
    assert "in _helper) at episode 0, step " in failure.message
    assert failure.step > 0
    lines = failure.traceback.splitlines()
    assert [line.rpartition(" in ")[2] for line in lines if line.startswith("  File")] == ["learn", "_helper"]
