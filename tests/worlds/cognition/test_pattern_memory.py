"""World `pattern_memory`: showing, recalling, rewards, presets."""

import itertools

import numpy as np
import pytest
from harness_continual import Trial, mean_reward, null, run_episodes

from nematodebench.worlds.cognition.pattern_memory import PatternMemory


def known(*pattern):
    trial = Trial(PatternMemory())
    trial.state.pattern[:] = pattern
    return trial


def test_symbols_are_shown_one_a_step_whatever_is_done():
    trial = Trial(PatternMemory(), 1)
    shown = []
    for position in range(5):
        assert list(trial.obs[0, 4:]) == pytest.approx([1.0, 0.0, position / 5, 0.0])
        assert trial.obs[0, :4].sum() == 1.0
        shown.append(trial.obs[0, :4].argmax())
        assert trial.step(7 * position % 10).reward == 0.0
    assert shown == list(trial.state.pattern)


def test_nothing_is_shown_during_recall():
    trial = known(0, 1, 2, 3, 0)
    for _ in range(5):
        trial.step(0)
    for position in range(5):
        assert list(trial.obs[0, :7]) == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, position / 5])
        assert not trial.done
        trial.step(0)
    assert trial.done


def test_recalls_by_hand():
    trial = known(2, 0, 3, 3, 1)
    for _ in range(5):
        trial.step(0)
    rewards, rights = [], []
    for action in (2, 1, 3, 7, 1):
        rewards.append(trial.step(action).reward)
        rights.append(trial.sense("right"))
    assert rewards == [1.0, -0.3, 1.0, -0.3, 1.0]
    assert rights == [1.0, 0.0, 1.0, 0.0, 1.0]
    assert trial.metrics == {"recalled": 3.0}


@pytest.mark.parametrize("action", range(4, 10))
def test_surplus_actions_are_wrong_recalls(action):
    trial = Trial(PatternMemory(), 3)
    rewards = [trial.step(action).reward for _ in range(10)]
    assert rewards == [0.0] * 5 + [-0.3] * 5


def test_a_pattern_is_new_every_episode_and_its_symbols_equally_likely():
    trial, patterns = Trial(PatternMemory()), []
    for episode in range(800):
        trial.begin(5, episode)
        patterns.append(np.array(trial.state.pattern))
    assert len({pattern.tobytes() for pattern in patterns}) > 500
    assert np.bincount(np.concatenate(patterns).astype(int)) == pytest.approx([1000] * 4, abs=130)


@pytest.mark.parametrize(
    ("world", "best"), [(PatternMemory(), 5), (PatternMemory.easy(), 3), (PatternMemory.hard(), 7)]
)
def test_the_reference_reaches_the_maximum(world, best):
    results, _ = run_episodes(world, world.reference, 20)
    assert (results[:, 0] == 2 * best).all()
    assert (results[:, 1] == best).all()


def test_null_reward_is_that_of_a_chance_of_a_tenth():
    mean, error = mean_reward(PatternMemory(), null, 8000)
    assert mean == pytest.approx(5 * (0.1 - 0.9 * 0.3), abs=4 * error)


@pytest.mark.parametrize(
    ("world", "inputs", "actions"), [(PatternMemory.easy(), 6, 2), (PatternMemory.hard(), 10, 6)], ids=["easy", "hard"]
)
def test_presets(world, inputs, actions):
    assert (len(world.sensors), world.actions.n) == (inputs, actions)
    trial = Trial(world, 2)
    assert trial.state.pattern.max() < actions
    assert trial.obs[0, int(trial.state.pattern[0])] == 1.0


def test_no_policy_without_memory_is_better_than_chance():
    world = PatternMemory.easy()
    patterns = list(itertools.product(range(2), repeat=3))
    # During recall such a policy sees the place and whether the last recall was right: here are all there are.
    for answers in itertools.product(range(2), repeat=6):
        recalled = 0.0
        for pattern in patterns:
            trial = Trial(world)
            trial.state.pattern[:] = pattern
            for position in range(6):
                place = 2 * (position - 3) + int(trial.sense("right"))
                trial.step(answers[place] if position >= 3 else 0)
            recalled += trial.metrics["recalled"]
        assert recalled / len(patterns) == 1.5
