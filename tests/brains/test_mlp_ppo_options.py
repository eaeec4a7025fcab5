"""What `mlp_ppo` can do beside its defaults: look for what is new, and settle."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors

from nematodebench.brains.classical.mlp_ppo import MlpPpo, MlpPpoConfig
from nematodebench.brains.parts.novelty import novelty_of

HERE, THERE = np.full(5, 0.3, dtype=np.float32), np.full(5, -0.3, dtype=np.float32)


def likeliest(trial, observation):
    """The action it takes; a trial that has settled draws nothing."""
    return trial.act(observation).tolist()


def test_novelty_falls_with_the_times_an_observation_was_met():
    seldom = Trial("mlp_ppo", discrete(), novelty=1.0).brain.seldom
    assert [novelty_of(seldom, HERE) for _ in range(3)] == pytest.approx([1.0, 2**-0.5, 3**-0.5])
    assert novelty_of(seldom, THERE) == 1.0
    assert novelty_of(seldom, HERE + np.float32(0.01)) == pytest.approx(0.5)  # in the same bins


def test_an_observation_outside_of_its_range_is_counted_at_the_end_of_it():
    trial = Trial("mlp_ppo", discrete(), novelty=1.0)
    high = np.array(trial.body.high, dtype=np.float32)
    assert novelty_of(trial.brain.seldom, high) == 1.0
    assert novelty_of(trial.brain.seldom, high + 7) == pytest.approx(2**-0.5)


def test_the_bonus_is_part_of_the_reward_that_is_learned_from():
    trial = Trial("mlp_ppo", discrete(), rollout=64, novelty=0.4)
    for following in (HERE, THERE, HERE):
        trial.act(HERE)
        trial.learn(following, 1.0)
    assert trial.brain.rollout.rewards[:3] == pytest.approx([1.4, 1.4, 1 + 0.4 * 2**-0.5])


@pytest.mark.parametrize("body", [discrete(), effectors(5, 2)])
def test_once_settled_it_learns_nothing_and_draws_nothing(body):
    trial = Trial("mlp_ppo", body, rollout=8, minibatch=8, settle=40)
    numbers = np.random.default_rng(1)
    trial.play(40, numbers)
    born = np.array(Trial("mlp_ppo", body, rollout=8, minibatch=8, settle=40).brain.net.parameters)
    settled = np.array(trial.brain.net.parameters)
    assert not np.array_equal(born, settled)
    seen = numbers.uniform(-1, 1, 5).astype(np.float32)
    assert len({tuple(likeliest(trial, seen)) for _ in range(50)}) == 1
    trial.play(40, numbers)
    assert np.array_equal(settled, trial.brain.net.parameters)


def test_without_options_nothing_more_is_kept_than_before():
    names = [name for name, _ in Trial("mlp_ppo", discrete()).brain.learned()]
    kept = [name for name, _ in Trial("mlp_ppo", discrete(), novelty=0.1, settle=5).brain.learned()]
    assert {name for name in kept if name not in names} == {"acted", "seldom.met"}


def test_a_twin_takes_its_likeliest_actions_if_its_brain_does_at_last():
    assert MlpPpo.without_learning(MlpPpoConfig(settle=5000)).settle == 1
    assert MlpPpo.without_learning(MlpPpoConfig()) == MlpPpoConfig()
