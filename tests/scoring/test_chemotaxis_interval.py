"""The plate assay's interval covers the true index at the numbers of runs it is used with."""

import itertools
import math

import pytest

from nematodebench.scoring import chemotaxis_index, chemotaxis_interval


def _coverage(n: int, p_attractant: float, p_control: float) -> float:
    """Exact, by summation over all outcomes of n worms."""
    true, covered = p_attractant - p_control, 0.0
    rest = 1.0 - p_attractant - p_control
    for a, c in itertools.product(range(n + 1), repeat=2):
        if a + c > n:
            continue
        low, high = chemotaxis_interval(a, c, n)
        if low - 1e-12 <= true <= high + 1e-12:
            ways = math.comb(n, a) * math.comb(n - a, c)
            covered += ways * p_attractant**a * p_control**c * rest ** (n - a - c)
    return covered


@pytest.mark.parametrize(("attractant", "control"), [(0.5, 0.1), (0.3, 0.3), (0.7, 0.1), (0.85, 0.05), (0.2, 0.0)])
def test_coverage_at_fifty_runs(attractant: float, control: float) -> None:
    assert 0.93 <= _coverage(50, attractant, control) <= 0.99


def test_fifty_worms_that_agree_still_leave_doubt() -> None:
    low, high = chemotaxis_interval(50, 0, 50)
    assert chemotaxis_index(50, 0, 50) == 1.0
    assert low < 0.97
    assert high == 1.0


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="impossible"):
        chemotaxis_interval(30, 30, 50)
