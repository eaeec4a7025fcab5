"""Tiled products against the loop that defines them, bit for bit; transposes and sums of squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.vectors import LANES, matmul, padded, sum_squares, transpose, transpose_back


@kernel()
def chain(mem, a, a_row, a_k, b, b_k, init, init_row, c, c_row, rows, columns, count):
    """The definition: every element is one chain of fused multiply-adds."""
    for row in range(rows):
        for column in range(columns):
            total = mem[init + row * init_row + column]
            for k in range(count):
                total = fma(mem[a + row * a_row + k * a_k], mem[b + k * b_k + column], total)
            mem[c + row * c_row + column] = total


def numbers(size, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)


def check(rows, columns, count, transposed, start, gap):
    """Both ways on the same memory: a, b, init and c one after the other, their rows ``gap`` floats apart."""
    width = columns + gap
    a_row, a_k = (1, rows + gap) if transposed else (count + gap, 1)
    b = (rows + gap) * (count + gap)
    init = b + count * width
    c = init + rows * width
    mem = numbers(c + rows * width + 16)
    init, init_row = {"bias": (init, 0), "matrix": (init, width), "accumulate": (c, width)}[start]
    arguments = (0, a_row, a_k, b, width, init, init_row, c, width, rows, columns, count)
    expected = mem.copy()
    chain(expected, *arguments)
    matmul(mem, *arguments)
    # The whole memory is compared: a tile that writes outside its matrix shows here too.
    assert mem.tobytes() == expected.tobytes()


@settings(max_examples=200)
@given(
    rows=st.integers(1, 70),
    columns=st.integers(1, 18).map(lambda n: n * LANES),
    count=st.integers(1, 70),
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


@given(rows=st.integers(1, 40), columns=st.integers(1, 6).map(lambda n: n * LANES))
def test_transpose(rows, columns):
    size = rows * columns
    mem = numbers(2 * size + 8)
    tail = mem[2 * size :].copy()
    transpose(mem, 0, size, rows, columns)
    np.testing.assert_array_equal(mem[size : 2 * size].reshape(columns, rows), mem[:size].reshape(rows, columns).T)
    np.testing.assert_array_equal(mem[2 * size :], tail)


@given(rows=st.integers(1, 6).map(lambda n: n * LANES), columns=st.integers(1, 40))
def test_transpose_back(rows, columns):
    size = rows * columns
    mem = numbers(2 * size + 8)
    tail = mem[2 * size :].copy()
    transpose_back(mem, 0, size, rows, columns)
    np.testing.assert_array_equal(mem[size : 2 * size].reshape(columns, rows), mem[:size].reshape(rows, columns).T)
    np.testing.assert_array_equal(mem[2 * size :], tail)


@given(start=st.integers(0, 9), count=st.integers(0, 300))
def test_sum_of_squares_misses_none(start, count):
    mem = numbers(320) + np.float32(2.0)
    exact = np.sum(mem[start : start + count].astype(np.float64) ** 2)
    assert sum_squares(mem, start, count) == pytest.approx(exact, rel=1e-6)


@given(st.integers(1, 10**6))
def test_padding_is_the_next_multiple_of_the_vector_length(n):
    assert padded(n) % LANES == 0
    assert 0 <= padded(n) - n < LANES
