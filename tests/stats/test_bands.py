"""The band around a median curve: what it holds, how often, and that it never changes."""

import numpy as np
import pytest

from nematodebench.stats import median_band


def correlated(generator, runs, points, persistence=0.9):
    """Curves whose neighbouring points are alike, as those of learning are; the true median is 0."""
    noise = generator.normal(size=(runs, points))
    for k in range(1, points):
        noise[:, k] = persistence * noise[:, k - 1] + np.sqrt(1 - persistence**2) * noise[:, k]
    return noise


def test_same_runs_same_band():
    curves = correlated(np.random.default_rng(0), 50, 30)
    first, second = median_band(curves), median_band(curves)
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_the_band_holds_the_median_and_lies_within_the_runs():
    curves = correlated(np.random.default_rng(1), 25, 40)
    middle, low, high = median_band(curves)
    assert np.all(low <= middle) and np.all(middle <= high)
    assert np.all(low >= curves.min(axis=0)) and np.all(high <= curves.max(axis=0))
    assert np.any(low > curves.min(axis=0))


def test_runs_that_agree_have_a_band_without_width():
    middle, low, high = median_band(np.full((30, 5), 0.5))
    assert np.array_equal(low, middle) and np.array_equal(high, middle)


def test_one_point_is_about_the_interval_of_a_median():
    """For one point the ranks are those of the binomial distribution: 18 and 33 of 50, or one further out."""
    curves = np.arange(50.0)[:, None]
    _, low, high = median_band(curves)
    assert low[0] in (16.0, 17.0) and high[0] == 49.0 - low[0]


@pytest.mark.slow
@pytest.mark.parametrize("points", [20, 100])
@pytest.mark.parametrize("runs", [20, 50])
def test_coverage_over_the_whole_curve(runs, points):
    """True median curves lie within the band everywhere in at least 93 % of 300 experiments."""
    held = 0
    for seed in range(300):
        curves = correlated(np.random.default_rng(seed), runs, points)
        _, low, high = median_band(curves)
        held += bool(np.all((low <= 0) & (high >= 0)))
    assert held >= 0.93 * 300
