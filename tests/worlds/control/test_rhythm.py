"""World `rhythm`: joint, pacemaker, lock and its gate."""

import numpy as np
import pytest
from harness_control import Episode, constant, mean_and_error, null, run_episodes, run_scores

from nematodebench.worlds.control.rhythm import Rhythm


def lock(joint, period):
    """Score, gate, ungated and amplitude from the joint's course in the window, by numpy's Fourier transform."""
    beats = len(joint) // period
    signal = joint[-beats * period :]
    power = np.abs(np.fft.rfft(signal)) ** 2
    reach = max(1, round(0.1 * beats))
    share = power[beats - reach : beats + reach + 1].sum() / power[1:].sum()
    gate = min(signal.std() / 0.2, 1.0)
    return share * gate, gate, share, signal.std()


def test_the_joint_follows_the_effectors_with_a_lag():
    episode = Episode(Rhythm()).step(0.9, 0.4)
    assert episode.state.joint == pytest.approx(0.1)
    assert episode.step(0.0, 1.0).state.joint == pytest.approx(0.1 + 0.2 * -1.1)


def test_periods_are_log_uniform_on_16_to_64():
    periods = np.array([Episode(Rhythm(), 0, episode).state.period for episode in range(1000)])
    assert (periods == np.round(periods)).all()
    assert (periods.min(), periods.max()) == (16, 64)
    edges = np.array([16, 23, 32, 46, 65])
    expected = 1000 * np.diff(np.log(edges)) / np.log(65 / 16)
    assert np.histogram(periods, edges)[0] == pytest.approx(expected, abs=60)


def test_the_pacemaker_falls_silent_after_half_the_ticks():
    episode = Episode(Rhythm(ticks=200, window=100), 1)
    heard = [episode.obs[0].copy()]
    while not episode.done:
        heard.append(episode.step(0.5, 0.5).obs[0].copy())
    phase = 2 * np.pi * np.arange(100) / episode.state.period
    assert np.array(heard)[:100] == pytest.approx(np.stack([np.sin(phase), np.cos(phase)], 1), abs=1e-6)
    assert not np.array(heard)[100:].any()


def test_reward_is_the_alignment_with_the_pacemaker_heard_or_not():
    episode, generator = Episode(Rhythm(ticks=200, window=100), 1), np.random.default_rng(0)
    for tick in range(200):
        episode.step(*generator.random(2))
        beat = np.sin(2 * np.pi * tick / episode.state.period)
        assert episode.reward == pytest.approx(episode.state.joint * beat, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_lock_is_the_share_of_fourier_power_near_the_beat(seed):
    episode, generator = Episode(Rhythm(), seed), np.random.default_rng(seed)
    joint, period = [], int(episode.state.period)
    for tick in range(1000):
        drive = 0.5 + 0.3 * np.sin(2 * np.pi * tick / (1.02 * period)) + generator.uniform(-0.2, 0.2)
        episode.step(drive, 0.5)
        joint.append(episode.state.joint)
    assert episode.done
    assert list(episode.metrics.values()) == pytest.approx([*lock(np.array(joint[-500:]), period), period])


def test_a_frozen_joint_scores_0():
    assert not run_episodes(Rhythm(), constant, seed=0, effectors=0.7)[0][:, :3].any()


def test_a_window_must_hold_a_period():
    with pytest.raises(ValueError, match="window"):
        Rhythm(window=50)


def test_the_reference_locks():
    assert run_episodes(Rhythm(), Rhythm.reference, seed=0, episodes=50)[0][:, 0].min() > 0.999


def test_null_floor():
    mean, error = mean_and_error(run_scores(Rhythm(), null, 200))
    assert mean == pytest.approx(0.055, abs=4 * np.hypot(error, 0.001))
