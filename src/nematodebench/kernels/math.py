"""exp, log, sin, cos and tanh of our own, from + - * / sqrt, fma and integer shifts only.

libm picks its implementation by CPU and NumPy's float32 functions change bits with the vector unit; these give the
same bits everywhere. Coefficients are Chebyshev fits (rational least squares for ``tanh32``) computed for this file.
Errors, checked against mpmath: 2 ulp, ``tanh32`` 5 ulp. Domains: sine and cosine |x| < 1e6 (``sin32`` and
``cos32`` |x| < 1e4), logarithms positive normal
numbers, the others every number. NaN gives NaN, outside of a domain anything.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numba import types

from nematodebench.kernels.jit import intrinsic, kernel

__all__ = [
    "bits32", "cos32", "cos64", "exp32", "exp64", "float32_of", "fma", "log32", "log64", "sin32", "sin64", "tanh32",
    "tanh64",
]  # fmt: skip


def _bitcast(source: Any, target: Any) -> Any:
    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(target))

    return target(source), generate


@intrinsic(lambda x: np.float32(x).view(np.int32))
def bits32(_context: Any, x: Any) -> Any:
    """The bits of a float32 as int32."""
    return _bitcast(types.float32, types.int32)


@intrinsic(lambda x: np.int32(x).view(np.float32))
def float32_of(_context: Any, x: Any) -> Any:
    """The float32 that has these int32 bits."""
    return _bitcast(types.int32, types.float32)


@intrinsic(lambda x: np.float64(x).view(np.int64))
def _bits64(_context: Any, x: Any) -> Any:
    return _bitcast(types.float64, types.int64)


@intrinsic(lambda x: np.int64(x).view(np.float64))
def _float64_of(_context: Any, x: Any) -> Any:
    return _bitcast(types.int64, types.float64)


def _rounded_once(a: Any, b: Any, c: Any) -> Any:
    """What the processor's fused multiply-add gives, exactly."""
    if isinstance(a, np.float32):
        return _rounded_once_32(float(a), float(b), float(c))
    if not (np.isfinite(a) and np.isfinite(b)):
        return np.float64(a * b + c)
    if not np.isfinite(c):
        return np.float64(c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    try:
        return np.float64(float(exact) if exact else a * b + c)
    except OverflowError:
        return np.float64(np.inf if exact > 0 else -np.inf)


def _rounded_once_32(a: float, b: float, c: float) -> np.float32:
    """The same from float32 numbers: their product is exact in float64, and so is the error of the sum.

    A sum that was rounded is moved to the neighbour with an odd last bit. That one lies never in the middle between
    two float32, so that rounding it again gives what rounding the exact number gives.
    """
    product = a * b
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    if error > 0.0 or error < 0.0:
        near = np.float64(total)
        if not near.view(np.int64) & 1:
            total = math.nextafter(total, math.copysign(math.inf, error))
    return np.float32(total)


@intrinsic(_rounded_once)
def fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    """A * b + c rounded once; all three of one float type."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.fma(*args)

    if a != b or a != c:
        return None
    return a(a, b, c), generate


_LOG2E = 1.4426950408889634
_LN2_HI, _LN2_LO = 0.6931471806019545, -4.2009150726810846e-11
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@kernel()
def exp64(x: float) -> float:
    """Exponential; 0 below -708 and inf above 709.78."""
    k = np.floor(x * _LOG2E + 0.5)
    k = min(max(k, -1022.0), 1024.0)
    r = fma(k, -_LN2_HI, x)
    r = fma(k, -_LN2_LO, r)
    p = 2.0914686968086876e-09
    p = fma(p, r, 2.5105217004720745e-08)
    p = fma(p, r, 2.75572736431103e-07)
    p = fma(p, r, 2.7557255400206422e-06)
    p = fma(p, r, 2.4801587325547743e-05)
    p = fma(p, r, 0.00019841269874820627)
    p = fma(p, r, 0.0013888888888883748)
    p = fma(p, r, 0.008333333333326136)
    p = fma(p, r, 0.04166666666666667)
    p = fma(p, r, 0.1666666666666667)
    p = fma(p, r, 0.5)
    value = 1.0 + fma(r * r, p, r)
    half = np.int64(k) >> 1
    scaled: float = value * _float64_of((half + 1023) << 52) * _float64_of((np.int64(k) - half + 1023) << 52)
    if x < -708.0:
        return 0.0
    if x > 709.782712893384:
        return np.inf
    return scaled


@kernel()
def log64(x: float) -> float:
    """Natural logarithm of a positive normal number; -inf at 0."""
    if x == 0.0:
        return -np.inf
    bits = _bits64(x)
    k = (bits - _SQRT_HALF_BITS) >> 52
    m = _float64_of(bits - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 0.13086907887965027
    p = fma(p, z, 0.13268746195596595)
    p = fma(p, z, 0.15386240708969665)
    p = fma(p, z, 0.18181795621632782)
    p = fma(p, z, 0.22222222391887064)
    p = fma(p, z, 0.2857142857080285)
    p = fma(p, z, 0.4000000000000088)
    p = fma(p, z, 0.6666666666666666)
    exponent = np.float64(k)
    # log(m) = f - s (f - z p) with f = m - 1 keeps the leading term exact.
    f = m - 1.0
    tail = fma(exponent, _LN2_LO, -s * (f - z * p))
    value: float = exponent * _LN2_HI + (f + tail)
    return value


@kernel()
def _sin_poly(r: float) -> float:
    z = r * r
    p = -7.586685070091267e-13
    p = fma(p, z, 1.605853141458901e-10)
    p = fma(p, z, -2.5052106231157904e-08)
    p = fma(p, z, 2.7557319219335453e-06)
    p = fma(p, z, -0.0001984126984126506)
    p = fma(p, z, 0.008333333333333331)
    p = fma(p, z, -0.16666666666666666)
    value: float = fma(z * r, p, r)
    return value


@kernel()
def _cos_poly(r: float) -> float:
    z = r * r
    p = 4.7458652037874553e-14
    p = fma(p, z, -1.1470460773969325e-11)
    p = fma(p, z, 2.0876755790363397e-09)
    p = fma(p, z, -2.755731922140076e-07)
    p = fma(p, z, 2.4801587301584645e-05)
    p = fma(p, z, -0.0013888888888888887)
    p = fma(p, z, 0.041666666666666664)
    half = 0.5 * z
    w = 1.0 - half
    value: float = w + fma(z * z, p, (1.0 - w) - half)
    return value


@kernel()
def _quarter(x: float, shift: int) -> float:
    """sin(x + shift pi/2): one polynomial per quarter turn."""
    k = np.floor(x * 0.6366197723675814 + 0.5)
    r = fma(k, -1.5707963267341256, x)
    r = fma(k, -6.077100506303966e-11, r)
    r = fma(k, -2.0222662487959506e-21, r)
    quadrant = np.int64(k) + shift
    value = _cos_poly(r) if quadrant & 1 else _sin_poly(r)
    return -value if quadrant & 2 else value


@kernel()
def sin64(x: float) -> float:
    """Sine."""
    return _quarter(x, 0)


@kernel()
def cos64(x: float) -> float:
    """Cosine."""
    return _quarter(x, 1)


@kernel()
def tanh64(x: float) -> float:
    """Hyperbolic tangent."""
    a = abs(x)
    if a < 0.625:
        z = x * x
        p = -2.438831631472088e-06
        p = fma(p, z, 1.2209921790162781e-05)
        p = fma(p, z, -3.708106921544234e-05)
        p = fma(p, z, 9.604109157026265e-05)
        p = fma(p, z, -0.00023888944636751174)
        p = fma(p, z, 0.0005899818158388232)
        p = fma(p, z, -0.0014558283998303246)
        p = fma(p, z, 0.003592127507599252)
        p = fma(p, z, -0.008863235499801992)
        p = fma(p, z, 0.021869488535133222)
        p = fma(p, z, -0.0539682539682359)
        p = fma(p, z, 0.13333333333333322)
        p = fma(p, z, -0.3333333333333333)
        small: float = fma(z * x, p, x)
        return small
    value = 1.0 - 2.0 / (exp64(2.0 * min(a, 20.0)) + 1.0)
    return value if x > 0.0 else -value


_LN2_HI32, _LN2_LO32 = np.float32(0.693115234375), np.float32(3.194618329871446e-05)


@kernel()
def exp32(x: np.float32) -> np.float32:
    """Exponential in float32, for x in [-87, 88]; outside it is clamped there. Branch-free, so loops vectorise."""
    x = min(max(x, np.float32(-87.0)), np.float32(88.0))
    k = np.floor(fma(x, np.float32(1.442695041), np.float32(0.5)))
    r = fma(k, -_LN2_HI32, x)
    r = fma(k, -_LN2_LO32, r)
    p = fma(np.float32(0.0013926250394433737), r, np.float32(0.00836323294788599))
    p = fma(p, r, np.float32(0.04166655242443085))
    p = fma(p, r, np.float32(0.16666576266288757))
    p = fma(p, r, np.float32(0.5))
    value = np.float32(1.0) + fma(r * r, p, r)
    result: np.float32 = value * float32_of((np.int32(k) + np.int32(127)) << np.int32(23))
    return result


@kernel()
def log32(x: np.float32) -> np.float32:
    """Natural logarithm of a positive normal float32."""
    bits = bits32(x)
    k = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    m = float32_of(bits - (k << np.int32(23)))
    f = m - np.float32(1.0)
    s = f / (m + np.float32(1.0))
    z = s * s
    p = fma(np.float32(0.23332762718200684), z, np.float32(0.28550735116004944))
    p = fma(p, z, np.float32(0.4000012278556824))
    p = fma(p, z, np.float32(0.6666666865348816))
    exponent = np.float32(k)
    tail = fma(exponent, _LN2_LO32, -s * (f - z * p))
    result: np.float32 = fma(exponent, _LN2_HI32, f + tail)
    return result


@kernel()
def tanh32(x: np.float32) -> np.float32:
    """Hyperbolic tangent in float32: one rational function, one division, no branch."""
    x = min(max(x, np.float32(-9.01)), np.float32(9.01))
    z = x * x
    p = fma(np.float32(1.3317746080652281e-08), z, np.float32(2.0582526251053572e-05))
    p = fma(p, z, np.float32(0.003493977454591462))
    p = fma(p, z, np.float32(0.13379670505766603))
    p = fma(p, z, np.float32(1.0))
    q = fma(np.float32(7.761476059743458e-07), z, np.float32(0.00032829986014905197))
    q = fma(q, z, np.float32(0.025870857745168497))
    q = fma(q, z, np.float32(0.4671298581351545))
    q = fma(q, z, np.float32(1.0))
    result: np.float32 = x * (p / q)
    return result


@kernel()
def _quarter32(x: np.float32, shift: int) -> np.float32:
    """sin(x + shift pi/2) in float32: both polynomials are computed and one is taken, so loops vectorise."""
    k = np.floor(fma(x, np.float32(0.6366197466850281), np.float32(0.5)))
    r = fma(k, np.float32(-1.5707963705062866), x)
    r = fma(k, np.float32(4.371138828673793e-08), r)
    r = fma(k, np.float32(1.7151245100058819e-15), r)
    z = r * r
    p = fma(np.float32(2.724962087086169e-06), z, np.float32(-0.00019840084132738411))
    p = fma(p, z, np.float32(0.008333331905305386))
    p = fma(p, z, np.float32(-0.1666666716337204))
    sine = fma(z * r, p, r)
    q = fma(np.float32(2.4547689463361166e-05), z, np.float32(-0.0013888301327824593))
    q = fma(q, z, np.float32(0.0416666641831398))
    half = np.float32(0.5) * z
    w = np.float32(1.0) - half
    cosine = w + fma(z * z, q, (np.float32(1.0) - w) - half)
    quadrant = np.int32(k) + np.int32(shift)
    value: np.float32 = cosine if quadrant & np.int32(1) else sine
    return -value if quadrant & np.int32(2) else value


@kernel()
def sin32(x: np.float32) -> np.float32:
    """Sine in float32."""
    return _quarter32(x, 0)


@kernel()
def cos32(x: np.float32) -> np.float32:
    """Cosine in float32."""
    return _quarter32(x, 1)
