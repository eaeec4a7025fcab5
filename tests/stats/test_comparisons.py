"""Comparisons of two brains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nematodebench.stats import compare, holm, probability_of_improvement

RUNS = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30)


@given(RUNS, RUNS)
def test_probability_of_improvement_equals_scipy_u(x, y):
    u = scipy_stats.mannwhitneyu(x, y, method="asymptotic").statistic
    assert probability_of_improvement(x, y) == pytest.approx(u / (len(x) * len(y)))


@given(RUNS, RUNS)
def test_probabilities_of_both_directions_add_up_to_1(x, y):
    assert probability_of_improvement(x, y) + probability_of_improvement(y, x) == pytest.approx(1.0)


def test_holm_steps_down():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])


def test_holm_never_exceeds_1():
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_the_raw_and_the_bonferroni_values(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1.0, np.array(p) * len(p))).all()


def test_matching_seeds_are_paired_whatever_their_order():
    result = compare([1.0, 2.0, 4.0], [3.5, 0.5, 1.0], seeds_x=[7, 8, 9], seeds_y=[9, 7, 8])
    expected = scipy_stats.ttest_rel([1.0, 2.0, 4.0], [0.5, 1.0, 3.5])
    assert result.pairs == 3
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.ci95 == pytest.approx(tuple(expected.confidence_interval()))


def test_a_missing_run_leaves_the_other_pairs():
    result = compare([1.0, 2.0, 4.0], [0.5, 3.0], seeds_x=[1, 2, 3], seeds_y=[1, 3])
    assert (result.pairs, result.difference) == (2, pytest.approx(0.75))


@pytest.mark.parametrize("seeds", [None, [90, 91, 92, 93]])
def test_without_matching_seeds_the_comparison_is_welch(seeds):
    x, y = [1.0, 2.0, 4.0, 4.5], [0.5, 0.6, 1.0, 0.2]
    expected = scipy_stats.ttest_ind(x, y, equal_var=False)
    result = compare(x, y, seeds_x=[1, 2, 3, 4], seeds_y=seeds)
    assert result.pairs == 0
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.ci95 == pytest.approx(tuple(expected.confidence_interval()))


def test_few_chance_partners_do_not_make_a_paired_comparison():
    assert compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], seeds_x=[1, 2, 3], seeds_y=[3, 4, 5]).pairs == 0


@pytest.mark.parametrize("paired", [True, False])
def test_identical_constant_runs_do_not_differ(paired):
    seeds = [1, 2, 3] if paired else None
    result = compare([0.5] * 3, [0.5] * 3, seeds, seeds)
    assert (result.difference, result.p_value, result.probability_of_improvement) == (0.0, 1.0, 0.5)


def test_a_single_run_has_no_interval():
    result = compare([0.5], [0.1, 0.2])
    assert np.isnan([*result.ci95, result.p_value]).all()


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("shape", ["normal", "bimodal"])
def test_interval_of_the_difference_covers_95_percent(paired, shape):
    rng = np.random.default_rng(31)
    seeds = list(range(50)) if paired else None
    hits = 0
    for _ in range(2000):
        x, y = rng.normal(0.6, 0.05, 50), rng.normal(0.5, 0.1, 50)
        if shape == "bimodal":
            x, y = x - 0.4 * (rng.random(50) < 0.5), y - 0.4 * (rng.random(50) < 0.5)
        low, high = compare(x, y, seeds, seeds).ci95
        hits += low <= 0.1 <= high
    assert 0.93 <= hits / 2000 <= 0.97


@pytest.mark.parametrize("seeds", [[1, 2], [1, 1, 2]])
def test_seeds_that_do_not_name_each_run_are_refused(seeds):
    with pytest.raises(ValueError, match=r"^seeds_x has"):
        compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], seeds, [1, 2, 3])


@pytest.mark.parametrize(("x", "y", "name"), [([], [1.0], "x"), ([1.0], [np.nan], "y")])
def test_bad_runs_are_refused_by_name(x, y, name):
    with pytest.raises(ValueError, match=f"^{name} "):
        probability_of_improvement(x, y)


def test_impossible_p_values_are_refused():
    with pytest.raises(ValueError, match=r"^p_values spans"):
        holm([0.5, 1.5])
