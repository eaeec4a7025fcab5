"""A learning speed that a flat agent earns is not shown to be learning; a learner's is."""

import numpy as np
import pytest
from scipy.stats import binom

from nematodebench import scoring
from nematodebench.measures.base import Episodes
from nematodebench.measures.composite import COMPOSITE


def session(success):
    ones = np.ones(success.shape)
    rows = np.stack([success, ones, ones, ones, ones, ones], axis=-1)
    return Episodes(("success", "optimal", "travelled", "foods", "steps", "truncated"), list(rows))


def flat(p, runs=50, episodes=500, seed=1):
    return (np.random.default_rng(seed).random((runs, episodes)) < p).astype(float)


def learner(runs=50, episodes=500, fast=5, seed=0):
    chances = 0.98 - 0.9 * np.exp(-np.arange(episodes) / fast)
    return (np.random.default_rng(seed).random((runs, episodes)) < chances).astype(float)


def test_a_flat_agent_earns_learning_speed_and_is_told_so():
    measured = COMPOSITE.measure(session(flat(0.6)), None)
    assert measured.session["learning_speed"].mean > 0.5
    assert [note for note in measured.notes if note.startswith("learning speed: not shown to be learning")]


@pytest.mark.parametrize("fast", [5, 50])
def test_a_learner_is_not_marked_even_if_it_learns_at_once(fast):
    assert not COMPOSITE.measure(session(learner(fast=fast)), None).notes


def test_without_learning_speed_there_is_nothing_to_mark():
    assert not COMPOSITE.measure(session(flat(0.1)), None).notes


@pytest.mark.parametrize("episodes", [50, 100, 200, 500])
def test_one_flat_run_passes_at_most_3_5_percent_of_the_time_by_exact_summation(episodes):
    last, first = episodes // 4, min(20, episodes // 4)
    shown = np.zeros((first + 1, last + 1), dtype=bool)
    for early in range(first + 1):
        for late in range(last + 1):
            run = np.zeros((1, episodes))
            run[0, :early], run[0, episodes - late :] = 1, 1
            shown[early, late] = scoring.improvement(run).shown
    for p in np.arange(0.02, 1.0, 0.02):
        chance = np.outer(binom.pmf(np.arange(first + 1), first, p), binom.pmf(np.arange(last + 1), last, p))
        assert chance[shown].sum() <= 0.035


@pytest.mark.parametrize("p", [0.05, 0.6, 0.95])
def test_a_flat_session_passes_at_most_3_5_percent_of_the_time(p):
    rng = np.random.default_rng(3)
    passed = [scoring.improvement(rng.random((20, 200)) < p).shown for _ in range(2000)]
    assert np.mean(passed) <= 0.035 + 3 * np.sqrt(0.035 * 0.965 / 2000)


def test_too_short_runs_show_nothing():
    assert not scoring.improvement([[True, True, True]]).shown
