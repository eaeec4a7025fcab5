"""The convergence detector, and the error rates claimed for it, by exact summation over all outcomes."""

import functools

import numpy as np
import pytest

from nematodebench import scoring


@functools.cache
def verdict_table(episodes):
    """converged[f, g]: verdict of the real function for f successes in the last and g in the previous quarter."""
    block = episodes // 4
    counts = np.arange(block + 1)
    filled = counts[:, None] > np.arange(block)[None, :]
    last, previous = (grid.ravel() for grid in np.meshgrid(counts, counts, indexing="ij"))
    start = np.zeros((last.size, episodes - 2 * block), dtype=bool)
    runs = np.concatenate([start, filled[previous], filled[last]], axis=1)
    verdicts = [verdict.converged for verdict in scoring.convergence_rows(runs)]
    return np.array(verdicts).reshape(block + 1, block + 1)


def count_distribution(chances):
    """Distribution of the number of successes of independent episodes with these chances."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return distribution


def not_converged(episodes, previous_chances, last_chances):
    return 1 - count_distribution(last_chances) @ verdict_table(episodes) @ count_distribution(previous_chances)


def caught_climbing(episodes):
    """Probability of noticing a success rate that rises by .3 a quarter, for several starting rates."""
    block = episodes // 4
    ramp = 0.3 * (np.arange(2 * block) + 0.5) / block
    return [not_converged(episodes, (s + ramp)[:block], (s + ramp)[block:]) for s in np.linspace(0, 0.4, 9)]


@pytest.mark.parametrize("episodes", [50, 52, 56, 60, 64, 68, 72, 80, 88, 100, 120, 150, 200, 300])
def test_a_flat_agent_is_rarely_called_unconverged(episodes):
    block = episodes // 4
    worst = max(not_converged(episodes, [p] * block, [p] * block) for p in np.linspace(0, 1, 101))
    assert worst <= 0.044


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(12, 130))
def test_a_flat_agent_is_rarely_called_unconverged_at_any_length(quarter):
    worst = max(not_converged(4 * quarter, [p] * quarter, [p] * quarter) for p in np.linspace(0, 1, 201))
    assert worst <= 0.044


def test_climbing_is_caught_at_300_episodes():
    assert min(caught_climbing(300)) >= 0.94


def test_climbing_is_mostly_caught_at_200_episodes():
    caught = caught_climbing(200)
    assert min(caught) >= 0.83
    assert max(caught) <= 0.91


def test_climbing_is_caught_a_quarter_of_the_time_at_50_episodes():
    caught = caught_climbing(50)
    assert min(caught) >= 0.20
    assert max(caught) <= 0.30


@pytest.mark.parametrize(("episodes", "low"), [(199, True), (200, False)])
def test_low_power_below_200_episodes(episodes, low):
    assert scoring.convergence(np.ones(episodes)).low_power is low


def test_a_flat_perfect_run_settles_at_episode_1():
    assert scoring.convergence(np.ones(500)).onset == 1


def test_onset_follows_the_last_window_clearly_below_the_final_level():
    # V = 50, L = 1, qL = 126/127: a window violates below 1 - (.10 + 2.6 sqrt(qL (1 - qL) / 50)) = .8675, that is with
    # 7 failures or more; after 200 failures the last such window ends with episode 243.
    run = scoring.convergence(np.arange(500) >= 200)
    assert run.converged
    assert run.onset == 244


def test_final_success_starts_at_the_onset():
    assert scoring.final_success_rate(np.arange(500) >= 200) == 1.0


def test_a_climbing_run_is_not_converged_and_has_no_onset():
    run = scoring.convergence(np.arange(400) >= 300)
    assert (run.converged, run.onset) == (False, None)


def test_final_success_without_convergence_is_over_the_last_tenth():
    successes = np.zeros(400, dtype=bool)
    successes[300:380] = True
    assert scoring.final_success_rate(successes) == 0.5


def test_a_run_that_collapses_in_its_last_window_has_no_onset():
    successes = np.arange(500) < 450
    successes[250:300] = False
    run = scoring.convergence(successes)
    assert (run.converged, run.onset) == (True, None)
    assert scoring.final_success_rate(successes) == 0.0


@pytest.mark.parametrize("episodes", [1, 3])
def test_fewer_than_four_episodes_never_count_as_converged(episodes):
    assert not scoring.convergence(np.ones(episodes)).converged


def test_final_success_of_a_very_short_run_is_over_all_of_it():
    assert scoring.final_success_rate([0, 1, 1]) == pytest.approx(2 / 3)


def test_a_difference_of_exactly_the_tolerance_is_converged():
    # b = 200, f/b = .1, g/b = 0: the tolerance is its least value, .10.
    successes = np.zeros(800, dtype=bool)
    successes[600:620] = True
    run = scoring.convergence(successes)
    assert (run.last, run.previous, run.tolerance, run.converged) == (0.1, 0.0, 0.1, True)


def test_one_more_success_is_not():
    successes = np.zeros(800, dtype=bool)
    successes[600:621] = True
    assert not scoring.convergence(successes).converged
