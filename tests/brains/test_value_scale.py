"""The running scale of value targets, growing rollouts, and updates that end early."""

import numpy as np
import pytest
import torch
from brain_trial import Mirror, Trial, discrete, effectors

from nematodebench.brains.parts.actor_critic import weigh_steps
from nematodebench.brains.parts.ppo import discount

OBSERVATION = np.full(5, 0.3, dtype=np.float32)


def value(trial, observations):
    """Values of observations, from the network and the scale."""
    brain = trial.brain
    outputs = Mirror(brain.net)(torch.tensor(np.asarray(observations, dtype=np.float64)))
    column = brain.heads.count * brain.heads.levels
    return float(brain.scale.mean) + float(brain.scale.spread) * outputs[:, column].detach().numpy()


def rollouts(trial, numbers, count, offset):
    """Targets of several rollouts, as they were before they were standardised, and afterwards."""
    found = []
    for _ in range(count):
        trial.brain.rollout.filled = 0
        trial.play(30, numbers)
        rollout = trial.brain.rollout
        rollout.rewards[:30] += np.float32(offset)
        before = value(trial, rollout.observations[:30])
        weigh_steps(trial.brain, OBSERVATION, False, trial.brain.gamma, 0.9)
        np.testing.assert_allclose(value(trial, rollout.observations[:30]), before, atol=1e-4 * (1 + abs(offset)))
        standard = np.array(rollout.targets[:30], dtype=np.float64)
        found.append((standard * trial.brain.scale.spread + trial.brain.scale.mean, standard))
    return found


@pytest.mark.parametrize("offset", [0.0, 40.0])
def test_the_scale_follows_the_targets_and_values_stay_what_they_were(offset):
    trial = Trial("mlp_ppo", discrete(), rollout=64, value_scaling=0.4)
    found = rollouts(trial, np.random.default_rng(0), 5, offset)
    mean, variance = 0.0, 1.0
    for n, (targets, _) in enumerate(found):
        share = max(1 / (n + 1), 0.4)
        moved = targets.mean() - mean
        variance = (1 - share) * (variance + share * moved**2) + share * targets.var()
        mean += share * moved
    assert trial.brain.scale.mean == pytest.approx(mean, rel=1e-4, abs=1e-4)
    assert trial.brain.scale.spread == pytest.approx(np.sqrt(variance), rel=1e-3)
    first = found[0][1]
    assert (first.mean(), first.std()) == pytest.approx((0.0, 1.0), abs=1e-4)


def test_equal_targets_are_not_divided_by_zero():
    trial = Trial("mlp_ppo", discrete(), rollout=64, gamma=0.0)
    for _ in range(10):
        trial.act(OBSERVATION)
        trial.learn(OBSERVATION, 1.0)
    weigh_steps(trial.brain, OBSERVATION, False, trial.brain.gamma, 0.9)
    assert trial.brain.scale.spread == pytest.approx(1e-3)
    np.testing.assert_allclose(trial.brain.rollout.targets[:10], 0.0, atol=1e-3)


@pytest.mark.parametrize("name", ["mlp_ppo", "mlp_reinforce"])
def test_without_a_scale_the_memory_is_that_of_before(name):
    names = [[entry for entry, _ in Trial(name, discrete(), value_scaling=s).brain.learned()] for s in (0.0, 0.05)]
    assert set(names[1]) - set(names[0]) == {"scale.mean", "scale.spread", "scale.rollouts"}


def test_rollouts_grow_with_experience_in_whole_minibatches():
    trial = Trial(
        "mlp_ppo", effectors(), rollout=16, minibatch=8, epochs=1, rollout_growth=0.5, longest_rollout=60, hidden=(8,)
    )
    lengths, numbers = [], np.random.default_rng(0)
    for _ in range(200):
        trial.play(1, numbers)
        if trial.brain.rollout.filled == 0:
            lengths.append(trial.brain.length)
    assert lengths == [16, 16, 24, 32, 48, 60]


def test_the_horizon_grows_with_experience():
    trial, numbers = Trial(
        "mlp_ppo", discrete(), rollout=16, minibatch=8, epochs=1, rollout_growth=0, gamma=0.9, horizon_growth=0.25,
        longest_horizon=20, hidden=(8,),
    ), np.random.default_rng(0)  # fmt: skip
    horizons = []
    for _ in range(4):
        horizons.append(1 / (1 - discount(trial.brain)))
        trial.play(16, numbers)
    assert horizons == pytest.approx([10, 14, 18, 20])


@pytest.mark.parametrize("gamma", [0.995, 1.0])
def test_a_horizon_that_is_longer_stays_as_it_is(gamma):
    trial = Trial("mlp_ppo", discrete(), gamma=gamma, longest_horizon=20, hidden=(8,))
    assert discount(trial.brain) == pytest.approx(gamma)


def test_an_update_ends_when_the_policy_has_moved_far():
    numbers = np.random.default_rng(0)
    far, free = (
        Trial("mlp_ppo", discrete(), rollout=16, minibatch=8, epochs=5, learning_rate=0.1, max_divergence=limit)
        for limit in (1e-6, 0.0)
    )
    for trial in (far, free):
        trial.play(16, numbers)
    assert (far.brain.net.adam.steps, free.brain.net.adam.steps) == (2, 10)
