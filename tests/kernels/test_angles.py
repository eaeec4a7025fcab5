"""The arctangent against mpmath, and the wrapping of angles."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.kernels.angles import atan2_64, wrap

COORDINATE = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(deadline=None)
@given(COORDINATE, COORDINATE)
def test_atan2_is_within_4_ulp(y, x):
    if x == 0.0 and y == 0.0:
        return
    with mpmath.workdps(60):
        exact = mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))
        error = abs(mpmath.mpf(atan2_64(y, x)) - exact)
    assert error <= 4 * np.spacing(max(abs(float(exact)), 1e-290))


def test_atan2_is_within_4_ulp_all_round_the_circle():
    for angle in np.linspace(-np.pi, np.pi, 2001):
        y, x = float(np.sin(angle)), float(np.cos(angle))
        exact = mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))
        assert abs(atan2_64(y, x) - float(exact)) <= 4 * np.spacing(abs(float(exact)))


@pytest.mark.parametrize(
    ("y", "x", "angle"),
    [(0.0, 0.0, 0.0), (0.0, 2.0, 0.0), (3.0, 0.0, np.pi / 2), (-3.0, 0.0, -np.pi / 2), (0.0, -1.0, np.pi)],
)
def test_atan2_on_the_axes(y, x, angle):
    assert atan2_64(y, x) == angle


@settings(deadline=None)
@given(st.floats(-1e4, 1e4), st.floats(0.1, 400.0))
def test_wrap_is_the_nearest_equivalent(x, period):
    near = wrap(x, period)
    assert abs(near) <= period / 2 * (1 + 1e-9)
    assert (x - near) / period == pytest.approx(round((x - near) / period), abs=1e-6)
