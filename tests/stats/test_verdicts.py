"""Better, worse, equivalent or undecided; power and equivalence as scipy and statsmodels have them."""

import math

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats

from nematodebench.stats import (
    compare,
    detectable_difference,
    equivalence_p_value,
    power,
    runs_to_detect,
    verdict,
)
from nematodebench.stats.verdicts import LEVEL


def runs(mean, n=50, spread=0.05, seed=0):
    return np.random.default_rng(seed).normal(mean, spread, n)


def judged(x, y, **options):
    seeds = range(len(x))
    return verdict(compare(x, y, seeds, seeds), **options)


def test_a_clear_difference_is_better_or_worse():
    assert judged(runs(0.8), runs(0.6, seed=1)).outcome == "better"
    assert judged(runs(0.6), runs(0.8, seed=1)).outcome == "worse"


def test_a_small_difference_is_equivalent_when_it_is_shown_to_be_small():
    x = runs(0.8, 400, 0.02)
    found = judged(x + 0.001, x[::-1], smallest=0.01)
    assert (found.outcome, found.reason) == (
        "equivalent",
        "the difference is less than 0.01; up to 0.8% of runs may be unlike these 400",
    )


def test_a_few_runs_that_agree_are_not_equivalent_whatever_a_t_test_says():
    """Ten runs of a brain that fails once in ten show no failure in 35 % of all cases."""
    rng = np.random.default_rng(3)

    def equivalent(n, share):
        steady = 0.9 + 0.001 * rng.normal(size=(2, n))
        return judged(steady[0], np.where(rng.random(n) < share, 0.2, steady[1])).outcome == "equivalent"

    for n, share in ((3, 0.1), (10, 0.1), (20, 0.1), (50, 0.05), (60, 0.05)):
        assert np.mean([equivalent(n, share) for _ in range(400)]) <= 0.05 + 0.03 * (n == 60)
    assert all(equivalent(60, 0.0) for _ in range(20))


def test_undecided_says_how_many_runs_would_tell():
    found = judged(runs(0.80), runs(0.79, seed=1))
    assert found.outcome == "undecided"
    assert found.more_runs > 50
    assert found.reason.endswith("more runs would tell")


def test_more_runs_do_decide():
    first = judged(runs(0.80), runs(0.79, seed=1))
    n = 50 + first.more_runs
    seen = compare(runs(0.80), runs(0.79, seed=1)).difference
    outcomes = [judged(runs(0.8 + seen, n, seed=2 * k + 2), runs(0.8, n, seed=2 * k + 3)).outcome for k in range(60)]
    assert outcomes.count("undecided") <= 0.35 * 60


@pytest.mark.parametrize(
    ("x", "y", "outcome", "reason"),
    [
        ([0.5] * 5, [0.5] * 5, "undecided", "5 runs agree, 55 more would show equivalence"),
        ([0.5] * 60, [0.5] * 60, "equivalent", "the same in every run; up to 5.0% of runs may be unlike these 60"),
        ([0.7] * 5, [0.5] * 5, "better", "the same difference in every run"),
        ([0.5] * 5, [0.7] * 5, "worse", "the same difference in every run"),
        ([0.501] * 59, [0.5] * 59, "undecided", "59 runs agree, 1 more would show equivalence"),
        (
            [0.501] * 100,
            [0.5] * 100,
            "equivalent",
            "the same small difference in every run; up to 3.0% of runs may be unlike these 100",
        ),
        ([0.7], [0.5], "undecided", "one pair cannot tell"),
        ([0.7, 0.8], [0.5, 0.4], "undecided", "two pairs cannot tell"),
    ],
)
def test_constants_and_very_few_runs_have_words(x, y, outcome, reason):
    found = judged(x, y)
    assert (found.outcome, found.reason) == (outcome, reason)


def test_very_few_runs_without_seeds_have_words():
    assert verdict(compare([0.7], [0.5, 0.6, 0.7])).reason == "one run cannot tell"
    assert verdict(compare([0.7, 0.8], [0.5, 0.6, 0.7])).reason == "two runs cannot tell"


def test_a_p_value_between_the_level_and_5_percent_is_undecided():
    comparison = compare(runs(0.80), runs(0.79, seed=1))
    assert verdict(comparison, 1e-9, p_value=(LEVEL + 0.05) / 2).outcome == "undecided"
    assert verdict(comparison, 1e-9, p_value=LEVEL / 2).outcome == "better"


@pytest.mark.parametrize("paired", [True, False])
def test_equivalence_is_two_one_sided_t_tests(paired):
    x, y = runs(0.80, 30), runs(0.795, 30, seed=1)
    seeds = range(30) if paired else None
    found = equivalence_p_value(compare(x, y, seeds, seeds), 0.02)

    def test(margin, side):
        if paired:
            return scipy_stats.ttest_rel(x, y - margin, alternative=side).pvalue
        return scipy_stats.ttest_ind(x, y - margin, equal_var=False, alternative=side).pvalue

    assert found == pytest.approx(max(test(0.02, "greater"), test(-0.02, "less")))


def test_equivalence_equals_statsmodels():
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    x, y = runs(0.80, 30), runs(0.795, 30, seed=1)
    seeds = range(30)
    assert equivalence_p_value(compare(x, y, seeds, seeds), 0.02) == pytest.approx(
        weightstats.ttost_paired(x, y, -0.02, 0.02)[0]
    )
    assert equivalence_p_value(compare(x, y), 0.02) == pytest.approx(
        weightstats.ttost_ind(x, y, -0.02, 0.02, usevar="unequal")[0]
    )


@pytest.mark.parametrize(("effect", "n"), [(0.3, 20), (0.5, 50), (0.1, 400), (2.0, 5)])
def test_power_equals_statsmodels(effect, n):
    tests = pytest.importorskip("statsmodels.stats.power")
    assert power(effect, 1.0, n, 0.05) == pytest.approx(tests.TTestPower().power(effect, n, 0.05), abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 50, 500, 5000])
def test_power_is_known_however_large_the_difference_is(n):
    """Averaged over what the sample's deviation may be, in place of scipy's function, which underflows."""
    shares = (np.arange(20_000) + 0.5) / 20_000
    deviations = np.sqrt(special.chdtri(n - 1, shares) / (n - 1))
    point = special.stdtrit(n - 1, 0.98)
    for shift in np.linspace(0.0, 60.0, 121):
        wanted = special.ndtr(shift - point * deviations) + special.ndtr(-shift - point * deviations)
        assert power(shift / math.sqrt(n), 1.0, n) == pytest.approx(float(wanted.mean()), abs=1e-4)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10])
def test_what_few_runs_detect_is_detected_in_four_of_five_simulations(n):
    values = np.random.default_rng(n).normal(detectable_difference(1.0, n), 1.0, (20_000, n))
    statistic = values.mean(axis=1) / (values.std(axis=1, ddof=1) / math.sqrt(n))
    assert np.mean(np.abs(statistic) > special.stdtrit(n - 1, 0.98)) == pytest.approx(0.8, abs=0.015)


def test_runs_and_differences_invert_the_power():
    n = runs_to_detect(0.02, 0.1)
    assert power(0.02, 0.1, n - 1) < 0.8 <= power(0.02, 0.1, n)
    smallest = detectable_difference(0.1, n)
    assert smallest == pytest.approx(0.02, rel=0.01)
    assert power(smallest, 0.1, n) == pytest.approx(0.8, abs=1e-6)


def test_nothing_is_found_with_one_run_and_anything_without_spread():
    assert math.isnan(detectable_difference(0.1, 1))
    assert detectable_difference(0.0, 10) == 0.0
    assert power(0.1, 0.1, 1) == 0.0
