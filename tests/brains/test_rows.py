"""Sums and corrections over rows, against float32 arithmetic in the same order."""

import numpy as np
import pytest

from nematodebench.brains.reservoir.rows import COLUMNS, _plain_add_rows, _plain_correct_rows, add_rows, correct_rows
from nematodebench.kernels.jit import kernel

ROWS = 9


@kernel()
def _add(weights, rows, first, sums, counts):
    add_rows(weights, rows, first, sums, counts)


@kernel()
def _correct(weights, rows, first, correction):
    correct_rows(weights, rows, first, correction)


def drawn(seed):
    """A matrix with gaps, and two arrays with a number for every column."""
    numbers = np.random.default_rng(seed)
    weights = numbers.normal(size=(ROWS, 3 * COLUMNS)).astype(np.float32)
    weights[numbers.random(weights.shape) < 0.7] = np.nan
    return weights, *numbers.normal(size=(2, 3 * COLUMNS)).astype(np.float32)


@pytest.mark.parametrize("listed", [[], [3], [8, 0, 5], [2, 2, 7, 1, 0, 8, 4]])
def test_rows_are_added_in_the_order_of_the_list_and_counted(listed):
    arrays, columns = drawn(0), slice(COLUMNS, 2 * COLUMNS)
    weights, sums, counts = wanted = [array.copy() for array in arrays]
    for row in listed:
        sums[columns] += np.nan_to_num(weights[row, columns])
    counts[columns] = np.isfinite(weights[listed, columns]).sum(0)
    weights, sums, counts = arrays
    _add(weights, np.array([*listed, 99])[: len(listed)], COLUMNS, sums, counts)
    assert [array.tobytes() for array in arrays] == [array.tobytes() for array in wanted]


@pytest.mark.parametrize("listed", [[], [3], [8, 0, 5]])
def test_listed_rows_are_corrected_where_there_is_a_connection_and_nothing_else_is(listed):
    weights, correction, _ = drawn(1)
    wanted, unchanged = weights.copy(), correction.copy()
    wanted[listed, :COLUMNS] -= correction[:COLUMNS]
    _correct(weights, np.array([*listed, 99])[: len(listed)], 0, correction)
    assert weights.tobytes() == wanted.tobytes()
    assert correction.tobytes() == unchanged.tobytes()


@pytest.mark.parametrize("listed", [[], [3], [8, 0, 5]])
def test_the_interpreters_functions_give_the_same_bits(listed):
    rows, compiled, interpreted = np.array(listed, dtype=np.int64), drawn(2), drawn(2)
    _add(compiled[0], rows, COLUMNS, *compiled[1:])
    _plain_add_rows(interpreted[0], rows, COLUMNS, *interpreted[1:])
    _correct(compiled[0], rows, COLUMNS, compiled[1])
    _plain_correct_rows(interpreted[0], rows, COLUMNS, interpreted[1])
    assert [array.tobytes() for array in compiled] == [array.tobytes() for array in interpreted]
