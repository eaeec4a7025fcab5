"""The inner loops of `spiking_rstdp` as LLVM vectors of eight.

Rows are multiples of eight long and lie in one array, so there are no remainders and no checks for overlap: on rows of
80 numbers that is most of the time a loop takes.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from nematodebench.kernels.jit import intrinsic

__all__ = ["LANES", "add_row", "clear", "crossings", "fade", "learn_row", "lowest_bit"]

LANES = 8
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_WORD = ir.IntType(64)
_FAINT = 2.0**-40


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    )


def _place(builder: Any, base: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())


def _base(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.make_array(sig.args[0])(context, builder, args[0]).data


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


@intrinsic
def add_row(_context: Any, mem: Any, target: Any, source: Any, factor: Any, count: Any) -> Any:
    """mem[target + j] += factor x mem[source + j] for j below ``count``."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, (_, target_at, source_at, scale, length) = _base(context, builder, sig, args), args
        factors = _splat(builder, scale)

        def body(offset: Any) -> None:
            place = _place(builder, base, builder.add(target_at, offset))
            row = builder.load(_place(builder, base, builder.add(source_at, offset)), align=4)
            builder.store(builder.fadd(builder.load(place, align=4), builder.fmul(factors, row)), place, align=4)

        _each_vector(builder, length, body)
        return context.get_dummy_value()

    return types.void(mem, types.int64, types.int64, types.float32, types.int64), generate


@intrinsic
def clear(_context: Any, mem: Any, place: Any) -> Any:
    """mem[place + k] = 0, k = 0..7."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        builder.store(zero, _place(builder, _base(context, builder, sig, args), args[1]), align=4)
        return context.get_dummy_value()

    return types.void(mem, types.int64), generate


@intrinsic
def fade(
    _context: Any,
    mem: Any,
    trace: Any,
    resource: Any,
    energy: Any,
    keep: Any,
    over: Any,
    back: Any,
    rest: Any,
    count: Any,
) -> Any:
    """Traces shrink to a share ``keep``, 0 if not above ``over``; resource and energy return towards 1."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, (_, *places, keep_, over_, back_, rest_, length) = _base(context, builder, sig, args), args
        kept, least, share, gain = (_splat(builder, value) for value in (keep_, over_, back_, rest_))
        zero, one = (ir.Constant(_VECTOR, [value] * LANES) for value in (0.0, 1.0))

        def body(offset: Any) -> None:
            at = [_place(builder, base, builder.add(place, offset)) for place in places]
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

    i, x = types.int64, types.float32
    return types.void(mem, i, i, i, x, x, x, x, i), generate


def _clamped(builder: Any, value: Any, low: Any, high: Any) -> Any:
    value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
    return builder.select(builder.fcmp_ordered(">", value, high), high, value)


@intrinsic
def learn_row(
    _context: Any,
    mem: Any,
    w: Any,
    e: Any,
    f: Any,
    gate: Any,
    step: Any,
    keep: Any,
    part: Any,
    low: Any,
    high: Any,
    count: Any,
) -> Any:
    """One row learns: e = keep e + part gate f; f = 0; w = w + step e within [low, high], but a weight of 0 stays 0.

    Eligibility that has faded becomes 0: numbers too small to be normal would cost most of the time.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, (_, *places, keep_, part_, low_, high_, length) = _base(context, builder, sig, args), args
        kept, shared, least, most = (_splat(builder, value) for value in (keep_, part_, low_, high_))
        zero, faint = (ir.Constant(_VECTOR, [value] * LANES) for value in (0.0, _FAINT))

        def body(offset: Any) -> None:
            at = [_place(builder, base, builder.add(place, offset)) for place in places]
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

    i, x = types.int64, types.float32
    return types.void(mem, i, i, i, i, i, x, x, x, x, i), generate


@intrinsic
def crossings(_context: Any, mem: Any, values: Any, thresholds: Any) -> Any:
    """Bit k is set if mem[values + k] >= mem[thresholds + k], k = 0..7."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base = _base(context, builder, sig, args)
        value, threshold = (builder.load(_place(builder, base, index), align=4) for index in args[1:])
        above = builder.fcmp_ordered(">=", value, threshold)
        return builder.zext(builder.bitcast(above, ir.IntType(LANES)), _WORD)

    return types.uint64(mem, types.int64, types.int64), generate


@intrinsic
def lowest_bit(_context: Any, word: Any) -> Any:
    """Number of the lowest bit that is set."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate
