"""Rate code: how a brain that computes with rates in [0, 1] hears its sensors.

Every sensor becomes one or two channels by its declared range. If the range does not go below 0 there is one channel,
(x - low) / (high - low). Otherwise there are two: x / high where x is positive and x / low where it is negative. Values
out of range are clamped, and NaN is 0.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, kernel
from nematodebench.kernels.memory import Memory, constants, floats, size, words

__all__ = ["RateCode", "encode"]


class RateCode(Memory):
    """The sensor that each channel listens to, its gain and offset, and the rates of the last observation."""

    channels = size()
    gains = constants("channels")
    offsets = constants("channels")
    sensors = words("channels", scratch=True)
    rates = floats("channels", scratch=True)

    @classmethod
    def shape(cls, body: Interface) -> Mapping[str, Any]:
        """The channels that a body needs."""
        found: list[tuple[int, float, float]] = []
        for n, (low, high) in enumerate(zip(body.low, body.high, strict=True)):
            if low >= 0.0:
                gain = 1.0 / (high - low) if high > low else 0.0
                found.append((n, gain, -low * gain))
            else:
                found += [(n, 1.0 / high if high > 0.0 else 0.0, 0.0), (n, 1.0 / low, 0.0)]
        sensors, gains, offsets = ([channel[k] for channel in found] for k in range(3))
        return {"channels": len(found), "sensors": sensors, "gains": gains, "offsets": offsets}


@kernel()
def encode(code: RateCode, obs: F32) -> None:
    """Writes the observation to ``rates``."""
    for c in range(code.channels):
        rate = code.gains[c] * obs[code.sensors[c]] + code.offsets[c]
        code.rates[c] = np.float32(min(rate, 1.0)) if rate > 0.0 else np.float32(0.0)
