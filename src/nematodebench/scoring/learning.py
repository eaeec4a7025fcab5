"""Whether success rose while a brain was trained (EVALUATION.md, learned or born so).

A learning speed says when a brain was good, not that it became so: an agent that succeeds in 60 % of its episodes from
the first one on gets about 0.75. So early episodes are compared with late ones, against the noise of flat agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats import Z95
from nematodebench.stats.checks import outcomes

__all__ = ["Improvement", "improvement"]

_EARLY = 20
"""The window of the learning speed: nothing can have been called learned before its end."""


@dataclass(frozen=True)
class Improvement:
    """Success early and late in the runs of a session.

    Attributes:
        early: Success rate in the first 20 episodes (or the first quarter, where that is shorter).
        late: Success rate in the last quarter.
        z: Their difference in standard errors of runs in which nothing changes.
        shown: Whether that is more than such runs show: they pass at most 3.5 % of the time, whatever their success.
    """

    early: float
    late: float
    z: float
    shown: bool


def improvement(successes: ArrayLike) -> Improvement:
    """Compares early with late episodes of a (runs, episodes) matrix of success flags."""
    flags = outcomes("successes", successes, ndim=2)
    block = flags.shape[1] // 4
    first = min(_EARLY, block)
    if block == 0:
        return Improvement(math.nan, math.nan, math.nan, False)
    early, late = flags[:, :first].sum(axis=1), flags[:, -block:].sum(axis=1)
    q = (early + late + 1) / (first + block + 2)
    error = math.sqrt(float((q * (1 - q)).sum()) * (1 / first + 1 / block))
    z = float((late / block - early / first).sum()) / error
    return Improvement(float(np.mean(early / first)), float(np.mean(late / block)), z, z > Z95)
