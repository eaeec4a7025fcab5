"""Tiled products against the loop that defines them, bit for bit; transposes and sums of squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.vectors import (
    LANES,
    _multiply,
    add_product,
    linear,
    linear_row,
    matrix,
    padded,
    product,
    product_transposed,
    sum_squares,
    transpose,
    transpose_back,
)

ROWS = st.integers(1, 70)
COLUMNS = st.integers(1, 18).map(lambda n: n * LANES)
COUNT = st.integers(1, 70)


@kernel()
def chain(a, b, start, c, a_row, a_k, start_row, rows, columns, count):
    """The definition: every element is one chain of fused multiply-adds."""
    for row in range(rows):
        for column in range(columns):
            total = start[row * start_row + column]
            for k in range(count):
                total = fma(a[row * a_row + k * a_k], b[k * columns + column], total)
            c[row * columns + column] = total


def numbers(size, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def pieces(mem, *sizes):
    """Stretches of one memory, one behind the other; 16 floats are left at its end."""
    ends = np.cumsum(sizes)
    assert ends[-1] + 16 == mem.size
    return [mem[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def check(rows, columns, count, transposed, start, gap):
    """Both ways on the same memory: a, b, start and c one after the other, rows of a and start ``gap`` floats apart."""
    a_row, a_k = (1, rows + gap) if transposed else (count + gap, 1)
    sizes = (rows + gap) * (count + gap), count * columns, rows * (columns + gap), rows * columns
    mem = numbers(sum(sizes) + 16)
    expected = mem.copy()
    for function, memory in ((chain, expected), (_multiply, mem)):
        a, b, matrix_start, c = pieces(memory, *sizes)
        first, row = {"bias": (matrix_start, 0), "matrix": (matrix_start, columns + gap), "accumulate": (c, columns)}[
            start
        ]
        function(a, b, first, c, a_row, a_k, row, rows, columns, count)
    # The whole memory is compared: a tile that writes outside its matrix shows here too.
    assert mem.tobytes() == expected.tobytes()


@settings(max_examples=200)
@given(
    rows=ROWS,
    columns=COLUMNS,
    count=COUNT,
    transposed=st.booleans(),
    start=st.sampled_from(["bias", "matrix", "accumulate"]),
    gap=st.sampled_from([0, 3, 8]),
)
def test_a_product_has_the_bits_of_the_chain(rows, columns, count, transposed, start, gap):
    check(rows, columns, count, transposed, start, gap)


@pytest.mark.parametrize("columns", [8, 32, 40, 64, 104, 136])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 64])
@pytest.mark.parametrize("count", [1, 5, 64])
def test_every_kind_of_tile_has_the_bits_of_the_chain(rows, columns, count):
    check(rows, columns, count, transposed=True, start="bias", gap=0)


# name: function, whether its first factor is transposed, whether it is given a row to begin with
PRODUCTS = {
    "linear": (linear, False, True),
    "product": (product, False, True),
    "product_transposed": (product_transposed, True, True),
    "add_product": (add_product, True, False),
}


@pytest.mark.parametrize("name", PRODUCTS)
@settings(max_examples=50)
@given(rows=ROWS, columns=COLUMNS, count=COUNT)
def test_every_product_of_matrices_has_the_bits_of_the_chain(name, rows, columns, count):
    function, transposed, begins = PRODUCTS[name]
    sizes = rows * count, count * columns, columns, rows * columns
    mem = numbers(sum(sizes) + 16)
    expected = mem.copy()
    a, b, first, c = pieces(expected, *sizes)
    a_row, a_k = (1, rows) if transposed else (count, 1)
    chain(a, b, first if begins else c, c, a_row, a_k, 0 if begins else columns, rows, columns, count)
    a, b, first, c = pieces(mem, *sizes)
    factors = a.reshape((count, rows) if transposed else (rows, count)), b.reshape(count, columns)
    function(*factors, *([first] if begins else []), c.reshape(rows, columns))
    assert mem.tobytes() == expected.tobytes()


@kernel(cached=True)
def _fill_matrix(flat, first, rows, columns):
    """Writes row and column into a stretch of ``flat``, read as a matrix."""
    found = matrix(flat, first, rows, columns)
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            found[row, column] = 100 * row + column


@given(first=st.integers(0, 9), rows=st.integers(1, 9), columns=st.integers(1, 9))
def test_a_matrix_is_a_stretch_of_its_array(first, rows, columns):
    mem = numbers(first + rows * columns + 8)
    expected = mem.copy()
    inside = expected[first : first + rows * columns].reshape(rows, columns)
    inside[:] = 100 * np.arange(rows)[:, None] + np.arange(columns)
    _fill_matrix(mem, first, rows, columns)
    np.testing.assert_array_equal(mem, expected)


@given(rows=st.integers(1, 40), columns=st.integers(1, 6).map(lambda n: n * LANES))
def test_transpose(rows, columns):
    check_transpose(transpose, rows, columns)


@given(rows=st.integers(1, 6).map(lambda n: n * LANES), columns=st.integers(1, 40))
def test_transpose_back(rows, columns):
    check_transpose(transpose_back, rows, columns)


def check_transpose(function, rows, columns):
    size = rows * columns
    mem = numbers(2 * size + 8)
    tail = mem[2 * size :].copy()
    function(mem[:size].reshape(rows, columns), mem[size : 2 * size].reshape(columns, rows))
    np.testing.assert_array_equal(mem[size : 2 * size].reshape(columns, rows), mem[:size].reshape(rows, columns).T)
    np.testing.assert_array_equal(mem[:size], numbers(2 * size + 8)[:size])
    np.testing.assert_array_equal(mem[2 * size :], tail)


@given(start=st.integers(0, 9), count=st.integers(0, 300))
def test_sum_of_squares_misses_none(start, count):
    mem = numbers(320) + np.float32(2.0)
    exact = np.sum(mem[start : start + count].astype(np.float64) ** 2)
    assert sum_squares(mem[start : start + count]) == pytest.approx(exact, rel=1e-6)


@given(st.integers(1, 10**6))
def test_padding_is_the_next_multiple_of_the_vector_length(n):
    assert padded(n) % LANES == 0
    assert 0 <= padded(n) - n < LANES


@settings(max_examples=50)
@given(columns=COLUMNS, count=COUNT)
def test_a_single_row_has_the_bits_of_the_chain(columns, count):
    sizes = count, count * columns, columns, columns
    mem = numbers(sum(sizes) + 16)
    expected = mem.copy()
    chain(*pieces(expected, *sizes), count, 1, 0, 1, columns, count)
    x, weights, bias, y = pieces(mem, *sizes)
    linear_row(x, weights.reshape(count, columns), bias, y)
    assert mem.tobytes() == expected.tobytes()
