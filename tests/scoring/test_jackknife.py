"""Pseudo-values of the stability and of the composite."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nematodebench import scoring
from nematodebench.stats import StatValue

RATES = hnp.arrays(int, st.integers(3, 12), elements=st.integers(0, 500)).map(lambda counts: counts / 500)


def by_definition(rates):
    n = len(rates)
    return [
        n * scoring.stability(rates) - (n - 1) * scoring.stability(np.delete(rates, k)) if n > 2 else 0.0
        for k in range(n)
    ]


@given(RATES)
def test_pseudo_values_of_the_stability_are_those_of_the_definition(rates):
    assert scoring.stability_pseudo_values(rates) == pytest.approx(by_definition(rates), abs=1e-6)


def test_one_odd_run_is_computed_without_rounding_errors():
    rates = np.array([0.97] * 49 + [0.1])
    assert scoring.stability_pseudo_values(rates) == pytest.approx(by_definition(rates), abs=1e-12)


@pytest.mark.parametrize("one", [0.02, 0.1, 0.3, 1 / 3, 0.7, 1.0])
def test_one_run_that_ever_succeeds_leaves_no_stability_behind(one):
    assert scoring.stability_pseudo_values(np.array([0.0] * 49 + [one])).tolist() == [0.0] * 50


def test_rows_are_sessions():
    rates = np.random.default_rng(0).random((4, 9))
    assert scoring.stabilities(rates) == pytest.approx([scoring.stability(row) for row in rates])
    rows = [scoring.stability_pseudo_values(row) for row in rates]
    assert scoring.stability_pseudo_values(rates) == pytest.approx(np.array(rows))


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_runs_tell_nothing_about_the_stability(n):
    rates = np.array([0.8, 0.9])[:n]
    assert scoring.stability_pseudo_values(rates) == pytest.approx([scoring.stability(rates)] * n)


def test_pseudo_values_of_the_composite_are_those_of_the_session():
    rng = np.random.default_rng(2)
    success, efficiency, speed, final = rng.random((4, 8))

    def session(keep):
        steady = scoring.stability(final[keep])
        return float(scoring.composite(success[keep], efficiency[keep], speed[keep], steady).mean())

    everything = np.arange(8)
    expected = [8 * session(everything) - 7 * session(np.delete(everything, k)) for k in range(8)]
    assert scoring.composite_pseudo_values(success, efficiency, speed, final) == pytest.approx(expected)


def test_an_interval_by_pseudo_values_is_wider_where_runs_fail():
    success = np.array([0.9] * 40 + [0.1] * 10)
    values = scoring.composite(success, success, success, scoring.stability(success))
    plain = StatValue.from_values(values)
    honest = StatValue.from_values(values, pseudo=scoring.composite_pseudo_values(success, success, success, success))
    assert honest.mean == plain.mean
    assert honest.ci95[1] - honest.ci95[0] > 1.2 * (plain.ci95[1] - plain.ci95[0])
