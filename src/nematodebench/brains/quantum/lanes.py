"""Arithmetic on amplitudes of eight samples at once: one register holds their real parts, the next the imaginary.

An amplitude therefore takes ``SPAN`` numbers of a flat array. Two amplitudes that differ in one qubit are a pair; what
a rotation of that qubit does to a pair, and what a pair adds to a gradient, are the two functions here. Sums are made
in one fixed order from multiplications and fused multiply-adds, so the bits depend on the numbers alone.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.jit import F32, intrinsic
from nematodebench.kernels.math import fma
from nematodebench.kernels.vectors import LANES

__all__ = ["SPAN", "add_overlaps", "rotate_pair"]

SPAN = 2 * LANES
"""Numbers that an amplitude of eight samples takes: real parts, then imaginary parts."""

_INT = ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def _place(builder: Any, base: Any, at: Any, vector: int) -> Any:
    """Pointer to the ``vector``-th register behind ``at``."""
    index = builder.add(at, ir.Constant(_INT, vector * LANES))
    return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())


def _load(builder: Any, base: Any, at: Any, count: int) -> list[Any]:
    return [builder.load(_place(builder, base, at, n), align=4) for n in range(count)]


def _data(context: Any, builder: Any, sig: Any, args: Any) -> list[Any]:
    """Pointers to the arrays among the arguments."""
    pairs = zip(sig.args, args, strict=True)
    return [context.make_array(kind)(context, builder, v).data for kind, v in pairs if isinstance(kind, types.Array)]


def _sum(builder: Any, *terms: tuple[int, Any, Any], start: Any = None) -> Any:
    """A sum of products with signs, by fused multiply-adds in this order."""
    fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32")
    total = start
    for sign, a, b in terms:
        factor = a if sign > 0 else builder.fneg(a)
        total = builder.fmul(factor, b) if total is None else builder.call(fused, [factor, b, total])
    return total


def _plain_sum(*terms: tuple[int, Any, Any], start: Any = None) -> Any:
    """What :func:`_sum` computes, lane by lane."""
    total = start
    for sign, a, b in terms:
        factor = a if sign > 0 else -a
        if total is None:
            total = factor * b
        else:
            total = np.array([fma(x, y, z) for x, y, z in zip(factor, b, total, strict=True)], np.float32)
    return total


def _rotated(add: Any, a: list[Any], b: list[Any], x: list[Any], y: list[Any]) -> list[Any]:
    """A x + b y and -b* x + a* y, each as its real and its imaginary part."""
    return [
        add((1, a[0], x[0]), (-1, a[1], x[1]), (1, b[0], y[0]), (-1, b[1], y[1])),
        add((1, a[0], x[1]), (1, a[1], x[0]), (1, b[0], y[1]), (1, b[1], y[0])),
        add((-1, b[0], x[0]), (-1, b[1], x[1]), (1, a[0], y[0]), (1, a[1], y[1])),
        add((-1, b[0], x[1]), (1, b[1], x[0]), (1, a[0], y[1]), (-1, a[1], y[0])),
    ]


def _overlaps(add: Any, bra: list[list[Any]], ket: list[list[Any]], sums: list[Any]) -> list[Any]:
    """What a pair adds to Im<bra|X|ket>, Im<bra|Y|ket> and Im<bra|Z|ket>."""
    (p, q), (x, y) = bra, ket
    return [
        add((1, p[0], y[1]), (-1, p[1], y[0]), (1, q[0], x[1]), (-1, q[1], x[0]), start=sums[0]),
        add((-1, p[0], y[0]), (-1, p[1], y[1]), (1, q[0], x[0]), (1, q[1], x[1]), start=sums[1]),
        add((1, p[0], x[1]), (-1, p[1], x[0]), (-1, q[0], y[1]), (1, q[1], y[0]), start=sums[2]),
    ]


def _plain_load(array: F32, at: int, count: int) -> list[Any]:
    return [array[at + n * LANES : at + (n + 1) * LANES].copy() for n in range(count)]


def _plain_rotate_pair(ket: F32, first: int, second: int, gate: F32, at: int) -> None:
    matrix = _plain_load(gate, at, 4)
    new = _rotated(_plain_sum, matrix[:2], matrix[2:], _plain_load(ket, first, 2), _plain_load(ket, second, 2))
    ket[first : first + SPAN], ket[second : second + SPAN] = np.concatenate(new[:2]), np.concatenate(new[2:])


@intrinsic(_plain_rotate_pair)
def rotate_pair(_context: Any, ket: Any, first: Any, second: Any, gate: Any, at: Any) -> Any:
    """Multiplies the amplitudes at ``first`` and ``second`` by [[a, b], [-b*, a*]]; a and b are at ``at``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        amplitudes, matrices = _data(context, builder, sig, args)
        a, b = _load(builder, matrices, args[4], 4)[:2], _load(builder, matrices, args[4], 4)[2:]
        x, y = (_load(builder, amplitudes, args[n], 2) for n in (1, 2))
        new = _rotated(lambda *terms: _sum(builder, *terms), a, b, x, y)
        for n, value in enumerate(new):
            builder.store(value, _place(builder, amplitudes, args[1 + n // 2], n % 2), align=4)
        return context.get_dummy_value()

    return types.void(ket, types.int64, types.int64, gate, types.int64), generate


def _plain_add_overlaps(bra: F32, ket: F32, first: int, second: int, sums: F32) -> None:
    pairs = [[_plain_load(state, place, 2) for place in (first, second)] for state in (bra, ket)]
    sums[:] = np.concatenate(_overlaps(_plain_sum, pairs[0], pairs[1], _plain_load(sums, 0, 3)))


@intrinsic(_plain_add_overlaps)
def add_overlaps(_context: Any, bra: Any, ket: Any, first: Any, second: Any, sums: Any) -> Any:
    """Adds what the pair at ``first`` and ``second`` contributes to Im<bra|P|ket>, P = X, Y, Z, to three registers."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right, totals = _data(context, builder, sig, args)
        pairs = [[_load(builder, base, args[n], 2) for n in (2, 3)] for base in (left, right)]
        before = _load(builder, totals, ir.Constant(_INT, 0), 3)
        new = _overlaps(lambda *terms, start: _sum(builder, *terms, start=start), pairs[0], pairs[1], before)
        for n, value in enumerate(new):
            builder.store(value, _place(builder, totals, ir.Constant(_INT, 0), n), align=4)
        return context.get_dummy_value()

    return types.void(bra, ket, types.int64, types.int64, sums), generate
