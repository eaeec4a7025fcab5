"""Our exp, log, sin, cos and tanh against mpmath, over the domains they state."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import (
    _rounded_once,
    cos32,
    cos64,
    exp32,
    exp64,
    fma,
    log32,
    log64,
    sin32,
    sin64,
    tanh32,
    tanh64,
)

f32 = np.float32
NUMBERS = np.random.default_rng(0)
TINY64, TINY32 = np.finfo(np.float64).tiny, np.finfo(np.float32).tiny


def ulps(got, exact, kind):
    """Error in units of the last place of the exact value."""
    with mpmath.workdps(60):
        unit = mpmath.mpf(float(np.spacing(kind(abs(exact)))))
        return float(abs(mpmath.mpf(float(got)) - exact) / unit)


def worst(function, exact, points, kind):
    with mpmath.workdps(60):
        return max(ulps(function(x), exact(mpmath.mpf(float(x))), kind) for x in map(kind, points))


def log_spread(low, high, count=1500):
    return 2.0 ** NUMBERS.uniform(np.log2(low), np.log2(high), count)


def both_signs(points):
    return np.concatenate([points, -points])


# name: function, exact one, type, allowed ulp, points: everyday numbers, and the far ends of the domain
CASES = {
    "exp64": (exp64, mpmath.exp, np.float64, 2, [NUMBERS.uniform(-708, 709.78, 2000), NUMBERS.uniform(-2, 2, 2000)]),
    "log64": (log64, mpmath.log, np.float64, 2, [log_spread(TINY64, 1.7e308), NUMBERS.uniform(0.5, 2.0, 2000)]),
    "sin64": (sin64, mpmath.sin, np.float64, 2, [NUMBERS.uniform(-1e6, 1e6, 2000), NUMBERS.uniform(-7, 7, 2000)]),
    "cos64": (cos64, mpmath.cos, np.float64, 2, [NUMBERS.uniform(-1e6, 1e6, 2000), NUMBERS.uniform(-7, 7, 2000)]),
    "tanh64": (tanh64, mpmath.tanh, np.float64, 2, [both_signs(log_spread(1e-300, 700)), NUMBERS.uniform(-3, 3, 2000)]),
    "exp32": (exp32, mpmath.exp, f32, 2, [NUMBERS.uniform(-87, 88, 2000), NUMBERS.uniform(-2, 2, 2000)]),
    "log32": (log32, mpmath.log, f32, 2, [log_spread(2 * TINY32, 3e38), NUMBERS.uniform(0.5, 2.0, 2000)]),
    "sin32": (sin32, mpmath.sin, f32, 2, [NUMBERS.uniform(-1e4, 1e4, 2000), NUMBERS.uniform(-7, 7, 2000)]),
    "cos32": (cos32, mpmath.cos, f32, 2, [NUMBERS.uniform(-1e4, 1e4, 2000), NUMBERS.uniform(-7, 7, 2000)]),
    "tanh32": (tanh32, mpmath.tanh, f32, 5, [both_signs(log_spread(1e-37, 1e30)), NUMBERS.uniform(-9.5, 9.5, 3000)]),
}  # fmt: skip
EVERYWHERE = [name for name in CASES if not name.startswith("log")]


@pytest.mark.parametrize("name", CASES)
def test_error_is_within_the_stated_ulp(name):
    function, exact, kind, allowed, points = CASES[name]
    assert worst(function, exact, np.concatenate(points), kind) <= allowed


@pytest.mark.parametrize("function", [sin64, cos64])
def test_near_multiples_of_a_quarter_turn(function):
    """Where the argument's reduction loses most."""
    exact = mpmath.sin if function is sin64 else mpmath.cos
    near = np.array([k * math.pi / 2 for k in [*range(-50, 51), 1001, 77_777, 636_619] if k])
    points = np.concatenate([near, np.nextafter(near, np.inf), near * (1 + 1e-9)])
    assert worst(function, exact, points, np.float64) <= 2


@pytest.mark.parametrize("name", [name for name in EVERYWHERE if "exp" not in name and "cos" not in name])
def test_odd_functions_keep_zero_and_subnormal_numbers(name):
    function, _, kind, allowed, _ = CASES[name]
    smallest = np.nextafter(kind(0), kind(1))
    subnormal = kind(np.finfo(kind).tiny) / kind(8)
    assert function(kind(0)) == 0
    assert function(smallest) in {0, smallest}
    assert abs(function(subnormal) - subnormal) <= allowed * smallest


@pytest.mark.parametrize("name", ["exp64", "exp32", "cos64", "cos32"])
def test_one_at_zero_and_at_subnormal_numbers(name):
    function, _, kind, _, _ = CASES[name]
    assert function(kind(0)) == 1
    assert function(np.nextafter(kind(0), kind(1))) == 1
    assert function(-np.nextafter(kind(0), kind(1))) == 1


@pytest.mark.parametrize("name", EVERYWHERE)
def test_nan_gives_nan(name):
    function, _, kind, _, _ = CASES[name]
    assert np.isnan(function(kind(np.nan)))


@pytest.mark.parametrize("x", [709.79, 1e300, math.inf])
def test_exp64_overflows_to_infinity(x):
    assert exp64(x) == math.inf


@pytest.mark.parametrize("x", [-708.1, -745.0, -1e300, -math.inf])
def test_exp64_is_zero_far_down(x):
    assert exp64(x) == 0.0


def test_exp64_at_the_ends_of_its_range():
    ends = np.array([-708.0, 709.782712893384])
    assert worst(exp64, mpmath.exp, ends, np.float64) <= 2


@pytest.mark.parametrize(("x", "end"), [(1e30, 88.0), (math.inf, 88.0), (-1e30, -87.0), (-math.inf, -87.0)])
def test_exp32_is_clamped(x, end):
    assert exp32(f32(x)) == exp32(f32(end))


@pytest.mark.parametrize(("function", "kind"), [(tanh64, np.float64), (tanh32, f32)])
@pytest.mark.parametrize("x", [20.0, 1e30, math.inf])
def test_tanh_saturates_within_one_ulp_of_one(function, kind, x):
    assert 1 - np.spacing(kind(1)) <= function(kind(x)) <= 1
    assert function(kind(-x)) == -function(kind(x))


def test_log64_at_zero_and_one():
    assert log64(0.0) == -math.inf
    assert log64(1.0) == 0.0
    assert log32(f32(1.0)) == 0.0


def test_log64_at_the_ends_of_its_domain():
    assert worst(log64, mpmath.log, np.array([TINY64, np.finfo(np.float64).max]), np.float64) <= 2
    assert worst(log32, mpmath.log, np.array([TINY32, np.finfo(f32).max]), f32) <= 2


@kernel(cached=True)
def _fma(a, b, c):
    return fma(a, b, c)


@given(*[st.floats(-1e100, 1e100, allow_subnormal=False)] * 3)
def test_fma_rounds_once(a, b, c):
    with mpmath.workdps(1000):
        exact = mpmath.mpf(a) * mpmath.mpf(b) + mpmath.mpf(c)
        got = mpmath.mpf(_fma(a, b, c))
        nearest = abs(got - exact)
        assert nearest <= abs(mpmath.mpf(np.nextafter(float(got), np.inf)) - exact)
        assert nearest <= abs(mpmath.mpf(np.nextafter(float(got), -np.inf)) - exact)


def same(ours, theirs):
    """The same bits, or both no number."""
    assert type(ours) is type(theirs)
    assert ours.tobytes() == theirs.tobytes() or (np.isnan(ours) and np.isnan(theirs))


def fused(a, b, c, kind):
    """The processor's answer; a call from Python gives a float64 that holds it exactly."""
    return kind(_fma(kind(a), kind(b), kind(c)))


@pytest.mark.filterwarnings("ignore:overflow")
@settings(max_examples=1000)
@given(*[st.floats(width=32)] * 3)
def test_the_interpreters_fma_is_the_processors_in_float32(a, b, c):
    same(_rounded_once(f32(a), f32(b), f32(c)), fused(a, b, c, f32))


@settings(max_examples=1000)
@given(st.integers(2**23, 2**24), st.integers(2**23, 2**24), st.integers(-(2**24), 2**24), st.integers(-20, 60))
def test_the_interpreters_fma_is_the_processors_near_the_middle_between_two_numbers(a, b, c, shift):
    """A product of 48 bits and a number far from it or close to it: here rounding twice goes wrong."""
    addend = math.ldexp(c, shift)
    same(_rounded_once(f32(a), f32(b), f32(addend)), fused(a, b, addend, f32))


def test_rounding_twice_would_be_seen():
    """In float64 the sum is the middle between two float32, in truth it lies beyond."""
    a, b, c = f32(1 + 2**-12), f32(1 + 2**-12), f32(2.0**-60)
    twice = f32(float(a) * float(b) + float(c))
    assert _rounded_once(a, b, c) == fused(a, b, c, f32) != twice


@settings(max_examples=1000)
@given(*[st.floats()] * 3)
def test_the_interpreters_fma_is_the_processors_in_float64(a, b, c):
    with np.errstate(all="ignore"):
        same(_rounded_once(np.float64(a), np.float64(b), np.float64(c)), fused(a, b, c, np.float64))


@settings(max_examples=200)
@given(st.floats(-700, 700))
def test_exp_and_log_are_inverse(x):
    assert log64(exp64(x)) == pytest.approx(x, rel=1e-15, abs=1e-15)
