"""The suites pass what is good and catch what breaks a rule."""

import misfits
import pytest

from nematodebench.testing import BrainSuite, WorldSuite


class TestGoodWorld(WorldSuite):
    world = misfits.Good()


class TestPlainBrain(BrainSuite):
    brain = misfits.Plain
    tasks = ("foraging_small-v1",)


class TestPythonBrain(BrainSuite):
    brain = misfits.PythonGood
    tasks = ("foraging_small-v1",)


@pytest.mark.parametrize(
    ("world", "rule"),
    [
        (misfits.Good(high=0.5), "observations_stay_in_their_ranges"),
        (misfits.Forgetful(), "reset_is_a_function_of_the_stream"),
        (misfits.Observing(), "a_copied_state_continues_identically"),
        (misfits.Writing(), "parameters_and_actions_are_never_written"),
        (misfits.Straying(), "nothing_outside_its_arrays_is_written"),
        (misfits.Endless(), "every_episode_ends"),
        (misfits.Unpayable(), "rewards_flags_and_metrics_are_finite"),
        (misfits.Dicing(), "parameters_are_a_function_of_the_world"),
        (misfits.Good(high=0.0), "sensors_are_declared"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_world_that_breaks_a_rule_is_caught(world, rule):
    suite = type("Suite", (WorldSuite,), {"world": world, "max_steps": 100})()
    with pytest.raises(AssertionError):
        getattr(suite, f"test_{rule}")()


@pytest.mark.parametrize(
    ("brain", "rule", "arguments"),
    [
        (misfits.Illegal, "actions_are_legal", ["discrete"]),
        (misfits.Illegal, "actions_are_legal", ["effectors"]),
        (misfits.Illegal, "runs_end_without_failure", []),
        (misfits.StrayingBrain, "writes_nothing_but_its_memory_and_the_action", ["discrete"]),
        (misfits.Meddling, "writes_nothing_but_its_memory_and_the_action", ["discrete"]),
        (misfits.Peeping, "reads_nothing_but_its_memory", ["effectors"]),
        (misfits.Refusing, "some_task_is_accepted", []),
        (misfits.Unseeded, "same_seed_same_bits", []),
        (misfits.Shared, "alone_and_among_others", []),
    ],
)
def test_a_brain_that_breaks_a_rule_is_caught(brain, rule, arguments):
    suite = type("Suite", (BrainSuite,), {"brain": brain, "tasks": ("foraging_small-v1",)})()
    with pytest.raises(AssertionError):
        getattr(suite, f"test_{rule}")(*arguments)


def test_a_config_that_ignores_keys_is_caught():
    suite = type("Suite", (BrainSuite,), {"brain": misfits.Loose})()
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        suite.test_unknown_key_is_refused()
