"""Aggregates over tasks and their stratified bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats

from nematodebench.stats import iqm, optimality_gap, performance_profile, stratified_bootstrap

SCORES = hnp.arrays(float, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.floats(-2, 2))
TASK_MEANS = np.array([0.2, 0.4, 0.5, 0.6, 0.8])


@given(SCORES)
def test_iqm_equals_scipy_trim_mean(scores):
    assert iqm(scores) == pytest.approx(scipy_stats.trim_mean(scores, 0.25, axis=None), abs=1e-12)


def test_iqm_of_one_run_is_that_run():
    assert iqm([0.3]) == 0.3


def test_optimality_gap_does_not_credit_what_exceeds_the_target():
    assert optimality_gap([0.5, 3.0]) == pytest.approx(0.25)


def test_performance_profile_is_the_share_strictly_above():
    assert performance_profile([[0.1, 0.5], [0.5, 0.9]], [0.0, 0.5, 0.9]).tolist() == [1.0, 0.25, 0.0]


@given(SCORES)
def test_performance_profile_never_rises(scores):
    assert (np.diff(performance_profile(scores, np.linspace(-2, 2, 9))) <= 0).all()


def test_same_input_same_interval():
    scores = np.random.default_rng(0).random((20, 3))
    assert stratified_bootstrap(scores, iqm) == stratified_bootstrap(scores.copy(), iqm)


def test_resampling_stays_within_each_task():
    scores = np.tile([0.0, 1.0, 5.0], (10, 1))
    assert stratified_bootstrap(scores, np.mean) == (2.0, 2.0)


def normal(rng):
    return rng.normal(TASK_MEANS, 0.1, (50, 5))


def bimodal(rng):
    """Runs of every task either fail or learn, half and half."""
    return rng.normal(TASK_MEANS, 0.05, (50, 5)) + rng.choice([-0.15, 0.15], (50, 5))


def bootstrap_coverage(draw, statistic, truth):
    # So many trials because the estimate's own error (.5 %) must stay well below the margin that is tested (2 %).
    rng = np.random.default_rng(21)
    bounds = np.array([stratified_bootstrap(draw(rng), statistic) for _ in range(2500)])
    return np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1]))


# What exceeds the target 1 does not count; of the five tasks only the best one (mean .8) gets there.
GAP = 0.5 + scipy_stats.norm.expect(lambda x: np.maximum(x - 1, 0), loc=0.8, scale=0.1) / 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "statistic", "truth"),
    # Pooled over tasks both distributions are symmetric about .5, hence the interquartile mean.
    [(normal, iqm, 0.5), (bimodal, iqm, 0.5), (bimodal, np.mean, 0.5), (normal, optimality_gap, GAP)],
)
def test_stratified_bootstrap_covers_95_percent_at_50_runs(draw, statistic, truth):
    assert 0.93 <= bootstrap_coverage(draw, statistic, truth) <= 0.97


@pytest.mark.parametrize("bad", [[0.1, 0.2], [[0.1, np.nan]], [], [[0.1], [0.1, 0.2]], [[0.1, 0.2]]])
def test_bad_scores_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"^scores "):
        stratified_bootstrap(bad, iqm)
