"""The test of a claim: how often it is wrong about an honest one, and how often it finds sessions that were chosen."""

import itertools

import numpy as np
import pytest

from nematodebench.scoring.jackknife import composite_pseudo_values, stabilities
from nematodebench.scoring.nematode import composite
from nematodebench.stats import exchange_p_value, smallest_exchange_p_value
from nematodebench.verification.claim import TOO_GOOD, claim_p_value

RUNS, SESSIONS = 50, 10


def test_every_division_counts_once():
    values = [3.0, 2.0, 5.0, 1.0, 0.5]
    sums = [sum(values[k] for k in ways) for ways in itertools.combinations(range(5), 2)]
    assert exchange_p_value(values[:2], values[2:]) == sum(one >= 5.0 for one in sums) / len(sums)


def test_the_smallest_value_is_reached_where_all_claims_are_above():
    assert exchange_p_value(range(10, 20), range(10)) == pytest.approx(smallest_exchange_p_value(10, 10))


def test_equal_values_say_nothing():
    assert exchange_p_value([0.7] * 10, [0.7] * 10) == 1.0
    assert claim_p_value([np.full(50, 0.7)] * 10, [np.full(50, 0.7)]) == (1.0, False)


def test_a_claim_below_the_measurement_is_never_too_good():
    rng = np.random.default_rng(1)
    low, high = [[rng.normal(k, 0.1, 50) for _ in range(10)] for k in (0, 1)]
    assert claim_p_value(low, high)[0] > 0.99


def test_drawn_divisions_agree_with_all_of_them(monkeypatch):
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.8, 1, 10), rng.normal(0, 1, 10)
    every = exchange_p_value(x, y)
    monkeypatch.setattr("nematodebench.stats.permutation._ALL", 0)
    drawn = exchange_p_value(x, y)
    assert drawn == exchange_p_value(x, y)
    assert abs(drawn - every) < 5 * np.sqrt(every * (1 - every) / 99_999)


def test_with_too_few_sessions_the_runs_are_compared():
    rng = np.random.default_rng(3)
    claimed, fresh = [rng.normal(1, 0.1, 50) for _ in range(10)], [rng.normal(0, 0.1, 50)]
    p, by_session = claim_p_value(claimed, fresh)
    assert (p < TOO_GOOD, by_session) == (True, False)


def brain(kind, rng, sessions):
    """Composite and pseudo-values of runs, session by session, of a brain that learns steadily or fails at times."""
    shape = (sessions, RUNS)
    works = rng.random(shape) < {"steady": 1.0, "bimodal": 0.85, "rarely fails": 0.99}[kind]
    rate = np.where(works, rng.normal(0.85, 0.04, shape), 0.05).clip(0, 1)
    efficiency, speed = 0.8 * rate, np.where(works, rng.normal(0.7, 0.05, shape), 0.0).clip(0, 1)
    scores = composite(rate, efficiency, speed, 0.0) + 0.1 * stabilities(rate)[:, np.newaxis]
    return scores, composite_pseudo_values(rate, efficiency, speed, rate)


def marked(kind, pool, trials, sessions=SESSIONS):
    """How often the best ten of a pool of sessions are marked; the pool is ten for an honest claim."""
    rng, count, units = np.random.default_rng([pool, trials]), 0, set()
    for _ in range(trials):
        scores, pseudo = brain(kind, rng, pool)
        best = np.argsort(scores.mean(axis=1))[-SESSIONS:]
        fresh, pseudo_fresh = brain(kind, rng, sessions)
        p, by_session = claim_p_value(list(scores[best]), list(fresh), list(pseudo[best]), list(pseudo_fresh))
        count += p < TOO_GOOD
        units.add(by_session)
    assert units == {sessions > 1}
    return count / trials


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["steady", "bimodal", "rarely fails"])
def test_an_honest_claim_is_marked_once_in_a_hundred_at_most(kind):
    trials = 300
    assert marked(kind, SESSIONS, trials) <= TOO_GOOD + 3 * np.sqrt(TOO_GOOD * (1 - TOO_GOOD) / trials)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("steady", 0.75), ("bimodal", 0.80), ("rarely fails", 0.80)])
def test_the_best_ten_of_52_sessions_are_mostly_found(kind, least):
    assert marked(kind, 52, 100) >= least


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["steady", "bimodal", "rarely fails"])
def test_the_best_ten_of_1000_sessions_are_always_found(kind):
    assert marked(kind, 1_000, 40) == 1.0
