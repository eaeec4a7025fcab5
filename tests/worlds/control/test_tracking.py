"""World `tracking`: order of a tick, eyes, score."""

import numpy as np
import pytest
from harness_control import Episode, mean_and_error, null, run_episodes, run_scores

from nematodebench.worlds.control.tracking import Tracking


def eyes(gaze, target):
    units = np.concatenate([30.0 + np.arange(-60, 61, 4), -30.0 + np.arange(-60, 61, 4)])
    d = np.abs((target - gaze - units + 180.0) % 360.0 - 180.0)
    return np.where(d <= 4.0, 1.0, np.exp(-(d**2) / 10.0))


def test_gaze_turns_then_the_target_moves_then_the_error_is_taken():
    episode = Episode(Tracking())
    gaze = episode.state.gaze
    episode.step(0.75, 0.25)
    assert (episode.state.gaze - gaze) % 360.0 == pytest.approx(5.0)
    assert episode.state.target == 1.0
    assert episode.reward == pytest.approx(np.cos(np.radians(1.0 - gaze - 5.0)))


def test_the_start_is_uniform():
    starts = [Episode(Tracking(), seed).state.gaze for seed in range(200)]
    assert np.histogram(starts, 4, (0.0, 360.0))[0].min() > 30


def test_the_target_turns_round_every_720_ticks():
    episode = Episode(Tracking())
    targets = [episode.step(0.5, 0.5).state.target for _ in range(1450)]
    assert (targets[718], targets[719], targets[720]) == (-1.0, 0.0, -1.0)
    assert (targets[1438], targets[1439], targets[1440]) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_eyes_answer_to_the_targets_direction(seed):
    episode = Episode(Tracking(), seed)
    generator = np.random.default_rng(seed)
    for _ in range(40):
        episode.step(*generator.random(2))
        assert episode.obs[0] == pytest.approx(eyes(episode.state.gaze, episode.state.target), rel=1e-5, abs=1e-35)


def test_a_target_behind_is_not_seen():
    episode = Episode(Tracking())
    while abs(abs(episode.state.gaze - episode.state.target) - 180.0) > 20.0:
        episode.step(1.0, 0.0)
    assert episode.obs.max() < 1e-30


def test_score_is_the_mean_cosine_of_the_window():
    episode, generator = Episode(Tracking(ticks=90, window=40), 1), np.random.default_rng(1)
    cosines = []
    while not episode.done:
        episode.step(*generator.random(2))
        cosines.append(np.cos(np.radians(episode.state.gaze - episode.state.target)))
    assert len(cosines) == 90
    assert episode.metrics["track_score"] == pytest.approx(np.mean(cosines[-40:]))


def test_reference():
    assert run_episodes(Tracking(), Tracking.reference, seed=0)[0].mean() > 0.99


def test_null_floor_is_zero():
    mean, error = mean_and_error(run_scores(Tracking(), null, 40))
    assert abs(mean) < 4 * error < 0.02
