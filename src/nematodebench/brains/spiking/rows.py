"""The inner loops of `spiking_rstdp` as LLVM vectors of eight.

Rows are multiples of eight long and no two of them overlap, so there are no remainders and nothing to check: on rows of
80 numbers that is most of the time a loop takes. The plain functions are the same for the interpreter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from nematodebench.kernels.jit import F32, intrinsic
from nematodebench.kernels.vectors import LANES

__all__ = ["add_block", "add_row", "clear_block", "crossings", "fade", "learn_row", "lowest_bit"]

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_WORD = ir.IntType(64)
_FAINT = np.float32(2.0**-40)
_0, _1 = np.float32(0.0), np.float32(1.0)


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    )


def _same(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


def _place(builder: Any, base: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())


def _bases(context: Any, builder: Any, sig: Any, args: Any, arrays: int) -> list[Any]:
    """Where the first ``arrays`` arguments begin."""
    given = list(zip(sig.args, args, strict=True))[:arrays]
    return [context.make_array(kind)(context, builder, array).data for kind, array in given]


def _length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """How long the first argument is."""
    return builder.extract_value(context.make_array(sig.args[0])(context, builder, args[0]).shape, 0)


def _each_vector(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Runs ``body(offset)`` for 0, 8, ... below ``count``, at least once."""
    before = builder.block
    loop, after = builder.append_basic_block("vector"), builder.append_basic_block("vectors_done")
    builder.branch(loop)
    builder.position_at_end(loop)
    offset = builder.phi(_WORD)
    offset.add_incoming(ir.Constant(_WORD, 0), before)
    body(offset)
    following = builder.add(offset, ir.Constant(_WORD, LANES))
    offset.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)


def _add(builder: Any, target: Any, source: Any, offset: Any, factors: Any) -> None:
    """Adds eight products to eight numbers."""
    place = _place(builder, target, offset)
    row = builder.load(_place(builder, source, offset), align=4)
    builder.store(builder.fadd(builder.load(place, align=4), builder.fmul(factors, row)), place, align=4)


def _plain_add_row(target: F32, source: F32, factor: np.float32) -> None:
    target += factor * source


@intrinsic(_plain_add_row)
def add_row(_context: Any, target: Any, source: Any, factor: Any) -> Any:
    """target[j] += factor x source[j]."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to, source_base = _bases(context, builder, sig, args, 2)
        factors, length = _splat(builder, args[2]), _length(context, builder, sig, args)
        _each_vector(builder, length, lambda offset: _add(builder, to, source_base, offset, factors))
        return context.get_dummy_value()

    return types.void(target, source, types.float32), generate


def _plain_add_block(target: F32, source: F32, at: int, factor: np.float32) -> None:
    target[at : at + LANES] += factor * source[at : at + LANES]


@intrinsic(_plain_add_block)
def add_block(_context: Any, target: Any, source: Any, at: Any, factor: Any) -> Any:
    """target[at + k] += factor x source[at + k], k = 0..7."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to, source_base = _bases(context, builder, sig, args, 2)
        _add(builder, to, source_base, args[2], _splat(builder, args[3]))
        return context.get_dummy_value()

    return types.void(target, source, types.int64, types.float32), generate


def _plain_clear_block(row: F32, at: int) -> None:
    row[at : at + LANES] = _0


@intrinsic(_plain_clear_block)
def clear_block(_context: Any, row: Any, at: Any) -> Any:
    """row[at + k] = 0, k = 0..7."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        (base,) = _bases(context, builder, sig, args, 1)
        builder.store(_same(0.0), _place(builder, base, args[1]), align=4)
        return context.get_dummy_value()

    return types.void(row, types.int64), generate


def _plain_fade(
    trace: F32, resource: F32, energy: F32, keep: np.float32, over: np.float32, back: np.float32, rest: np.float32
) -> None:
    trace *= keep
    trace[trace <= over] = _0
    resource += back * (_1 - resource)
    energy += rest
    energy[energy > _1] = _1


@intrinsic(_plain_fade)
def fade(_context: Any, trace: Any, resource: Any, energy: Any, keep: Any, over: Any, back: Any, rest: Any) -> Any:
    """Traces shrink to a share ``keep``, 0 if not above ``over``; resource and energy return towards 1."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bases, length = _bases(context, builder, sig, args, 3), _length(context, builder, sig, args)
        kept, least, share, gain = (_splat(builder, value) for value in args[3:])
        zero, one = _same(0.0), _same(1.0)

        def body(offset: Any) -> None:
            at = [_place(builder, base, offset) for base in bases]
            traces, resources, energies = [builder.load(place, align=4) for place in at]
            left = builder.fmul(kept, traces)
            left = builder.select(builder.fcmp_ordered(">", left, least), left, zero)
            regained = builder.fadd(resources, builder.fmul(share, builder.fsub(one, resources)))
            rested = builder.fadd(energies, gain)
            rested = builder.select(builder.fcmp_ordered("<", rested, one), rested, one)
            for value, place in zip((left, regained, rested), at, strict=True):
                builder.store(value, place, align=4)

        _each_vector(builder, length, body)
        return context.get_dummy_value()

    return types.void(trace, resource, energy, *(types.float32,) * 4), generate


def _clamped(builder: Any, value: Any, low: Any, high: Any) -> Any:
    value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
    return builder.select(builder.fcmp_ordered(">", value, high), high, value)


def _plain_learn_row(
    w: F32, e: F32, f: F32, gate: F32, step: F32, keep: np.float32, part: np.float32, low: np.float32, high: np.float32
) -> None:
    e[:] = keep * e + part * gate * f
    e[np.abs(e) < _FAINT] = _0
    f[:] = _0
    w[:] = np.where(w == _0, _0, np.minimum(np.maximum(w + step * e, low), high))


@intrinsic(_plain_learn_row)
def learn_row(
    _context: Any, w: Any, e: Any, f: Any, gate: Any, step: Any, keep: Any, part: Any, low: Any, high: Any
) -> Any:
    """One row learns: e = keep e + part gate f; f = 0; w = w + step e within [low, high], but a weight of 0 stays 0.

    Eligibility that has faded becomes 0: numbers too small to be normal would cost most of the time.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bases, length = _bases(context, builder, sig, args, 5), _length(context, builder, sig, args)
        kept, shared, least, most = (_splat(builder, value) for value in args[5:])
        zero, faint = _same(0.0), _same(float(_FAINT))

        def body(offset: Any) -> None:
            at = [_place(builder, base, offset) for base in bases]
            old_w, old_e, fresh, gates, steps = [builder.load(place, align=4) for place in at]
            lasting = builder.fadd(builder.fmul(kept, old_e), builder.fmul(builder.fmul(shared, gates), fresh))
            faded = builder.and_(
                builder.fcmp_ordered("<", lasting, faint), builder.fcmp_ordered(">", lasting, builder.fneg(faint))
            )
            lasting = builder.select(faded, zero, lasting)
            moved = _clamped(builder, builder.fadd(old_w, builder.fmul(steps, lasting)), least, most)
            absent = builder.fcmp_ordered("==", old_w, zero)
            for value, place in zip((builder.select(absent, zero, moved), lasting, zero), at, strict=False):
                builder.store(value, place, align=4)

        _each_vector(builder, length, body)
        return context.get_dummy_value()

    return types.void(w, e, f, gate, step, *(types.float32,) * 4), generate


def _plain_crossings(values: F32, thresholds: F32, at: int) -> np.uint64:
    above = values[at : at + LANES] >= thresholds[at : at + LANES]
    return np.uint64(sum(1 << k for k in range(LANES) if above[k]))


@intrinsic(_plain_crossings)
def crossings(_context: Any, values: Any, thresholds: Any, at: Any) -> Any:
    """Bit k is set if values[at + k] >= thresholds[at + k], k = 0..7."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bases = _bases(context, builder, sig, args, 2)
        value, threshold = (builder.load(_place(builder, base, args[2]), align=4) for base in bases)
        above = builder.fcmp_ordered(">=", value, threshold)
        return builder.zext(builder.bitcast(above, ir.IntType(LANES)), _WORD)

    return types.uint64(values, thresholds, types.int64), generate


@intrinsic(lambda word: (int(word) & -int(word)).bit_length() - 1)
def lowest_bit(_context: Any, word: Any) -> Any:
    """Number of the lowest bit that is set."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate
