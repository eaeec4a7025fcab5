"""Sums and corrections over rows, against float32 arithmetic in the same order."""

import numpy as np
import pytest

from nematodebench.brains.reservoir.rows import COLUMNS, add_rows, correct_rows
from nematodebench.kernels.jit import kernel

ROWS, STRIDE, SUMS, COUNTS = 9, 3 * COLUMNS, 5000, 6000


@kernel()
def _add(mem, rows, count, first):
    add_rows(mem, rows, count, first, STRIDE, SUMS, COUNTS)


@kernel()
def _correct(mem, rows, count, first):
    correct_rows(mem, rows, count, first, STRIDE, SUMS)


def memory(seed):
    """A matrix at 7 with gaps, and numbers everywhere else."""
    numbers = np.random.default_rng(seed)
    mem = numbers.normal(size=7000).astype(np.float32)
    mem[7 : 7 + ROWS * STRIDE][numbers.random(ROWS * STRIDE) < 0.7] = np.nan
    return mem


@pytest.mark.parametrize("listed", [[], [3], [8, 0, 5], [2, 2, 7, 1, 0, 8, 4]])
def test_rows_are_added_in_the_order_of_the_list_and_counted(listed):
    mem, rows = memory(0), np.array([*listed, 99])
    weights = mem[7 : 7 + ROWS * STRIDE].reshape(ROWS, STRIDE)[listed, COLUMNS : 2 * COLUMNS]
    wanted = mem.copy()
    for row in weights:
        wanted[SUMS : SUMS + COLUMNS] += np.nan_to_num(row)
    wanted[COUNTS : COUNTS + COLUMNS] = np.isfinite(weights).sum(0)
    _add(mem, rows, len(listed), 7 + COLUMNS)
    assert mem.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("listed", [[], [3], [8, 0, 5]])
def test_listed_rows_are_corrected_where_there_is_a_connection_and_nothing_else_is(listed):
    mem, rows = memory(1), np.array([*listed, 99])
    wanted = mem.copy()
    wanted[7 : 7 + ROWS * STRIDE].reshape(ROWS, STRIDE)[listed, :COLUMNS] -= mem[SUMS : SUMS + COLUMNS]
    _correct(mem, rows, len(listed), 7)
    assert mem.tobytes() == wanted.tobytes()
