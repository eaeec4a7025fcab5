"""Comparisons of two brains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nematodebench.stats import compare, holm, probability_of_improvement, verdict

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


def test_pseudo_values_give_the_error_and_scores_the_difference():
    x, y, errors = [0.4, 0.6, 0.5], [0.3, 0.3, 0.3], [0.2, 0.8, 0.5]
    result = compare(x, y, [1, 2, 3], [1, 2, 3], errors, y)
    assert result.difference == pytest.approx(0.2)
    assert result.se == pytest.approx(0.3 / np.sqrt(3))


def test_pseudo_values_of_other_runs_are_refused():
    with pytest.raises(ValueError, match=r"^pseudo_x has 2"):
        compare([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], pseudo_x=[0.1, 0.2])


def test_interval_of_the_chance_is_brunner_and_munzels_on_the_scale_of_log_odds():
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.3, 1, 30), rng.normal(0, 2, 40)
    result = compare(x, y)
    expected = scipy_stats.brunnermunzel(y, x)
    low, high = result.improvement_ci95
    chance = result.probability_of_improvement
    logit = np.log(np.array([low, chance, high]) / (1 - np.array([low, chance, high])))
    assert logit[1] == pytest.approx((logit[0] + logit[2]) / 2)
    half = (logit[2] - logit[0]) / 2 * chance * (1 - chance)
    assert abs(chance - 0.5) / half == pytest.approx(abs(expected.statistic) / t_point(expected), rel=0.05)


def t_point(expected):
    """Student's point of the degrees of freedom that belong to a two-sided p-value."""
    from scipy.optimize import brentq

    df = brentq(lambda f: 2 * scipy_stats.t.sf(abs(expected.statistic), f) - expected.pvalue, 2, 1e4)
    return scipy_stats.t.ppf(0.975, df)


def test_chance_of_separated_sides_has_wilsons_interval():
    assert compare([2.0] * 10, [1.0] * 10).improvement_ci95 == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert compare([1.0] * 10, [2.0] * 10).improvement_ci95 == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_pairs_that_go_together_have_a_narrower_interval_of_the_chance():
    rng = np.random.default_rng(5)
    seed = rng.normal(size=60)
    x, y = seed + 0.1 * rng.normal(size=60), seed + 0.1 * rng.normal(size=60)
    paired, unpaired = (compare(x, y, s, s).improvement_ci95 for s in (range(60), None))
    assert paired[1] - paired[0] < 0.5 * (unpaired[1] - unpaired[0])


def test_tails_that_pairs_share_do_not_count_and_a_constant_side_does_not_either():
    rng = np.random.default_rng(7)
    tail, noise = -np.log(rng.permutation(np.arange(0.5, 60) / 60)), rng.normal(0.0, 0.1, 60)
    seeds = range(60)
    assert compare(tail + noise, tail, seeds, seeds).doubt == ""
    assert compare(tail + noise, tail).doubt == "long tail"
    assert compare(tail, noise, seeds, seeds).doubt == "long tail"
    assert compare(noise, np.zeros(60), seeds, seeds).doubt == ""
    apart = np.where(np.arange(60) < 5, 5.0, noise)
    assert compare(apart + noise, apart, seeds, seeds).doubt == "small group"


@pytest.mark.parametrize("n", [3, 7, 10, 60])
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (1 / 3, 2 / 3), (0.9, 0.7), (0.1, 0.1), (1e-9, 0.1)])
@pytest.mark.parametrize("paired", [True, False])
def test_constants_have_no_error_however_their_mean_is_rounded(n, low, high, paired):
    seeds = list(range(n)) if paired else None
    result = compare([low] * n, [high] * n, seeds, seeds)
    assert result.se == 0.0
    assert result.p_value == (1.0 if low == high else 0.0)
    same, apart = f"{n} runs agree, {60 - n} more would show equivalence", "the same difference in every run"
    assert verdict(result).reason in {same, apart, "the same in every run; up to 5.0% of runs may be unlike these 60"}


@pytest.mark.parametrize("value", [0.1, 1 / 3, 0.7, 23.4])
def test_constants_of_which_there_are_unlike_many_do_not_differ(value):
    """The mean of ten times 0.1 is not that of seven times 0.1, in floating point."""
    for n in range(3, 30):
        result = compare([value] * n, [value] * 10)
        assert (result.difference, result.se, result.p_value) == (0.0, 0.0, 1.0)


def test_what_is_doubted_most_is_named_and_ranks_have_no_tails():
    rng = np.random.default_rng(8)
    tail, noise = -np.log(rng.permutation(np.arange(0.5, 60) / 60)), rng.normal(0.0, 0.1, 60)
    apart = np.where(np.arange(60) < 5, 5.0, noise)
    assert (compare(tail, noise).doubt, compare(tail, noise).improvement_doubt) == ("long tail", "")
    for sides in ((tail, apart), (apart, tail)):
        assert (compare(*sides).doubt, compare(*sides).improvement_doubt) == ("small group", "small group")
    assert compare(tail, noise[:40]).improvement_doubt == "few runs"


def test_pairs_that_all_differ_by_the_same_have_no_error():
    runs = np.random.default_rng(3).random(60)
    result = compare(runs, runs + 0.1, range(60), range(60))
    assert (result.se, result.doubt) == (0.0, "")
    errors = 60 * runs - 59 * runs.mean()
    assert compare(runs, runs + 0.1, range(60), range(60), errors, errors + 0.1).se == 0.0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_small_differences_between_runs_are_an_error_still(scale):
    runs = scale * (0.5 + 1e-9 * np.random.default_rng(4).random(20))
    assert compare(runs, runs[::-1], range(20), range(20)).se > 0.0
    assert compare(runs, runs[::-1]).se > 0.0
