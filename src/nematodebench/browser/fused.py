"""Fused multiply-add without the instruction: from additions and multiplications alone, with the bits of the processor.

WebAssembly promises no fused multiply-add, and kernels depend on it. Where the browser's relaxed instruction rounds
once (:func:`self_test` shows it) that is used, otherwise these functions. Their idea: a sum that has more digits than
fit is first rounded to a neighbour whose last digit is odd, together with the part that was cut off. An odd neighbour
is never half way between two shorter numbers, so that the second rounding is the only one that counts (Boldo and
Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
"""

from typing import Any

import numpy as np

from nematodebench.kernels.jit import U64, inline, kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.rng import next_u64, set_stream

__all__ = ["fma32", "fma64", "self_test"]

_SPLIT = 134217729.0  # 2**27 + 1
_MAGNITUDE = 0x7FFFFFFFFFFFFFFF
_EXPONENT_BITS = 0x7FF
_LOWEST = -1074
"""The exponent of the smallest number above 0."""


@inline
@kernel()
def bits64(x: float) -> np.int64:
    """The bits of a float64."""
    return np.float64(x).view(np.int64)


@inline
@kernel()
def float64_of(bits: int | np.int64) -> float:
    """The float64 that has these bits."""
    return np.int64(bits).view(np.float64)


@inline
@kernel()
def _sum(a: float, b: float) -> tuple[float, float]:
    """A + b rounded, and what rounding cut off."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@inline
@kernel()
def _odd_sum(a: float, b: float) -> float:
    """A + b; where it was rounded, the neighbour of the exact sum whose last digit is odd."""
    total, error = _sum(a, b)
    bits = bits64(total)
    if (error > 0.0 or error < 0.0) and bits & 1 == 0:
        return float64_of(bits + 1 if (error > 0.0) == (total > 0.0) else bits - 1)
    return total


@inline
@kernel()
def _product(a: float, b: float) -> tuple[float, float]:
    """A * b rounded, and what rounding cut off."""
    split_a, split_b = _SPLIT * a, _SPLIT * b
    high_a, high_b = split_a - (split_a - a), split_b - (split_b - b)
    low_a, low_b = a - high_a, b - high_b
    product = a * b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@kernel(cached=True)
def fma32(product: float, c: float) -> np.float32:
    """The float32 next to a sum of float64 numbers, of which the first is the exact product of two float32."""
    return np.float32(_odd_sum(product, c))


@inline
@kernel()
def _exponent(x: float) -> Any:
    return ((bits64(x) >> 52) & _EXPONENT_BITS) - 1023


@inline
@kernel()
def _parts(a: float, b: float, c: float) -> tuple[float, float]:
    """A * b + c as a number and a much smaller one, whose sum rounds to the exact result."""
    high, low = _product(a, b)
    first, rest = _sum(c, low)
    value, more = _sum(high, first)
    return value, _odd_sum(rest, more)


@kernel(cached=True)
def fma64(a: float, b: float, c: float) -> float:
    """A * b + c rounded once."""
    if a == 0.0 or b == 0.0 or not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return c if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c) else a * b + c
    if c == 0.0:
        return a * b
    if abs(_exponent(a)) < 300 and abs(_exponent(b)) < 300 and abs(_exponent(c)) < 600:
        value, rest = _parts(a, b, c)
        return value + rest
    return _far(a, b, c)


@inline
@kernel()
def _scaled(x: float, exponent: int) -> float:
    """X * 2**exponent, where no step but the last leaves the range of numbers."""
    while exponent > 1000:
        x, exponent = x * float64_of((1000 + 1023) << 52), exponent - 1000
    while exponent < -1000:
        x, exponent = x * float64_of((1023 - 1000) << 52), exponent + 1000
    return x * float64_of((exponent + 1023) << 52)


@inline
@kernel()
def _near_one(x: float) -> tuple[float, Any]:
    """X as a number from 1 to 2 and an exponent."""
    more = 0
    if _exponent(x) == -1023:
        x, more = x * float64_of((1023 + 64) << 52), -64
    exponent = _exponent(x)
    return float64_of((bits64(x) & ~(_EXPONENT_BITS << 52)) | (1023 << 52)), exponent + more


@kernel()
def _far(a: float, b: float, c: float) -> float:
    """For numbers so large or small that parts of the result would leave the range: computed near 1, then moved."""
    (a, ea), (b, eb), (c, ec) = _near_one(a), _near_one(b), _near_one(c)
    exponent = ea + eb
    apart = ec - exponent
    if apart > 200:  # the product only decides on which side of c the result is
        exponent, apart = ec - 200, 200
    c = _scaled(c, max(apart, -400))
    value, rest = _parts(a, b, c)
    if value == 0.0:  # what was cut off is all that is left
        value, rest = rest, 0.0
    lowest = _LOWEST - exponent  # of the numbers that remain when the result is moved, the exponent of the smallest
    if _exponent(value) - 52 < lowest:
        value = _on_grid(value, rest, lowest)
    else:
        value = value + rest
    return _scaled(value, exponent)


@inline
@kernel()
def _on_grid(value: float, rest: float, lowest: int) -> float:
    """The multiple of 2**lowest that is next to value + rest."""
    base = _scaled(1.0, lowest + 52) if lowest < 900 else 0.0
    base = base if value > 0.0 else -base
    high, low = _sum(base, value)
    result = (high + _odd_sum(low, rest)) - base
    return result if result != 0.0 else 0.0 * value


@inline
@kernel()
def _drawn(rng: U64) -> float:
    """A number of any sign, with an exponent from -8 to 7: so close that sums cancel often."""
    word = next_u64(rng)
    exponent = np.int64((word >> np.uint64(52)) & np.uint64(15)) + (1023 - 8)
    sign = np.int64(word >> np.uint64(63))
    return float64_of((sign << 63) | (exponent << 52) | np.int64(word & np.uint64((1 << 52) - 1)))


@kernel()
def _same(x: float, y: float) -> bool:
    return bool(bits64(x) == bits64(y))


@kernel(cached=True)
def self_test(rng: U64, tries: int) -> int:
    """How often the fused multiply-add that kernels use differs from the exact one; -1 if nothing could tell.

    Half of the sums almost cancel, where rounding twice is seen best.
    """
    set_stream(rng, np.uint64(0), 0, 0, 0)
    wrong, telling = 0, 0
    for n in range(tries):
        a, b, c = _drawn(rng), _drawn(rng), _drawn(rng)
        if n % 2 == 0:
            c = -(a * b)
        x, y, z = np.float32(a), np.float32(b), np.float32(c)
        exact = fma32(np.float64(x) * np.float64(y), np.float64(z))
        wrong += not _same(np.float64(fma(x, y, z)), np.float64(exact))
        telling += not _same(np.float64(x * y + z), np.float64(exact))
        wide = fma64(a, b, c)
        wrong += not _same(fma(a, b, c), wide)
        telling += not _same(a * b + c, wide)
    return wrong if telling > tries // 10 else -1
