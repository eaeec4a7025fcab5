"""World `prediction`: signals, guesses, errors."""

import numpy as np
import pytest
from harness_continual import Trial, any_world, mean_reward, null, run_episodes

from nematodebench.worlds.cognition.prediction import Prediction


@any_world.kernel
def persistence(action, obs):
    action[0, 0] = np.float32(np.floor(4.5 * (obs[0, 9] + 1.0) + 0.5))


def signal(world, seed=0):
    """Phase and the values of a whole episode, from step -9 on."""
    trial = Trial(world, seed)
    values = list(trial.state.values)
    while not trial.done:
        values.append(trial.step(0).state.values[-1])
    return trial.state.phase, np.array(values)


@pytest.mark.parametrize("seed", range(3))
def test_sine(seed):
    phase, values = signal(Prediction(), seed)
    clean = np.sin(phase + 0.1 * np.arange(-9, 101))
    assert (np.abs(values) <= 1.0).all()
    assert (np.abs(values - clean) <= 0.1).all()
    noise = (values - clean)[np.abs(clean) < 0.9]
    assert noise.min() < -0.08
    assert noise.max() > 0.08


def test_phases_are_uniform():
    phases = [Trial(Prediction(), seed).state.phase for seed in range(800)]
    assert np.histogram(phases, 4, (0.0, 2 * np.pi))[0] == pytest.approx([200] * 4, abs=60)


def test_square():
    phase, values = signal(Prediction("square"))
    clean = np.sign(np.sin(phase + 0.1 * np.arange(-9, 101)))
    assert (np.abs(values - clean) <= 0.1).all()


def test_random_walk():
    _, values = signal(Prediction("random_walk"))
    assert (np.abs(np.diff(values, prepend=0.0)) <= 0.1).all()
    assert np.abs(np.diff(values)).max() > 0.08


def test_inputs_are_the_last_ten_values_the_kind_and_the_time():
    _, values = signal(Prediction())
    trial = Trial(Prediction())
    for step in range(1, 101):
        assert trial.obs[0] == pytest.approx(
            np.array([*values[step - 1 : step + 9], 1, 0, 0, (step - 1) / 100]), rel=1e-6
        )
        trial.step(3)
    assert list(Trial(Prediction("square")).obs[0, 10:13]) == [0.0, 1.0, 0.0]
    assert list(Trial(Prediction("random_walk")).obs[0, 10:13]) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("action", range(10))
def test_a_guess_is_one_of_ten_levels_from_minus_one_to_one(action):
    trial, total = Trial(Prediction(), 1), 0.0
    for _ in range(100):
        trial.step(action)
        error = min(abs(np.linspace(-1.0, 1.0, 10)[action] - trial.state.values[-1]), 1.0)
        assert trial.reward == pytest.approx(1.0 - error)
        total += error
    assert trial.metrics["error"] == pytest.approx(total / 100)


def test_an_action_beyond_the_levels_earns_nothing():
    trial = Trial(Prediction(levels=4))
    assert [trial.step(action).reward for action in range(4, 10)] == [0.0] * 6


def test_null_reward():
    mean, error = mean_reward(Prediction(), null, 4000)
    assert mean == pytest.approx(36.8, abs=4 * error + 0.05)


def test_persistence_reward():
    mean, error = mean_reward(Prediction(), persistence, 400)
    assert mean == pytest.approx(90.6, abs=4 * error + 0.05)


@pytest.mark.parametrize("kind", ["sine", "square"])
def test_the_reference_beats_persistence_and_stays_below_the_maximum(kind):
    persistent = run_episodes(Prediction(kind), persistence, 200)[0][:, 1]
    informed = run_episodes(Prediction(kind), Prediction.reference, 200)[0][:, 1]
    assert informed.mean() > persistent.mean() + 1.0
    assert informed.max() < 100.0
