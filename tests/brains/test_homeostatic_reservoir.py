"""The homeostatic reservoir: its equations against NumPy, its connections, and that it tracks without reward."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors
from reservoir_trial import control_task, matrix, recurrent, run, spikes_of, trace_of

from nematodebench.worlds.control.tracking import Tracking


def homeostatic_tick(trial, rates):
    """The tick that follows, in float64 from the trial's memory: activation, spikes, targets, weights, shares."""
    memory = trial.brain
    before, weights, inputs = spikes_of(memory.spikes), recurrent(trial), matrix(trial, "inputs") > 0
    mask, weights = np.isfinite(weights), np.nan_to_num(weights)
    a, t = memory.activation.astype(float), memory.target.astype(float)
    a = (1 - memory.leak) * a + memory.amplitude * rates @ inputs + before @ weights
    spikes = a >= 2 * t
    margin = np.abs(a - 2 * t).min()
    a = np.where(spikes, a - 2 * t, a)
    e = a - t
    heard = mask.T @ before
    weights = weights - mask * before[:, None] * (memory.lr_w * e / np.maximum(heard, 1))
    listened = matrix(trial, "readout")
    return margin, a, spikes, np.maximum(t + memory.lr_t * e, 1), weights, listened @ spikes / listened.sum(1)


@pytest.mark.parametrize("config", [{}, {"nodes": 50, "amplitude": 4.0, "lr_t": 0.1, "leak": 0.4, "lr_w": 0.3}])
def test_homeostatic_reservoir_follows_its_equations(config):
    trial, numbers, compared = Trial("homeostatic_reservoir", effectors(6, 2), **config), np.random.default_rng(0), 0
    for _ in range(300):
        rates = numbers.uniform(0, 1, 6).astype(np.float32)
        margin, a, spikes, t, weights, shares = homeostatic_tick(trial, rates)
        action = trial.act(rates)
        if margin < 1e-4:  # too close to a threshold for float32 and float64 to agree
            continue
        compared += spikes.any()
        np.testing.assert_array_equal(spikes_of(trial.brain.spikes), spikes)
        np.testing.assert_allclose(trial.brain.activation, a, atol=2e-5)
        np.testing.assert_allclose(trial.brain.target, t, atol=2e-5)
        np.testing.assert_allclose(np.nan_to_num(recurrent(trial)), weights, atol=2e-5)
        np.testing.assert_allclose(action, shares, atol=1e-6)
    assert compared > 200


def test_only_weights_from_nodes_that_spiked_move():
    trial, numbers, moved = Trial("homeostatic_reservoir", effectors(6, 2)), np.random.default_rng(0), 0
    for _ in range(100):
        before, weights = spikes_of(trial.brain.spikes), recurrent(trial)
        trial.act(numbers.uniform(0, 1, 6))
        same = (recurrent(trial) == weights) | np.isnan(weights)
        assert same[before == 0].all()
        moved += not same[before == 1].all()
    assert moved > 50


def test_connections_are_drawn_one_by_one():
    chances = {"density": 0.1, "readout_density": 0.3}
    trials = [Trial("homeostatic_reservoir", effectors(6, 4), seed, **chances) for seed in range(50)]
    for name, p, others in (("inputs", 0.1, 200), ("recurrent", 0.1, 199), ("readout", 0.3, 200)):
        drawn = np.concatenate([np.nan_to_num(matrix(trial, name)) != 0 for trial in trials])
        degrees, variance = drawn.sum(1), others * p * (1 - p)
        assert degrees.mean() == pytest.approx(others * p, abs=4 * np.sqrt(variance / degrees.size)), name
        assert degrees.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / degrees.size)), name


def test_every_recurrent_connection_is_as_likely_as_any_other_and_none_leads_to_oneself():
    trials = (Trial("homeostatic_reservoir", effectors(), seed, nodes=20, density=0.3) for seed in range(600))
    counts = sum(np.isfinite(recurrent(trial)) for trial in trials)
    off, variance = counts[~np.eye(20, dtype=bool)], 600 * 0.3 * 0.7
    assert not np.diag(counts).any()
    assert np.abs(off - 180).max() < 5 * np.sqrt(variance)
    assert off.std() == pytest.approx(np.sqrt(variance), rel=0.15)


def test_a_full_density_connects_everything_else():
    trial = Trial("homeostatic_reservoir", effectors(6, 2), nodes=50, density=1.0, readout_density=1.0)
    assert matrix(trial, "inputs").shape == (6, 50)
    assert (matrix(trial, "inputs") == trial.brain.amplitude).all()
    assert matrix(trial, "readout").shape == (2, 50)
    assert (matrix(trial, "readout") == 1).all()
    assert (np.isfinite(recurrent(trial)) == ~np.eye(50, dtype=bool)).all()


def test_recurrent_weights_are_standard_normal():
    weights = recurrent(Trial("homeostatic_reservoir", effectors(), nodes=500, density=0.5))
    weights = weights[np.isfinite(weights)]
    assert weights.mean() == pytest.approx(0, abs=4 / np.sqrt(weights.size))
    assert weights.std() == pytest.approx(1, abs=4 / np.sqrt(2 * weights.size))


def test_a_channel_or_output_that_drew_no_node_gets_one_by_lot():
    sparse = {"nodes": 5, "density": 1e-9, "readout_density": 1e-9}
    trials = [Trial("homeostatic_reservoir", effectors(), seed, **sparse) for seed in range(200)]
    for name in ("inputs", "readout"):
        drawn = np.array([matrix(trial, name) > 0 for trial in trials])
        assert (drawn.sum(-1) == 1).all()
        assert drawn.any((0, 1)).all()
    assert np.isnan(recurrent(trials[0])).all()


def test_frozen_weights_and_targets_stay():
    trial, numbers = Trial("homeostatic_reservoir", effectors(6, 2), plastic=False), np.random.default_rng(0)
    weights, targets = recurrent(trial), trial.brain.target.copy()
    actions = [trial.act(numbers.uniform(0, 1, 6)) for _ in range(100)]
    assert np.any(actions)
    np.testing.assert_array_equal(recurrent(trial), weights)
    np.testing.assert_array_equal(trial.brain.target, targets)


def test_a_blind_homeostatic_reservoir_is_silent():
    actions, trial = trace_of("homeostatic_reservoir", blind=True)
    assert not actions.any()
    assert trial.describe()["silent"] == 1


def test_a_silent_reservoir_chooses_by_lot():
    actions, _ = trace_of("homeostatic_reservoir", steps=4000, body=discrete(), blind=True)
    counts = np.bincount(actions[:, 0].astype(int), minlength=4)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_the_largest_share_is_chosen():
    trial, numbers = Trial("homeostatic_reservoir", discrete()), np.random.default_rng(0)
    for _ in range(200):
        choice = int(trial.act(numbers.uniform(-1, 1, 5))[0])
        shares = trial.brain.shares
        assert shares[choice] == shares.max()


def test_homeostasis_keeps_errors_small():
    _, trial = trace_of("homeostatic_reservoir", steps=3000)
    assert np.abs(trial.brain.activation - trial.brain.target).mean() < 1


def test_homeostatic_reservoir_tracks_without_reward_and_only_if_plastic():
    task = control_task(Tracking(), 30_000, "track_score")
    scores = {
        plastic: np.mean([
            run(task, "homeostatic_reservoir", seed, plastic=plastic).records["scored"][0, 4] for seed in range(4)
        ])
        for plastic in (True, False)
    }  # fmt: skip
    assert scores[True] > 0.3
    assert scores[True] > scores[False] + 0.15
