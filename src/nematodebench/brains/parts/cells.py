"""Cells: what carries a state from step to step, and can be run over sequences and back."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.adam import Adam
from nematodebench.kernels.jit import F32, F32M, accessor, kernel
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.memory import Memory, floats, part, size
from nematodebench.kernels.vectors import matrix, product_transposed

__all__ = ["Cell", "CellFunction", "add_up", "forget_before", "hold_before", "squash", "step_of"]


class Cell(Memory):
    """What every cell has: parameters in one array, and room for the sequences of a minibatch.

    ``alive`` is 0 in the rows in which an episode begins; ``start`` and ``end`` are the states before the first step
    and after the last one; ``deltas`` is the gradient of the loss by the ``outputs``. Units behind ``true_units`` are
    padding: their output is always 0.
    """

    inputs = size()
    units = size()
    true_units = size()
    state = size()
    count = size()
    sequences = size()
    rows = size()
    widest = size()
    parameters = floats("count")
    gradients = floats("count", scratch=True)
    adam = part(Adam)
    alive = floats("rows", scratch=True)
    start = floats("sequences", "state", scratch=True)
    end = floats("sequences", "state", scratch=True)
    outputs = floats("rows", "units", scratch=True)
    deltas = floats("rows", "units", scratch=True)
    zeros = floats("widest", scratch=True)
    ones = floats("rows", scratch=True)

    @classmethod
    def shape(cls, inputs: int, config: Any) -> Mapping[str, Any]:
        """The sizes of a cell with so many inputs, without those that all cells have in common."""
        raise NotImplementedError(f"{cls.__name__} must say how large it is")

    def connections(self, told: NDArray[Any], state: NDArray[Any]) -> Iterator[Synapses]:
        """All of a step, with what they carry while the cell is told this and is in this state."""
        raise NotImplementedError(f"{type(self).__name__} must say what it is connected by")

    def sent(self, state: NDArray[Any]) -> NDArray[Any]:
        """What a readout sees in this state: the units themselves, if a cell does not say otherwise."""
        return state[: self.true_units]


CellFunction = Callable[[Any, F32M, int], None]
"""Takes a cell, the inputs of all rows and the number of sequences."""


@accessor
def step_of(rows: F32M, t: int, sequences: int) -> F32:
    """The rows of one step, without their shape, for loops over all of them."""
    width = sequences * rows.shape[1]
    flat: F32 = matrix(rows, t * width, 1, width)[0]
    return flat


@kernel()
def squash(values: F32) -> None:
    """Applies the logistic function."""
    half = np.float32(0.5)
    for n in range(values.size):
        values[n] = half + half * tanh32(half * values[n])


@kernel()
def hold_before(cell: Cell, t: int, sequences: int, after: F32M, before: F32M) -> None:
    """Fills ``before`` with the state that step ``t`` begins with: what came ``after`` the last one, if any."""
    first = t * sequences
    for s in range(sequences):
        source = cell.start[s] if t == 0 else after[first - sequences + s]
        target, alive = before[first + s], cell.alive[first + s]
        for n in range(target.size):
            target[n] = alive * source[n]


@kernel()
def forget_before(cell: Cell, t: int, carried: F32M) -> None:
    """What is carried back from step ``t`` ends where an episode began with it."""
    for s in range(carried.shape[0]):
        row, alive = carried[s], cell.alive[t * carried.shape[0] + s]
        for n in range(row.size):
            row[n] *= alive


@kernel()
def add_up(cell: Cell, by_output: F32M, bias: F32M) -> None:
    """The gradient of a bias: the sum of all rows."""
    product_transposed(matrix(cell.ones, 0, by_output.shape[0], 1), by_output, cell.zeros, bias)
