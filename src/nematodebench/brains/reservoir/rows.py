"""Sums and corrections over the listed rows of a matrix in which NaN means that there is no connection.

A sparse matrix kept dense needs no lists of columns: a row is added to the drive as it lies, eight columns in one
instruction, and what is corrected everywhere stays NaN where there is nothing to correct. Every column is one chain of
additions in the order of the list, so the bits depend on the numbers alone.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.jit import intrinsic

__all__ = ["COLUMNS", "add_rows", "correct_rows"]

_LANES, _VECTORS = 8, 5
COLUMNS = _LANES * _VECTORS
"""Columns that one call works on: their sums stay in registers, their weights in the nearest cache."""

_INT = ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(ir.FloatType(), _LANES), ir.VectorType(ir.IntType(32), _LANES)
_ZEROS = ir.Constant(_FLOATS, [0.0] * _LANES)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _vectors(builder: Any, base: Any, start: Any) -> list[Any]:
    """Pointers to the vectors of one row, or of one number a column."""
    places = [builder.add(start, ir.Constant(_INT, n * _LANES)) for n in range(_VECTORS)]
    return [builder.bitcast(builder.gep(base, [place]), _FLOATS.as_pointer()) for place in places]


def _row(builder: Any, base: Any, listed: Any, n: Any, first: Any, stride: Any) -> list[Any]:
    """Pointers to the vectors of the n-th row of the list."""
    row = builder.load(builder.gep(listed, [n]))
    return _vectors(builder, base, builder.add(first, builder.mul(row, stride)))


@intrinsic
def add_rows(_context: Any, mem: Any, rows: Any, count: Any, first: Any, stride: Any, sums: Any, counts: Any) -> Any:
    """Adds the columns from ``first`` on of the rows listed to ``sums``; ``counts`` becomes how many were no NaN."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mem, rows, count, first, stride, sums, counts = args
        base, listed = _data(context, builder, sig.args[0], mem), _data(context, builder, sig.args[1], rows)
        totals, numbers = _vectors(builder, base, sums), _vectors(builder, base, counts)
        sum_at = [cgutils.alloca_once_value(builder, builder.load(place, align=4)) for place in totals]
        count_at = [cgutils.alloca_once_value(builder, ir.Constant(_INTS, [0] * _LANES)) for _ in totals]
        with cgutils.for_range(builder, count) as loop:
            for n, place in enumerate(_row(builder, base, listed, loop.index, first, stride)):
                weight = builder.load(place, align=4)
                present = builder.fcmp_ordered("ord", weight, weight)
                carried = builder.select(present, weight, _ZEROS)
                builder.store(builder.fadd(builder.load(sum_at[n]), carried), sum_at[n])
                builder.store(builder.sub(builder.load(count_at[n]), builder.sext(present, _INTS)), count_at[n])
        for n in range(_VECTORS):
            builder.store(builder.load(sum_at[n]), totals[n], align=4)
            builder.store(builder.sitofp(builder.load(count_at[n]), _FLOATS), numbers[n], align=4)
        return context.get_dummy_value()

    return types.void(mem, rows, *(types.int64,) * 5), generate


@intrinsic
def correct_rows(_context: Any, mem: Any, rows: Any, count: Any, first: Any, stride: Any, correction: Any) -> Any:
    """Subtracts ``correction`` from the columns from ``first`` on of the rows listed."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mem, rows, count, first, stride, correction = args
        base, listed = _data(context, builder, sig.args[0], mem), _data(context, builder, sig.args[1], rows)
        less = [builder.load(place, align=4) for place in _vectors(builder, base, correction)]
        with cgutils.for_range(builder, count) as loop:
            for n, place in enumerate(_row(builder, base, listed, loop.index, first, stride)):
                builder.store(builder.fsub(builder.load(place, align=4), less[n]), place, align=4)
        return context.get_dummy_value()

    return types.void(mem, rows, *(types.int64,) * 4), generate
