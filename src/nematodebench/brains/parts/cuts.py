"""Coarse observations: every input is cut into equal cells of its range, and their combination has a number."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, F64, kernel

__all__ = ["cell_of", "cut_sizes"]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def cut_sizes(body: Interface, bins: int, most: int) -> Mapping[str, Any]:
    """Where the inputs are cut; ``hashed`` is true if the combinations are more than ``most`` and share numbers."""
    spans = [high - low for low, high in zip(body.low, body.high, strict=True)]
    return {
        "hashed": bins**body.inputs > most,
        "low": body.low,
        "per_unit": [bins / span if span > 0 else 0.0 for span in spans],
    }


@kernel()
def _bin(value: float, low: float, per_unit: float, bins: int) -> int:
    place = (value - low) * per_unit
    if not place > 0.0:
        return 0
    return min(int(min(place, 1e6)), bins - 1)


@kernel()
def cell_of(obs: F32, low: F64, per_unit: F64, bins: int, cells: int, hashed: int) -> int:
    """The number of an observation's combination of cells, or the one that a hash gives it."""
    if hashed == 0:
        cell = 0
        for n in range(low.size):
            cell = cell * bins + _bin(obs[n], low[n], per_unit[n], bins)
        return cell
    mixed = np.uint64(0)
    for n in range(low.size):
        mixed = (mixed ^ np.uint64(_bin(obs[n], low[n], per_unit[n], bins) + 1)) * _MIX
        mixed ^= mixed >> _SHIFT
    return int(np.int64(mixed % np.uint64(cells)))
