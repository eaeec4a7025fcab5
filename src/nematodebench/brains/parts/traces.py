"""Eligibility traces: what is left of earlier steps for every weight, so that a later reward reaches them."""

import numpy as np

from nematodebench.kernels.jit import F32, F32M, kernel
from nematodebench.kernels.memory import Memory, floats, size

__all__ = ["Traces", "add_to_traces", "fade_traces", "follow_traces"]


class Traces(Memory):
    """A trace for every weight of a matrix of this shape."""

    rows = size()
    columns = size()
    values = floats("rows", "columns")


@kernel()
def fade_traces(traces: Traces, kept: np.float32) -> None:
    """Multiplies every trace by ``kept``, usually discount x trace decay; 0 forgets them."""
    for i in range(traces.rows):
        row = traces.values[i]
        for j in range(traces.columns):
            row[j] *= kept


@kernel()
def add_to_traces(traces: Traces, left: F32, right: F32) -> None:
    """Adds the product of what came in (``left``) and what was done with it (``right``)."""
    for i in range(traces.rows):
        row = traces.values[i]
        for j in range(traces.columns):
            row[j] += left[i] * right[j]


@kernel()
def follow_traces(traces: Traces, weights: F32M, step: np.float32) -> None:
    """Moves every weight along its trace; ``step`` is usually learning rate x surprise."""
    for i in range(traces.rows):
        row, weight = traces.values[i], weights[i]
        for j in range(traces.columns):
            weight[j] += step * row[j]
