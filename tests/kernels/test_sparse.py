"""Sparse products against dense ones, for one and for two vector registers of columns."""

import numpy as np
import pytest

from nematodebench.kernels.sparse import add_outer, sparse_product, sum_lanes

RNG = np.random.default_rng(4)


def entries(dense):
    """The nonzero entries of a matrix, row behind row."""
    rows, columns = np.nonzero(dense)
    first = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
    return dense[rows, columns], columns.astype(np.int64), first.astype(np.int64)


@pytest.mark.parametrize("width", [8, 16])
def test_products_and_gradients_are_those_of_the_dense_matrix(width):
    dense = (RNG.normal(size=(5, 7)) * (RNG.random((5, 7)) < 0.5)).astype(np.float32)
    dense[2] = 0  # a row without entries
    weights, columns, first = entries(dense)
    source, start = (RNG.normal(size=(n, width)).astype(np.float32) for n in (7, 5))
    target = start.copy()
    sparse_product(weights, columns, first, source, target)
    np.testing.assert_allclose(target, start + dense @ source, atol=1e-5)
    sums = np.zeros((weights.size, 8), dtype=np.float32)
    add_outer(start, source, columns, first, sums)
    exact = (start @ source.T)[np.nonzero(dense)]
    np.testing.assert_allclose([sum_lanes(row) for row in sums], exact, atol=1e-5)
