"""Matrix products on a brain's flat float32 memory, from register tiles of LLVM vectors.

Every element of a product is one chain of fused multiply-adds in the order of the contraction, whatever tile computes
it: the bits depend on the numbers alone, never on sizes or blocking, and a three-line loop is the exact reference.
Matrices are given by an offset into ``mem`` and strides in elements; the number of columns must be a multiple of 8.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.abi import F32, intrinsic, kernel

__all__ = ["LANES", "matmul", "padded", "sum_squares", "transpose", "transpose_back"]

LANES = 8

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_INT = ir.IntType(64)


def padded(n: int) -> int:
    """The next multiple of the vector length: what a layer of ``n`` units occupies."""
    return -(-n // LANES) * LANES


def _constant(value: int) -> Any:
    return ir.Constant(_INT, value)


def _vector_pointer(builder: Any, base: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())


def _initial(builder: Any, base: Any, start: Any, stride: Any, rows: int, vectors: int) -> list[Any]:
    """Loads the accumulators of a tile."""
    loaded = []
    for row in range(rows):
        line = builder.add(start, builder.mul(stride, _constant(row)))
        for vector in range(vectors):
            index = builder.add(line, _constant(vector * LANES))
            loaded.append(builder.load(_vector_pointer(builder, base, index), align=4))
    return loaded


def _multiply_add(
    builder: Any, base: Any, a_index: Any, a_row: Any, b_index: Any, sums: list[Any], rows: int
) -> list[Any]:
    """One step of the contraction for a whole tile."""
    vectors = len(sums) // rows
    b_values = [
        builder.load(_vector_pointer(builder, base, builder.add(b_index, _constant(v * LANES))), align=4)
        for v in range(vectors)
    ]
    fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32")
    zero_mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    result = []
    for row in range(rows):
        element = builder.load(builder.gep(base, [builder.add(a_index, builder.mul(a_row, _constant(row)))]), align=4)
        single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), element, ir.Constant(ir.IntType(32), 0))
        spread = builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), zero_mask)
        result += [builder.call(fma, [spread, b_values[v], sums[row * vectors + v]]) for v in range(vectors)]
    return result


def _generate_tile(rows: int, vectors: int) -> Callable[..., Any]:
    """Code of one tile: c[rows, 8 vectors] = init + sum over k >= 1 of a[row, k] b[k, :]."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory, a, a_row, a_k, b, b_k, init, init_row, c, c_row, count = args
        base = context.make_array(sig.args[0])(context, builder, memory).data
        sums = _initial(builder, base, init, init_row, rows, vectors)
        entry, loop, after = builder.block, builder.append_basic_block("tile"), builder.append_basic_block("tile.end")
        builder.branch(loop)
        builder.position_at_end(loop)
        starts = [_constant(0), a, b, *sums]
        phis = [builder.phi(value.type) for value in starts]
        k, a_index, b_index, *carried = phis
        following = [builder.add(k, _constant(1)), builder.add(a_index, a_k), builder.add(b_index, b_k)]
        following += _multiply_add(builder, base, a_index, a_row, b_index, carried, rows)
        for phi, first, later in zip(phis, starts, following, strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following[0], count), loop, after)
        builder.position_at_end(after)
        for n, value in enumerate(following[3:]):
            line = builder.add(c, builder.mul(c_row, _constant(n // vectors)))
            index = builder.add(line, _constant(n % vectors * LANES))
            builder.store(value, _vector_pointer(builder, base, index), align=4)
        return context.get_dummy_value()

    return generate


def _tile(rows: int, vectors: int) -> Callable[..., None]:
    # Numba reads the number of arguments from the signature, so all eleven are spelled out.
    def typed(
        _context: Any, mem: Any, a: Any, ar: Any, ak: Any, b: Any, bk: Any, i: Any, ir: Any, c: Any, cr: Any, n: Any
    ) -> Any:
        return types.void(mem, *(types.int64,) * 10), _generate_tile(rows, vectors)

    typed.__name__ = f"_tile_{rows}x{vectors}"
    return cast("Callable[..., None]", intrinsic(typed))


_tile_2x4 = _tile(2, 4)
_tile_1x8 = _tile(1, 8)
_tile_1x4 = _tile(1, 4)
_tile_8x1 = _tile(8, 1)
_tile_1x1 = _tile(1, 1)


@kernel()
def _wide_columns(
    mem: F32, a: int, a_row: int, a_k: int, b: int, b_k: int, init: int, init_row: int, c: int, c_row: int, rows: int,
    count: int,
) -> None:  # fmt: skip
    """A block of 32 columns: the fastest tile holds 2 rows."""
    row = 0
    while row + 2 <= rows:
        _tile_2x4(
            mem, a + row * a_row, a_row, a_k, b, b_k, init + row * init_row, init_row, c + row * c_row, c_row, count
        )
        row += 2
    if row < rows:
        _tile_1x4(
            mem, a + row * a_row, a_row, a_k, b, b_k, init + row * init_row, init_row, c + row * c_row, c_row, count
        )


@kernel()
def _narrow_columns(
    mem: F32, a: int, a_row: int, a_k: int, b: int, b_k: int, init: int, init_row: int, c: int, c_row: int, rows: int,
    count: int,
) -> None:  # fmt: skip
    """A block of 8 columns: 8 rows keep the multipliers busy."""
    row = 0
    while row + 8 <= rows:
        _tile_8x1(
            mem, a + row * a_row, a_row, a_k, b, b_k, init + row * init_row, init_row, c + row * c_row, c_row, count
        )
        row += 8
    while row < rows:
        _tile_1x1(
            mem, a + row * a_row, a_row, a_k, b, b_k, init + row * init_row, init_row, c + row * c_row, c_row, count
        )
        row += 1


@kernel()
def matmul(
    mem: F32, a: int, a_row: int, a_k: int, b: int, b_k: int, init: int, init_row: int, c: int, c_row: int, rows: int,
    columns: int, count: int,
) -> None:  # fmt: skip
    """c[rows, columns] = init + a @ b over ``count`` >= 1 terms.

    ``a`` is read at ``a + row * a_row + k * a_k``, so a transposed factor costs nothing; ``b``, ``init`` and ``c`` have
    contiguous columns. ``init_row`` 0 adds one row to all (a bias); ``init = c`` accumulates.
    """
    column = 0
    if rows == 1:
        while column + 64 <= columns:
            _tile_1x8(mem, a, a_row, a_k, b + column, b_k, init + column, init_row, c + column, c_row, count)
            column += 64
    while column + 32 <= columns:
        _wide_columns(mem, a, a_row, a_k, b + column, b_k, init + column, init_row, c + column, c_row, rows, count)
        column += 32
    while column < columns:
        _narrow_columns(mem, a, a_row, a_k, b + column, b_k, init + column, init_row, c + column, c_row, rows, count)
        column += LANES


def _swap_halves(builder: Any, rows: list[Any], distance: int) -> list[Any]:
    """One stage of a block transpose: exchanges the off-diagonal squares of side ``distance``."""
    swapped = list(rows)
    for n in range(LANES):
        if n & distance == 0:
            upper, lower = rows[n], rows[n + distance]
            first = [lane if lane & distance == 0 else LANES + lane - distance for lane in range(LANES)]
            second = [lane + distance if lane & distance == 0 else LANES + lane for lane in range(LANES)]
            masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask) for mask in (first, second)]
            swapped[n] = builder.shuffle_vector(upper, lower, masks[0])
            swapped[n + distance] = builder.shuffle_vector(upper, lower, masks[1])
    return swapped


@intrinsic
def _transpose_block(_context: Any, mem: Any, source: Any, s_row: Any, target: Any, t_row: Any) -> Any:
    """Transposes 8 x 8 numbers."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory, source, source_row, target, target_row = args
        base = context.make_array(sig.args[0])(context, builder, memory).data
        rows = _initial(builder, base, source, source_row, LANES, 1)
        for distance in (4, 2, 1):
            rows = _swap_halves(builder, rows, distance)
        for n, row in enumerate(rows):
            index = builder.add(target, builder.mul(target_row, _constant(n)))
            builder.store(row, _vector_pointer(builder, base, index), align=4)
        return context.get_dummy_value()

    return types.void(mem, *(types.int64,) * 4), generate


@kernel()
def transpose(mem: F32, source: int, target: int, rows: int, columns: int) -> None:
    """target[columns, rows] = source[rows, columns] transposed; columns a multiple of 8."""
    whole = rows // LANES * LANES
    for row in range(0, whole, LANES):
        for column in range(0, columns, LANES):
            _transpose_block(mem, source + row * columns + column, columns, target + column * rows + row, rows)
    for row in range(whole, rows):
        for column in range(columns):
            mem[target + column * rows + row] = mem[source + row * columns + column]


@kernel()
def transpose_back(mem: F32, source: int, target: int, rows: int, columns: int) -> None:
    """target[columns, rows] = source[rows, columns] transposed; rows a multiple of 8."""
    whole = columns // LANES * LANES
    for column in range(0, whole, LANES):
        for row in range(0, rows, LANES):
            _transpose_block(mem, source + row * columns + column, columns, target + column * rows + row, rows)
    for column in range(whole, columns):
        for row in range(rows):
            mem[target + column * rows + row] = mem[source + row * columns + column]


@intrinsic
def _sum_squares_lanes(_context: Any, mem: Any, start: Any, count: Any) -> Any:
    """Sum of squares with 4 x 8 accumulators; count must be a positive multiple of 32."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory, first, length = args
        base = context.make_array(sig.args[0])(context, builder, memory).data
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32")
        entry, loop, after = builder.block, builder.append_basic_block("squares"), builder.append_basic_block("sum")
        builder.branch(loop)
        builder.position_at_end(loop)
        index = builder.phi(_INT)
        sums = [builder.phi(_VECTOR) for _ in range(4)]
        index.add_incoming(_constant(0), entry)
        following = builder.add(index, _constant(4 * LANES))
        index.add_incoming(following, loop)
        totals = []
        for n, phi in enumerate(sums):
            place = builder.add(builder.add(first, index), _constant(n * LANES))
            value = builder.load(_vector_pointer(builder, base, place), align=4)
            totals.append(builder.call(fma, [value, value, phi]))
            phi.add_incoming(ir.Constant(_VECTOR, [0.0] * LANES), entry)
            phi.add_incoming(totals[n], loop)
        builder.cbranch(builder.icmp_signed("<", following, length), loop, after)
        builder.position_at_end(after)
        lanes = builder.fadd(builder.fadd(totals[0], totals[1]), builder.fadd(totals[2], totals[3]))
        parts = [builder.extract_element(lanes, ir.Constant(ir.IntType(32), n)) for n in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(parts[n], parts[n + 1]) for n in range(0, len(parts), 2)]
        return parts[0]

    return types.float32(mem, types.int64, types.int64), generate


@kernel()
def sum_squares(mem: F32, start: int, count: int) -> np.float32:
    """Sum of squares of mem[start : start + count], added in a fixed order."""
    blocks = count // 32 * 32
    total = _sum_squares_lanes(mem, start, blocks) if blocks > 0 else np.float32(0.0)
    for n in range(start + blocks, start + count):
        total += mem[n] * mem[n]
    return total
