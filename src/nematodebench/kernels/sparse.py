"""Products with sparse matrices, for several vectors at once that lie side by side in vector registers.

A sparse matrix is a list of entries, row behind row: ``first[r]`` to ``first[r + 1]`` are those of row r, ``columns``
says where they stand. The vectors are the columns of a matrix whose width is a multiple of 8. Every number is one chain
of fused multiply-adds in the order of the entries, whatever else is computed beside it.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.jit import F32, F32M, I64, intrinsic, kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.vectors import LANES

__all__ = ["add_outer", "sparse_product", "sum_lanes"]

_FLOAT, _INT = ir.FloatType(), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _vector_at(builder: Any, base: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())


def _spread(builder: Any, number: Any) -> Any:
    """One number in all lanes."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _fused(builder: Any) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32")


def _plain_row(
    weights: F32, columns: I64, begin: int, end: int, source: F32M, target: F32M, at: int, lane: int, width: int
) -> None:
    flat, result = source.reshape(-1), target.reshape(-1)
    for n in range(lane, lane + LANES):
        total = result[at + n]
        for e in range(begin, end):
            total = fma(weights[e], flat[columns[e] * width + n], total)
        result[at + n] = total


@intrinsic(_plain_row)
def _add_row(
    _context: Any, weights: Any, columns: Any, begin: Any, end: Any, source: Any, target: Any, at: Any, lane: Any,
    width: Any,
) -> Any:  # fmt: skip
    """Adds the entries of a row times the rows of ``source`` they stand for, in eight lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        weight, column, values, result = (_data(context, builder, sig.args[n], args[n]) for n in (0, 1, 4, 5))
        (begin, end), (at, lane, width) = args[2:4], args[6:]
        place = _vector_at(builder, result, builder.add(at, lane))
        total = cgutils.alloca_once_value(builder, builder.load(place, align=4))
        with cgutils.for_range_slice(builder, begin, end, ir.Constant(_INT, 1)) as (e, _):
            index = builder.add(builder.mul(builder.load(builder.gep(column, [e])), width), lane)
            factor = _spread(builder, builder.load(builder.gep(weight, [e])))
            value = builder.load(_vector_at(builder, values, index), align=4)
            builder.store(builder.call(_fused(builder), [factor, value, builder.load(total)]), total)
        builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    word = types.int64
    return types.void(weights, columns, word, word, source, target, word, word, word), generate


def _plain_outer(
    row: F32M, at: int, source: F32M, columns: I64, begin: int, end: int, sums: F32M, lane: int, width: int
) -> None:
    left, right, result = row.reshape(-1), source.reshape(-1), sums.reshape(-1)
    for e in range(begin, end):
        for n in range(LANES):
            value = right[columns[e] * width + lane + n]
            result[e * LANES + n] = fma(left[at + lane + n], value, result[e * LANES + n])


@intrinsic(_plain_outer)
def _add_outer_row(
    _context: Any, row: Any, at: Any, source: Any, columns: Any, begin: Any, end: Any, sums: Any, lane: Any, width: Any
) -> Any:
    """Adds to the sums of a row's entries the product of both ends of each, in eight lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right, column, result = (_data(context, builder, sig.args[n], args[n]) for n in (0, 2, 3, 6))
        at, begin, end, lane, width = args[1], args[4], args[5], args[7], args[8]
        factor = builder.load(_vector_at(builder, left, builder.add(at, lane)), align=4)
        with cgutils.for_range_slice(builder, begin, end, ir.Constant(_INT, 1)) as (e, _):
            index = builder.add(builder.mul(builder.load(builder.gep(column, [e])), width), lane)
            value = builder.load(_vector_at(builder, right, index), align=4)
            place = _vector_at(builder, result, builder.mul(e, ir.Constant(_INT, LANES)))
            added = builder.call(_fused(builder), [factor, value, builder.load(place, align=4)])
            builder.store(added, place, align=4)
        return context.get_dummy_value()

    word = types.int64
    return types.void(row, word, source, columns, word, word, sums, word, word), generate


@kernel()
def sparse_product(weights: F32, columns: I64, first: I64, source: F32M, target: F32M) -> None:
    """Target += matrix x source; rows of the matrix are rows of the target."""
    width = target.shape[1]
    for row in range(target.shape[0]):
        for lane in range(0, width, LANES):
            _add_row(weights, columns, first[row], first[row + 1], source, target, row * width, lane, width)


@kernel()
def add_outer(rows: F32M, source: F32M, columns: I64, first: I64, sums: F32M) -> None:
    """Sums[entry, lane] += rows[its row] x source[its column]: the gradient by the entries, lane by lane."""
    width = rows.shape[1]
    for row in range(rows.shape[0]):
        for lane in range(0, width, LANES):
            _add_outer_row(rows, row * width, source, columns, first[row], first[row + 1], sums, lane, width)


@kernel()
def sum_lanes(sums: F32) -> np.float32:
    """The sum of a row, in a fixed order."""
    total = np.float32(0.0)
    for n in range(sums.size):
        total += sums[n]
    return total
