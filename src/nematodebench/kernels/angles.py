"""Angles: the arctangent and the shortest way round, in the manner of :mod:`nematodebench.kernels.math`.

Errors, checked by a test against mpmath: ``atan2_64`` 4 ulp. The arguments of ``atan2_64`` must be finite.
"""

import numpy as np

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import fma

__all__ = ["PI", "TWO_PI", "atan2_64", "wrap"]

PI = 3.141592653589793
TWO_PI = 6.283185307179586
_HALF_PI = 1.5707963267948966
_QUARTER_PI = 0.7853981633974483
_TAN_EIGHTH = 0.41421356237309503


@kernel()
def _atan_poly(r: float) -> float:
    """Arctangent for |r| <= tan(pi/8)."""
    z = r * r
    p = 0.016284375050043393
    p = fma(p, z, -0.03456931506332609)
    p = fma(p, z, 0.045515447340221615)
    p = fma(p, z, -0.05230443640686948)
    p = fma(p, z, 0.05878927554473807)
    p = fma(p, z, -0.0666642476020052)
    p = fma(p, z, 0.07692296368042296)
    p = fma(p, z, -0.09090908753259112)
    p = fma(p, z, 0.11111111105150588)
    p = fma(p, z, -0.14285714285659779)
    p = fma(p, z, 0.19999999999999804)
    p = fma(p, z, -0.3333333333333333)
    angle: float = fma(z * r, p, r)
    return angle


@kernel()
def atan2_64(y: float, x: float) -> float:
    """Angle of the point (x, y) in [-pi, pi]; 0 at the origin."""
    ax, ay = abs(x), abs(y)
    small, large = min(ax, ay), max(ax, ay)
    if large == 0.0:
        return 0.0
    if small > _TAN_EIGHTH * large:
        angle = _QUARTER_PI + _atan_poly((small - large) / (small + large))
    else:
        angle = _atan_poly(small / large)
    if ay > ax:
        angle = _HALF_PI - angle
    if x < 0.0:
        angle = PI - angle
    return -angle if y < 0.0 else angle


@kernel()
def wrap(x: float, period: float) -> float:
    """The number in [-period/2, period/2] that differs from ``x`` by a multiple of the period."""
    turns: float = np.floor(x / period + 0.5)
    return x - period * turns
