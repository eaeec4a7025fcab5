"""Sums and corrections over the listed rows of a matrix in which NaN means that there is no connection.

A sparse matrix kept dense needs no lists of columns: a row is added to the drive as it lies, eight columns in one
instruction, and what is corrected everywhere stays NaN where there is nothing to correct. Every column is one chain of
additions in the order of the list, so the bits depend on the numbers alone.

Both functions work on ``COLUMNS`` columns from ``first`` on, of the matrix and of the arrays with one number a column.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.jit import F32, F32M, I64, intrinsic

__all__ = ["COLUMNS", "add_rows", "correct_rows"]

_LANES, _VECTORS = 8, 5
COLUMNS = _LANES * _VECTORS
"""Columns that one call works on: their sums stay in registers, their weights in the nearest cache."""

_INT = ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(ir.FloatType(), _LANES), ir.VectorType(ir.IntType(32), _LANES)
_ZEROS = ir.Constant(_FLOATS, [0.0] * _LANES)


def _vectors(builder: Any, base: Any, start: Any) -> list[Any]:
    """Pointers to the vectors of one row, or of one number a column."""
    places = [builder.add(start, ir.Constant(_INT, n * _LANES)) for n in range(_VECTORS)]
    return [builder.bitcast(builder.gep(base, [place]), _FLOATS.as_pointer()) for place in places]


def _arrays(context: Any, builder: Any, sig: Any, args: Any) -> list[Any]:
    """The arrays among the arguments, with their pointers and dimensions."""
    pairs = zip(sig.args, args, strict=True)
    return [context.make_array(kind)(context, builder, v) for kind, v in pairs if isinstance(kind, types.Array)]


def _row(builder: Any, weights: Any, listed: Any, n: Any, first: Any) -> list[Any]:
    """Pointers to the vectors of the n-th row of the list."""
    row = builder.load(builder.gep(listed.data, [n]))
    stride = builder.extract_value(weights.shape, 1)
    return _vectors(builder, weights.data, builder.add(first, builder.mul(row, stride)))


def _length(builder: Any, array: Any) -> Any:
    return builder.extract_value(array.shape, 0)


def _plain_add_rows(weights: F32M, rows: I64, first: int, sums: F32, counts: F32) -> None:
    columns = slice(first, first + COLUMNS)
    counts[columns] = np.float32(0.0)
    for row in rows:
        present = ~np.isnan(weights[row, columns])
        sums[columns] += np.where(present, weights[row, columns], np.float32(0.0))
        counts[columns] += present


@intrinsic(_plain_add_rows)
def add_rows(_context: Any, weights: Any, rows: Any, first: Any, sums: Any, counts: Any) -> Any:
    """Adds the rows listed to ``sums``; ``counts`` becomes how many of their numbers were no NaN."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first = args[2]
        matrix, listed, sums, counts = _arrays(context, builder, sig, args)
        totals, numbers = _vectors(builder, sums.data, first), _vectors(builder, counts.data, first)
        sum_at = [cgutils.alloca_once_value(builder, builder.load(place, align=4)) for place in totals]
        count_at = [cgutils.alloca_once_value(builder, ir.Constant(_INTS, [0] * _LANES)) for _ in totals]
        with cgutils.for_range(builder, _length(builder, listed)) as loop:
            for n, place in enumerate(_row(builder, matrix, listed, loop.index, first)):
                weight = builder.load(place, align=4)
                present = builder.fcmp_ordered("ord", weight, weight)
                carried = builder.select(present, weight, _ZEROS)
                builder.store(builder.fadd(builder.load(sum_at[n]), carried), sum_at[n])
                builder.store(builder.sub(builder.load(count_at[n]), builder.sext(present, _INTS)), count_at[n])
        for n in range(_VECTORS):
            builder.store(builder.load(sum_at[n]), totals[n], align=4)
            builder.store(builder.sitofp(builder.load(count_at[n]), _FLOATS), numbers[n], align=4)
        return context.get_dummy_value()

    return types.void(weights, rows, types.int64, sums, counts), generate


def _plain_correct_rows(weights: F32M, rows: I64, first: int, correction: F32) -> None:
    columns = slice(first, first + COLUMNS)
    for row in rows:
        weights[row, columns] -= correction[columns]


@intrinsic(_plain_correct_rows)
def correct_rows(_context: Any, weights: Any, rows: Any, first: Any, correction: Any) -> Any:
    """Subtracts ``correction`` from the rows listed."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first = args[2]
        matrix, listed, correction = _arrays(context, builder, sig, args)
        less = [builder.load(place, align=4) for place in _vectors(builder, correction.data, first)]
        with cgutils.for_range(builder, _length(builder, listed)) as loop:
            for n, place in enumerate(_row(builder, matrix, listed, loop.index, first)):
                builder.store(builder.fsub(builder.load(place, align=4), less[n]), place, align=4)
        return context.get_dummy_value()

    return types.void(weights, rows, types.int64, correction), generate
