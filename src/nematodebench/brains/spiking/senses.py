"""The population code of `spiking_rstdp`: every sensor has cells, each of which prefers another value."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, inlined
from nematodebench.kernels.memory import Memory, constant, constants, size, words

__all__ = ["PopulationCode", "encode"]

_REACH = 1.5
"""How many spacings from its preferred value a cell falls silent."""


class PopulationCode(Memory):
    """The cells: their sensor, its range, the value they prefer and how far the next cell's is from it."""

    crowd = constant()
    sensed = size()
    sensor = words("sensed", scratch=True)
    low = constants("sensed")
    high = constants("sensed")
    centre = constants("sensed")
    spacing = constants("sensed")

    @classmethod
    def shape(cls, body: Interface, cells: int) -> Mapping[str, Any]:
        """``cells`` for every sensor; a range across 0 has cells on both sides."""
        found: list[tuple[float, ...]] = []
        for n, (low, high) in enumerate(zip(body.low, body.high, strict=True)):
            sides = [(low, high, cells)] if low >= 0 else [(0.0, high, cells - cells // 2), (0.0, low, cells // 2)]
            for start, end, count in sides:
                spacing = (end - start) / count if count else 0.0
                found += [(n, low, high, start + spacing * (k + 1), abs(spacing) or 1.0) for k in range(count)]
        columns = zip(("sensor", "low", "high", "centre", "spacing"), zip(*found, strict=True), strict=True)
        return {"sensed": len(found), **dict(columns)}


@inlined
def encode(code: PopulationCode, obs: F32, rates: F32) -> None:
    """A cell answers the more, the nearer its sensor is to the cell's own value.

    Cells divide among them what a crowd of them may answer, so rich senses do not drown the network.
    """
    total = 0.0
    for c in range(code.sensed):
        x, low, spacing = np.float64(obs[code.sensor[c]]), code.low[c], code.spacing[c]
        rest = max(low, 0.0)
        x = rest if np.isnan(x) else min(max(x, low), code.high[c])
        near = 1.0 - abs(x - code.centre[c]) / (_REACH * spacing)
        rates[c] = np.float32(near * min(1.0, abs(x - rest) / spacing)) if near > 0.0 else np.float32(0.0)
        total += np.float64(rates[c])
    if total > code.crowd:
        share = np.float32(code.crowd / total)
        for c in range(code.sensed):
            rates[c] *= share
