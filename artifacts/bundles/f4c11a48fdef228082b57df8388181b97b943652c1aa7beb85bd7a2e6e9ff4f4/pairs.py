"""Cells of pairs of inputs: what the brain beside this file knows its situation by."""

import numpy as np

from nematodebench.kernels.jit import F32, F64, I64, kernel


def pairs_of(inputs: int) -> int:
    """How many pairs of different inputs there are."""
    return inputs * (inputs - 1) // 2


@kernel()
def cell_along(value: np.float32, low: float, high: float, bins: int) -> int:
    """The cell of one input; values outside its range belong to the first or the last."""
    share = (value - low) / (high - low)
    return min(max(int(share * bins), 0), bins - 1)


@kernel()
def fill_cells(obs: F32, low: F64, high: F64, bins: int, cells: I64) -> None:
    """Writes for every pair of inputs the number of the cell that the two are in."""
    pair = 0
    for first in range(obs.size):
        row = cell_along(obs[first], low[first], high[first], bins)
        for second in range(first + 1, obs.size):
            cells[pair] = row * bins + cell_along(obs[second], low[second], high[second], bins)
            pair += 1
