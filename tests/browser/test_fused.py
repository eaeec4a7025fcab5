"""The emulated fused multiply-add has the bits of the processor's."""

import numpy as np
import pytest

from nematodebench.browser.fused import fma32, fma64, self_test
from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.rng import RNG_WORDS

COUNT = 100_000


@kernel()
def differences(a, b, c):
    """How often two results differ, where every NaN is the same."""
    wrong = 0
    for n in range(a.size):
        x, y = fma(a[n], b[n], c[n]), fma64(a[n], b[n], c[n])
        same = x == y or (np.isnan(x) and np.isnan(y))
        wrong += not same or (x == 0.0 and 1.0 / x != 1.0 / y)
    return wrong


@kernel()
def differences32(a, b, c):
    wrong = 0
    for n in range(a.size):
        x, y = fma(a[n], b[n], c[n]), fma32(np.float64(a[n]) * np.float64(b[n]), np.float64(c[n]))
        wrong += not (x == y or (np.isnan(x) and np.isnan(y)))
    return wrong


def drawn(kind):
    """Three arrays of numbers of a difficult kind."""
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 2**64, (3, COUNT), dtype=np.uint64)
    if kind == "any bits":
        return bits.view(np.float64)
    exponents = rng.integers(0, 2047, (3, COUNT))
    exponents[2] = np.clip(exponents[0] + exponents[1] - 1023 + rng.integers(-120, 120, COUNT), 0, 2046)
    if kind == "results too small for all digits":
        exponents[1] = np.clip(972 - exponents[0] + rng.integers(0, 120, COUNT), 0, 2046)
        exponents[2] = rng.integers(0, 80, COUNT)
    mantissa = 0x8008000000000001 if kind == "ties" else 0x800FFFFFFFFFFFFF
    values = (bits & np.uint64(mantissa) | exponents.astype(np.uint64) << np.uint64(52)).view(np.float64).copy()
    if kind == "sums that cancel":
        with np.errstate(all="ignore"):
            values[2] = -(values[0] * values[1])
    if kind == "zeros and infinities":
        for special in (0.0, -0.0, np.inf, -np.inf):
            values[rng.random((3, COUNT)) < 0.2] = special
    return values


KINDS = ["any bits", "any exponents", "results too small for all digits", "ties", "sums that cancel",
         "zeros and infinities"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_float64(kind):
    assert differences(*(np.ascontiguousarray(one) for one in drawn(kind))) == 0


def test_float32():
    bits = np.random.default_rng(8).integers(0, 2**32, (3, 10 * COUNT), dtype=np.uint32)
    assert differences32(*(np.ascontiguousarray(one) for one in bits.view(np.float32))) == 0


def test_the_self_test_finds_nothing_where_it_is_fused():
    assert self_test(np.zeros(RNG_WORDS, dtype=np.uint64), 20_000) == 0
