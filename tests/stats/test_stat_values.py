"""StatValue and the intervals of a mean: form, repeatability, coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special as scipy_special
from scipy import stats as scipy_stats

from nematodebench.stats import StatValue, interval, plus_minus, pseudo_values, t_critical, wilson, with_interval

VALUES = st.lists(st.floats(-100, 100), min_size=2, max_size=40)
METHODS = ["normal", "t", "bootstrap"]


def normal(rng, n):
    return rng.normal(0.5, 0.1, n)


def bimodal(rng, n):
    """Runs that either fail or learn, half and half: mean .55."""
    return np.where(rng.random(n) < 0.5, rng.normal(0.2, 0.05, n), rng.normal(0.9, 0.05, n))


def bimodal_unequal(rng, n):
    """One run in five fails: mean .76."""
    return np.where(rng.random(n) < 0.2, rng.normal(0.2, 0.05, n), rng.normal(0.9, 0.05, n))


RUNS = {"normal": (normal, 0.5), "bimodal": (bimodal, 0.55), "bimodal 4 to 1": (bimodal_unequal, 0.76)}


def coverage(draw, mean, n, method, trials):
    rng = np.random.default_rng(11)
    intervals = np.array([interval(draw(rng, n), method) for _ in range(trials)])
    return np.mean((intervals[:, 0] <= mean) & (mean <= intervals[:, 1]))


def test_prints_mean_and_half_the_interval():
    assert str(StatValue(0.867, 0.08, 0.7, 0.95, 50, (0.844, 0.890))) == "0.867 ± 0.023"


def test_what_rounds_to_0_has_no_sign():
    assert plus_minus(-0.0002, 0.01) == "0.000 ± 0.010"
    assert with_interval(-0.0002, None) == "0.000"
    assert str(StatValue(-1e-9, 0.1, -0.1, 0.1, 50, (-0.0001, 0.02), "wilson")) == "0.000 [0.000, 0.020]"


@pytest.mark.parametrize(
    ("half", "printed"), [(0.0004, "0.0004"), (0.00001, "<0.0001"), (0.0005, "0.001"), (0.0, "0.000")]
)
def test_only_a_constant_prints_no_interval(half, printed):
    assert plus_minus(0.867, half) == f"0.867 ± {printed}"


def test_summary_uses_the_sample_deviation():
    value = StatValue.from_values([1.0, 2.0, 3.0, 4.0])
    assert (value.mean, value.min, value.max, value.n) == (2.5, 1.0, 4.0, 4)
    assert value.std == pytest.approx(math.sqrt(5 / 3))


def test_from_50_runs_on_the_interval_is_mean_plus_minus_196_standard_errors():
    value = StatValue.from_values([1.0, 2.0] * 25)
    half = 1.96 * np.std([1.0, 2.0] * 25, ddof=1) / math.sqrt(50)
    assert value.ci95 == pytest.approx((1.5 - half, 1.5 + half))
    assert (value.kind, value.doubt) == ("normal", "")


def test_fewer_runs_have_students_interval_and_the_mark():
    value = StatValue.from_values([1.0, 2.0, 3.0, 4.0])
    half = 3.182446305284264 * math.sqrt(5 / 3) / 2
    assert value.ci95 == pytest.approx((2.5 - half, 2.5 + half))
    assert (value.kind, value.doubt, str(value)) == ("t", "few runs", "2.500 ± 2.054 (!)")


def test_two_runs_print_what_student_gives():
    assert str(StatValue.from_values([0.866, 0.868])) == "0.867 ± 0.013 (!)"


def test_a_small_group_apart_is_marked_and_a_large_one_is_not():
    rng = np.random.default_rng(3)
    alike = rng.normal(0.9, 0.05, 500)
    assert StatValue.from_values(alike).doubt == ""
    assert StatValue.from_values(np.r_[alike[:480], np.full(19, 0.2)]).doubt == "small group"
    assert StatValue.from_values(np.r_[alike[:450], np.full(50, 0.2)]).doubt == ""


def test_runs_that_are_all_alike_are_marked():
    assert str(StatValue.from_values([0.5] * 60)) == "0.500 ± 0.000 (!)"
    assert StatValue.from_values([0.5] * 60).doubt == "all alike"
    rounded = np.r_[[0.3] * 30, [0.1 + 0.2] * 30]
    assert str(StatValue.from_values(rounded)) == "0.300 ± 0.000 (!)"
    assert StatValue.from_values(rounded).doubt == StatValue.from_values(rounded[20:31].repeat(5)).doubt == "all alike"


def test_a_long_tail_is_marked_and_a_slight_one_is_not():
    rng = np.random.default_rng(5)
    for draw, marked in (
        (lambda: rng.normal(0.9, 0.05, 50), (0.0, 0.02)),
        (lambda: rng.random(50), (0.0, 0.02)),
        (lambda: 1 - rng.gamma(8.0, 0.05, 50), (0.0, 0.15)),
        (lambda: 1 - rng.exponential(0.1, 50), (0.7, 0.95)),
        (lambda: rng.lognormal(-3.0, 1.0, 50), (0.95, 1.0)),
    ):
        share = np.mean([StatValue.from_values(draw()).doubt != "" for _ in range(500)])
        assert marked[0] <= share <= marked[1]


def test_what_a_tail_costs_falls_with_the_number_of_runs():
    few, many = (1 + 0.1 * np.log(np.arange(0.5, n) / n) for n in (50, 500))  # exponential, without chance
    assert StatValue.from_values(few).doubt == "long tail"
    assert StatValue.from_values(many).doubt == ""
    assert StatValue.from_values(1e-120 * few).doubt == "long tail"


@pytest.mark.parametrize(
    ("hits", "n", "why"),
    [(0, 50, ""), (1, 50, "few hits"), (47, 50, "few hits"), (46, 50, ""), (50, 50, ""), (1, 49, "few runs")],
)  # fmt: skip
def test_a_share_that_few_runs_tell_is_marked(hits, n, why):
    assert StatValue.from_values([1.0] * hits + [0.0] * (n - hits), share=True).doubt == why


def test_wilson_alone_would_cover_too_rarely_where_the_mark_is():
    # A share just below the lower end for one hit: that one hit misses it, and it comes in every sixth session.
    low, _ = wilson(1, 100)
    none, one = scipy_stats.binom.pmf([0, 1], 100, 0.99 * low)
    assert none < 0.85
    assert one > 0.14


def test_a_heavy_tail_of_pseudo_values_marks_the_stability():
    rng = np.random.default_rng(6)
    assert StatValue.of_session(0.9, rng.normal(size=300) ** 2).doubt == ""
    assert StatValue.of_session(0.9, rng.normal(size=299) ** 2).doubt == "few runs"
    assert StatValue.of_session(0.9, rng.lognormal(0.0, 2.0, 300)).doubt == "long tail"
    sessions = [rng.normal(size=300) ** 2, rng.lognormal(0.0, 2.0, 300)]
    assert StatValue.pooled([[0.9], [0.9]], sessions).doubt == "long tail"
    assert StatValue.pooled([[0.9], [0.9]], [sessions[0], sessions[1][:299]]).doubt == "few runs"
    assert StatValue.pooled([[0.9], [0.9]], [sessions[0]] * 2).doubt == ""


@pytest.mark.parametrize(("value", "ends"), [(1.0, (0.929, 1.0)), (0.0, (0.0, 0.071))])
def test_a_share_has_an_interval_where_all_runs_agree(value, ends):
    found = StatValue.from_values([value] * 50, share=True)
    assert found.kind == "wilson"
    assert found.ci95 == pytest.approx(ends, abs=5e-4)
    assert str(found) == f"{value:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"


def test_wilson_equals_scipy():
    for hits in (0, 3, 20, 50):
        expected = scipy_stats.binomtest(hits, 50).proportion_ci(method="wilson")
        assert wilson(hits, 50) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_pseudo_values_of_a_mean_are_the_values():
    values = np.random.default_rng(0).normal(size=(3, 7))
    without = (values.sum(axis=1, keepdims=True) - values) / 6
    assert pseudo_values(values.mean(axis=1), without) == pytest.approx(values)


def test_an_interval_by_pseudo_values_keeps_the_mean_of_the_values():
    value = StatValue.from_values([0.4, 0.5, 0.6], pseudo=[0.2, 0.5, 0.8])
    half = 4.302652729911275 * 0.3 / math.sqrt(3)
    assert (value.mean, value.std, value.kind) == (pytest.approx(0.5), pytest.approx(0.1), "jackknife")
    assert value.ci95 == pytest.approx((0.5 - half, 0.5 + half))


def test_what_only_a_session_has_needs_three_runs():
    assert not StatValue.of_session(0.9, [0.9, 0.9]).has_interval
    assert StatValue.of_session(0.9, [0.8, 0.9, 1.0]).has_interval


def test_sessions_that_differ_by_more_than_their_runs_have_an_interval_over_sessions():
    rng = np.random.default_rng(0)
    alike = rng.normal(0.5, 0.1, (10, 50))
    assert StatValue.pooled(list(alike)).kind == "normal"
    found = StatValue.pooled(list(alike + rng.normal(0.0, 0.1, (10, 1))))
    assert found.kind == "sessions"
    assert found.ci95[1] - found.mean > 0.03


def test_older_versions_had_196_standard_errors_at_any_n():
    half = 1.96 * math.sqrt(5 / 3) / 2
    value = StatValue.plain([[1.0, 2.0, 3.0, 4.0]])
    assert (value.ci95, value.kind) == (pytest.approx((2.5 - half, 2.5 + half)), "plain")


def test_one_value_has_an_unknown_interval():
    value = StatValue.from_values([0.867])
    assert value.std == 0.0
    assert all(math.isnan(bound) for bound in value.ci95)


def test_one_value_does_not_print_as_certain():
    assert str(StatValue.from_values([0.867])) == "0.867 (n = 1)"


def test_pooled_summarises_sessions_but_takes_its_interval_from_all_runs():
    sessions = [[0.1, 0.3], [0.5, 0.9]]
    value = StatValue.pooled(sessions)
    half = 3.182446305284264 * np.std([0.1, 0.3, 0.5, 0.9], ddof=1) / 2
    assert (value.mean, value.n) == (pytest.approx(0.45), 2)
    assert value.std == pytest.approx(np.std([0.2, 0.7], ddof=1))
    assert value.ci95 == pytest.approx((0.45 - half, 0.45 + half))


@pytest.mark.parametrize("method", METHODS)
@given(values=VALUES)
def test_same_input_same_interval(method, values):
    assert interval(values, method) == interval(np.array(values), method)


def test_bootstrap_does_not_touch_global_random_state():
    np.random.seed(5)
    before = np.random.get_state()[1].copy()
    interval([1.0, 2.0, 4.0], "bootstrap")
    assert (np.random.get_state()[1] == before).all()


def test_another_seed_gives_another_bootstrap():
    values = np.random.default_rng(0).normal(size=50)
    assert interval(values, "bootstrap", rng=0) != interval(values, "bootstrap", rng=1)


def test_t_interval_equals_scipy():
    values = np.random.default_rng(0).normal(size=7)
    expected = scipy_stats.t.interval(0.95, 6, loc=values.mean(), scale=scipy_stats.sem(values))
    assert interval(values, "t") == pytest.approx(expected)


@pytest.mark.parametrize("method", METHODS)
def test_one_run_has_no_interval_by_any_method(method):
    assert all(math.isnan(bound) for bound in interval([0.5], method))


@pytest.mark.parametrize("n", [50, 500])
@pytest.mark.parametrize("runs", RUNS)
def test_normal_interval_covers_95_percent(runs, n):
    assert 0.93 <= coverage(*RUNS[runs], n, "normal", 4000) <= 0.97


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_t_interval_covers_95_percent_for_few_normal_runs(n):
    assert 0.93 <= coverage(normal, 0.5, n, "t", 4000) <= 0.97


@pytest.mark.parametrize("runs", RUNS)
def test_t_interval_covers_95_percent_at_50_runs(runs):
    assert 0.93 <= coverage(*RUNS[runs], 50, "t", 4000) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("runs", RUNS)
def test_bootstrap_interval_covers_95_percent_at_50_runs(runs):
    assert 0.93 <= coverage(*RUNS[runs], 50, "bootstrap", 4000) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("runs", RUNS)
def test_pooled_interval_of_ten_sessions_covers_95_percent(runs):
    draw, mean = RUNS[runs]
    rng = np.random.default_rng(12)
    bounds = np.array([StatValue.pooled(draw(rng, 500).reshape(10, 50)).ci95 for _ in range(4000)])
    assert 0.93 <= np.mean((bounds[:, 0] <= mean) & (mean <= bounds[:, 1])) <= 0.97


@pytest.mark.parametrize("bad", [[], [0.1, np.nan], [np.inf], [[0.1, 0.2]], ["a"], 0.5])
def test_bad_values_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"^values "):
        interval(bad)


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="'auto', 'normal', 't' or 'bootstrap'"):
        interval([0.1, 0.2], "wilson")


def test_pooling_no_sessions_is_refused():
    with pytest.raises(ValueError, match=r"^sessions is empty"):
        StatValue.pooled([])


def test_the_table_of_students_t_is_scipys():
    for df in (*range(1, 120), 2.5, 48.0, 0.3):
        assert t_critical(df) == scipy_special.stdtrit(df, 0.975)
    assert t_critical(7, 0.9) == scipy_special.stdtrit(7, 0.95)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 0.7, 23.4])
@pytest.mark.parametrize("runs", [7, 10, 60])
def test_a_constant_has_no_deviation_however_its_mean_is_rounded(value, runs):
    found = StatValue.from_values([value] * runs)
    assert found.std == 0.0
    assert str(found) == f"{value:.3f} ± 0.000 (!)"
