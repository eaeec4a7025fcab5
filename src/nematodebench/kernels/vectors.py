"""Matrix products and sums on float32 arrays, from register tiles of LLVM vectors.

Every element of a product is one chain of fused multiply-adds in the order of the contraction, whatever tile computes
it: the bits depend on the numbers alone, never on sizes or blocking, and a three-line loop is the exact reference.
The number of columns must be a multiple of 8 (:func:`padded`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from nematodebench.kernels.jit import F32, F32M, inlined, intrinsic, kernel
from nematodebench.kernels.math import fma
from nematodebench.kernels.views import make_array

__all__ = [
    "LANES", "add_linear", "add_product", "linear", "linear_row", "matrix", "padded", "product", "product_transposed",
    "sum_squares", "transpose", "transpose_back",
]  # fmt: skip

LANES = 8
"""Numbers in a vector register."""

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_INT = ir.IntType(64)


def padded(n: int) -> int:
    """The next multiple of the vector length: what a layer of ``n`` units occupies."""
    return -(-n // LANES) * LANES


def _constant(value: int) -> Any:
    return ir.Constant(_INT, value)


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Where an array begins; of an array that is handed over as its place this is known."""
    if isinstance(kind, types.CPointer):
        return array
    return context.make_array(kind)(context, builder, array).data


@intrinsic(lambda array: array)
def _place(_context: Any, array: Any) -> Any:
    """An array as the place where it begins: one machine word to hand over instead of seven."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _pointer(context, builder, sig.args[0], args[0])

    return types.CPointer(array.dtype)(array), generate


def _plain_matrix(array: F32, first: int, rows: int, columns: int) -> F32M:
    return array.reshape(-1)[first : first + rows * columns].reshape(rows, columns)


@intrinsic(_plain_matrix)
def matrix(_context: Any, array: Any, first: Any, rows: Any, columns: Any) -> Any:
    """A stretch of a flat array as a matrix; nothing is copied."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = builder.gep(_pointer(context, builder, sig.args[0], args[0]), [args[1]])
        return make_array(context, builder, sig.return_type, data, list(args[2:]))

    word = types.int64
    return types.Array(array.dtype, 2, "C")(array, word, word, word), generate


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
    builder: Any, a: Any, a_index: Any, a_row: Any, b: Any, b_index: Any, sums: list[Any], rows: int
) -> list[Any]:
    """One step of the contraction for a whole tile."""
    vectors = len(sums) // rows
    b_values = [
        builder.load(_vector_pointer(builder, b, builder.add(b_index, _constant(v * LANES))), align=4)
        for v in range(vectors)
    ]
    fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32")
    zero_mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    result = []
    for row in range(rows):
        element = builder.load(builder.gep(a, [builder.add(a_index, builder.mul(a_row, _constant(row)))]), align=4)
        single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), element, ir.Constant(ir.IntType(32), 0))
        spread = builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), zero_mask)
        result += [builder.call(fused, [spread, b_values[v], sums[row * vectors + v]]) for v in range(vectors)]
    return result


def _generate_tile(rows: int, vectors: int) -> Callable[..., Any]:
    """Code of one tile: c[rows, 8 vectors] = start + sum over k >= 1 of a[row, k] b[k, :]."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        arrays, (a_at, a_row, a_k, b_at, b_k, start_at, start_row, c_at, c_row, count) = args[:4], args[4:]
        a, b, start, c = (_pointer(context, builder, t, v) for t, v in zip(sig.args[:4], arrays, strict=True))
        sums = _initial(builder, start, start_at, start_row, rows, vectors)
        entry, loop, after = builder.block, builder.append_basic_block("tile"), builder.append_basic_block("tile.end")
        builder.branch(loop)
        builder.position_at_end(loop)
        starts = [_constant(0), a_at, b_at, *sums]
        phis = [builder.phi(value.type) for value in starts]
        k, a_index, b_index, *carried = phis
        following = [builder.add(k, _constant(1)), builder.add(a_index, a_k), builder.add(b_index, b_k)]
        following += _multiply_add(builder, a, a_index, a_row, b, b_index, carried, rows)
        for phi, first, later in zip(phis, starts, following, strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(later, loop)
        builder.cbranch(builder.icmp_signed("<", following[0], count), loop, after)
        builder.position_at_end(after)
        for n, value in enumerate(following[3:]):
            line = builder.add(c_at, builder.mul(c_row, _constant(n // vectors)))
            index = builder.add(line, _constant(n % vectors * LANES))
            builder.store(value, _vector_pointer(builder, c, index), align=4)
        return context.get_dummy_value()

    return generate


def _plain_tile(rows: int, vectors: int) -> Callable[..., None]:
    """The interpreter's tile."""

    def tile(
        a: F32, b: F32, start: F32, c: F32, a_at: int, a_row: int, a_k: int, b_at: int, b_k: int, start_at: int,
        start_row: int, c_at: int, c_row: int, count: int,
    ) -> None:  # fmt: skip
        a, b, start, c = a.reshape(-1), b.reshape(-1), start.reshape(-1), c.reshape(-1)
        for row in range(rows):
            for column in range(LANES * vectors):
                total = start[start_at + row * start_row + column]
                for k in range(count):
                    total = fma(a[a_at + row * a_row + k * a_k], b[b_at + k * b_k + column], total)
                c[c_at + row * c_row + column] = total

    return tile


def _tile(rows: int, vectors: int) -> Callable[..., None]:
    # Numba reads the number of arguments from the signature, so all fourteen are spelled out.
    def typed(
        _context: Any, a: Any, b: Any, start: Any, c: Any, aa: Any, ar: Any, ak: Any, ba: Any, bk: Any, sa: Any,
        sr: Any, ca: Any, cr: Any, n: Any,
    ) -> Any:  # fmt: skip
        return types.void(a, b, start, c, *(types.int64,) * 10), _generate_tile(rows, vectors)

    typed.__name__ = f"_tile_{rows}x{vectors}"
    return intrinsic(_plain_tile(rows, vectors))(typed)


_tile_2x4 = _tile(2, 4)
_tile_1x8 = _tile(1, 8)
_tile_1x4 = _tile(1, 4)
_tile_8x1 = _tile(8, 1)
_tile_1x1 = _tile(1, 1)


@kernel()
def _multiply(
    a: F32, b: F32, start: F32, c: F32, a_row: int, a_k: int, start_row: int, rows: int, columns: int, count: int
) -> None:
    """c[rows, columns] = start + a b over ``count`` >= 1 terms.

    ``a`` is read at ``row * a_row + k * a_k``, so a transposed factor costs nothing; ``b``, ``start`` and ``c`` have
    contiguous columns. ``start_row`` 0 adds one row to all (a bias); ``start`` = ``c`` accumulates. The fastest tiles
    hold 64 columns of one row, 32 of two, or 8 of eight.
    """
    column = 0
    if rows == 1:
        while column + 64 <= columns:
            _tile_1x8(a, b, start, c, 0, a_row, a_k, column, columns, column, start_row, column, columns, count)
            column += 64
    while column + 32 <= columns:
        row = 0
        while row + 2 <= rows:
            _tile_2x4(
                a, b, start, c, row * a_row, a_row, a_k, column, columns, row * start_row + column, start_row,
                row * columns + column, columns, count,
            )  # fmt: skip
            row += 2
        if row < rows:
            _tile_1x4(
                a, b, start, c, row * a_row, a_row, a_k, column, columns, row * start_row + column, start_row,
                row * columns + column, columns, count,
            )  # fmt: skip
        column += 32
    while column < columns:
        row = 0
        while row + 8 <= rows:
            _tile_8x1(
                a, b, start, c, row * a_row, a_row, a_k, column, columns, row * start_row + column, start_row,
                row * columns + column, columns, count,
            )  # fmt: skip
            row += 8
        while row < rows:
            _tile_1x1(
                a, b, start, c, row * a_row, a_row, a_k, column, columns, row * start_row + column, start_row,
                row * columns + column, columns, count,
            )  # fmt: skip
            row += 1
        column += LANES


@kernel()
def linear(x: F32M, weights: F32M, bias: F32, y: F32M) -> None:
    """Y = x weights + bias."""
    rows, count = x.shape
    _multiply(_place(x), _place(weights), _place(bias), _place(y), count, 1, 0, rows, weights.shape[1], count)


@inlined
def linear_row(x: F32, weights: F32M, bias: F32, y: F32) -> None:
    """Y = x weights + bias for a single row: what a brain computes at every step, so no array is handed over."""
    count, columns = weights.shape
    column = 0
    while column + 64 <= columns:
        _tile_1x8(x, weights, bias, y, 0, count, 1, column, columns, column, 0, column, columns, count)
        column += 64
    while column + 32 <= columns:
        _tile_1x4(x, weights, bias, y, 0, count, 1, column, columns, column, 0, column, columns, count)
        column += 32
    while column < columns:
        _tile_1x1(x, weights, bias, y, 0, count, 1, column, columns, column, 0, column, columns, count)
        column += LANES


@kernel()
def add_linear(x: F32M, weights: F32M, y: F32M) -> None:
    """Y += x weights."""
    rows, count = x.shape
    _multiply(
        _place(x), _place(weights), _place(y), _place(y), count, 1, weights.shape[1], rows, weights.shape[1], count
    )


@kernel()
def product(a: F32M, b: F32M, zeros: F32, c: F32M) -> None:
    """C = a b; ``zeros`` is as long as a row of c."""
    rows, count = a.shape
    _multiply(_place(a), _place(b), _place(zeros), _place(c), count, 1, 0, rows, b.shape[1], count)


@kernel()
def product_transposed(a: F32M, b: F32M, zeros: F32, c: F32M) -> None:
    """C = a^T b; ``zeros`` is as long as a row of c."""
    count, rows = a.shape
    _multiply(_place(a), _place(b), _place(zeros), _place(c), 1, rows, 0, rows, b.shape[1], count)


@kernel()
def add_product(a: F32M, b: F32M, c: F32M) -> None:
    """C += a^T b."""
    count, rows = a.shape
    _multiply(_place(a), _place(b), _place(c), _place(c), 1, rows, b.shape[1], rows, b.shape[1], count)


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


def _plain_block(source: F32, target: F32, s_at: int, s_row: int, t_at: int, t_row: int) -> None:
    source, target = source.reshape(-1), target.reshape(-1)
    for row in range(LANES):
        for column in range(LANES):
            target[t_at + column * t_row + row] = source[s_at + row * s_row + column]


@intrinsic(_plain_block)
def _transpose_block(_context: Any, source: Any, target: Any, s_at: Any, s_row: Any, t_at: Any, t_row: Any) -> Any:
    """Transposes 8 x 8 numbers."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source, target = (_pointer(context, builder, t, v) for t, v in zip(sig.args[:2], args[:2], strict=True))
        source_at, source_row, target_at, target_row = args[2:]
        rows = _initial(builder, source, source_at, source_row, LANES, 1)
        for distance in (4, 2, 1):
            rows = _swap_halves(builder, rows, distance)
        for n, row in enumerate(rows):
            index = builder.add(target_at, builder.mul(target_row, _constant(n)))
            builder.store(row, _vector_pointer(builder, target, index), align=4)
        return context.get_dummy_value()

    return types.void(source, target, *(types.int64,) * 4), generate


@kernel()
def transpose(source: F32M, target: F32M) -> None:
    """target[columns, rows] = source[rows, columns] transposed; columns a multiple of 8."""
    rows, columns = source.shape
    whole = rows // LANES * LANES
    for row in range(0, whole, LANES):
        for column in range(0, columns, LANES):
            _transpose_block(source, target, row * columns + column, columns, column * rows + row, rows)
    for row in range(whole, rows):
        for column in range(columns):
            target[column, row] = source[row, column]


@kernel()
def transpose_back(source: F32M, target: F32M) -> None:
    """target[columns, rows] = source[rows, columns] transposed; rows a multiple of 8."""
    rows, columns = source.shape
    whole = columns // LANES * LANES
    for column in range(0, whole, LANES):
        for row in range(0, rows, LANES):
            _transpose_block(source, target, row * columns + column, columns, column * rows + row, rows)
    for column in range(whole, columns):
        for row in range(rows):
            target[column, row] = source[row, column]


def _plain_squares(array: F32, count: int) -> np.float32:
    lanes = np.zeros((4, LANES), dtype=np.float32)
    for start in range(0, count, 4 * LANES):
        for n in range(4 * LANES):
            value = array[start + n]
            lanes[n // LANES, n % LANES] = fma(value, value, lanes[n // LANES, n % LANES])
    sums = list((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
    while len(sums) > 1:
        sums = [sums[n] + sums[n + 1] for n in range(0, len(sums), 2)]
    return np.float32(sums[0])


@intrinsic(_plain_squares)
def _sum_squares_lanes(_context: Any, array: Any, count: Any) -> Any:
    """Sum of squares with 4 x 8 accumulators; count must be a positive multiple of 32."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, length = _pointer(context, builder, sig.args[0], args[0]), args[1]
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), "llvm.fma.v8f32"
        )
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
            place = builder.add(index, _constant(n * LANES))
            value = builder.load(_vector_pointer(builder, base, place), align=4)
            totals.append(builder.call(fused, [value, value, phi]))
            phi.add_incoming(ir.Constant(_VECTOR, [0.0] * LANES), entry)
            phi.add_incoming(totals[n], loop)
        builder.cbranch(builder.icmp_signed("<", following, length), loop, after)
        builder.position_at_end(after)
        lanes = builder.fadd(builder.fadd(totals[0], totals[1]), builder.fadd(totals[2], totals[3]))
        parts = [builder.extract_element(lanes, ir.Constant(ir.IntType(32), n)) for n in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(parts[n], parts[n + 1]) for n in range(0, len(parts), 2)]
        return parts[0]

    return types.float32(array, types.int64), generate


@kernel()
def sum_squares(array: F32) -> np.float32:
    """Sum of squares, added in a fixed order."""
    blocks = array.size // 32 * 32
    total = _sum_squares_lanes(array, blocks) if blocks > 0 else np.float32(0.0)
    for n in range(blocks, array.size):
        total += array[n] * array[n]
    return total
