"""The evolution strategy of `evolved_mlp` against NumPy, and how candidates follow each other."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors
from scipy.stats import rankdata

BODIES = [discrete(), effectors(outputs=3)]


def live(trial, rewards, steps=2):
    """Every candidate lives for some steps and gets its reward in the last of them."""
    for reward in rewards:
        for step in range(steps):
            trial.act(np.full(trial.body.inputs, 0.3))
            last = step == steps - 1
            trial.learn(np.full(trial.body.inputs, 0.3), reward if last else 0.0, terminated=last)


def plain_step(parent, noise, fitness, spread, rate, memory):
    """One generation in float64: ranks, the estimated gradient, Adam."""
    utility = (rankdata(fitness) - 1) / (len(fitness) - 1) - 0.5
    signed = np.concatenate([[n, -n] for n in noise.astype(np.float64)])
    gradient = -(utility[:, None] * signed).sum(axis=0) / (len(fitness) * spread)
    memory["t"] += 1
    memory["m"] = 0.9 * memory["m"] + 0.1 * gradient
    memory["v"] = 0.999 * memory["v"] + 0.001 * gradient**2
    first, second = memory["m"] / (1 - 0.9 ** memory["t"]), memory["v"] / (1 - 0.999 ** memory["t"])
    return parent - rate * first / (np.sqrt(second) + 1e-5)


@pytest.mark.parametrize("body", BODIES)
def test_the_parent_moves_as_in_numpy(body):
    trial, numbers = Trial("evolved_mlp", body, pairs=4, hidden=(5,)), np.random.default_rng(0)
    parent, memory = np.array(trial.brain.parent, np.float64), {"t": 0, "m": 0.0, "v": 0.0}
    for generation in range(3):
        noise = np.array(trial.brain.noise)
        rewards = np.round(numbers.normal(size=8), 1)
        rewards[1] = rewards[6]  # equals share their ranks
        live(trial, rewards)
        parent = plain_step(parent, noise, rewards, 0.2, 0.1, memory)
        assert np.abs(parent - np.array(trial.brain.parent)).max() < 1e-5 * (generation + 1)
    assert memory["t"] == trial.brain.net.adam.steps == 3


def test_candidates_are_opposite_and_padding_stays_empty():
    trial = Trial("evolved_mlp", discrete(), pairs=2, hidden=(5,), spread=0.5)
    parent, noise = np.array(trial.brain.parent), np.array(trial.brain.noise)
    seen = []
    for _ in range(4):
        seen.append(np.array(trial.brain.net.parameters))
        live(trial, [0.0])
    np.testing.assert_allclose(seen[0] + seen[1], 2 * parent, atol=1e-5)
    np.testing.assert_allclose(seen[2], parent + 0.5 * noise[1], atol=1e-6)
    true = 5 * 5 + 5 + 5 * 4 + 4
    assert np.count_nonzero(noise[0]) == true
    assert np.count_nonzero(seen[0]) == true


def test_equal_fitness_moves_nothing():
    trial = Trial("evolved_mlp", discrete(), pairs=2, hidden=(5,))
    parent = np.array(trial.brain.parent)
    live(trial, [1.0] * 4)
    np.testing.assert_array_equal(parent, trial.brain.parent)


def test_a_long_life_is_judged_in_time():
    trial = Trial("evolved_mlp", discrete(), pairs=2, hidden=(5,), longest=3)
    for _ in range(3):
        trial.act(np.zeros(5))
        trial.learn(np.zeros(5), 1.0)
    assert (trial.brain.candidate, trial.brain.fitness[0], trial.brain.lived) == (1, 3.0, 0)
