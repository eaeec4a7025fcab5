"""What is seldom met is worth a look: a bonus that falls with the number of times an observation was met.

A brain that has never found a reward has nothing to learn from. The bonus gives it something: it goes where its senses
show what they seldom showed. Observations are told apart coarsely, every input by a few bins of its range.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, kernel
from nematodebench.kernels.memory import Memory, constants, floats, size

__all__ = ["Novelty", "novelty_of"]

_CELLS = 4099  # a prime: bodies with many inputs share cells evenly


class Novelty(Memory):
    """How often observations were met, by a number that their bins give."""

    inputs = size()
    bins = size()
    cells = size()
    low = constants("inputs")
    scale = constants("inputs")
    met = floats("cells")

    @classmethod
    def shape(cls, body: Interface, bins: int) -> Mapping[str, Any]:
        """The sizes for a body; with 0 bins nothing is counted."""
        low, high = np.array(body.low, dtype=np.float64), np.array(body.high, dtype=np.float64)
        span = np.where(high > low, high - low, 1.0)
        return {
            "inputs": body.inputs, "bins": bins, "cells": _CELLS if bins else 1, "low": low, "scale": bins / span,
        }  # fmt: skip


@kernel()
def novelty_of(novelty: Novelty, obs: F32) -> float:
    """Counts an observation; 1 for the first time it is met, 1 / sqrt(n) for the nth."""
    cell = 0
    for i in range(novelty.inputs):
        place = int((np.float64(obs[i]) - novelty.low[i]) * novelty.scale[i])
        cell = (cell * novelty.bins + min(max(place, 0), novelty.bins - 1)) % novelty.cells
    novelty.met[cell] += np.float32(1.0)
    return float(1.0 / np.sqrt(np.float64(novelty.met[cell])))
