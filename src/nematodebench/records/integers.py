"""Columns of numbers as small integers, and integers as bytes that compress well. Every step can be undone exactly.

A recorded number is mostly a whole number, or a short decimal that carries the rounding errors of a sum. So a column
``x`` is kept as ``whole`` (the nearest multiple of 1/scale, times scale) and ``rest`` (how many floating-point numbers
``x`` lies away from it). Scale 0 means that the bits of ``x`` are kept as they are.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "Numbers", "cost", "join", "pack_ints", "split", "unpack_ints"]

Ints = NDArray[np.int64]
_SCALES = (1, 2, 4, 5, 8, 10, 20, 40, 50, 100, 200, 400, 500, 1000, 2000, 10_000, 100_000, 1_000_000)
_LARGEST = 2.0**52
"""Beyond it, neighbouring floating-point numbers are more than 1 apart."""
_MOST_VALUES = 1 << 16
_SIGN = np.int64(-(2**63))


@dataclass(frozen=True)
class Numbers:
    """A column in two parts; see the module's text."""

    scale: int
    whole: Ints
    rest: Ints


def _rank(values: NDArray[np.float64]) -> Ints:
    """Numbers the floating-point numbers in order, so that neighbours differ by 1: -0.0 is -1, 0.0 is 0."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, ~(bits ^ _SIGN), bits)


def _of_rank(ranks: Ints) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.where(ranks < 0, ~ranks ^ _SIGN, ranks)).view(np.float64)


def split(values: NDArray[np.float64]) -> Numbers:
    """Parts a column, with the scale that leaves the least to be stored."""
    largest = float(np.abs(values).max(initial=0.0))  # not a number where one of them is not
    scales = [scale for scale in _SCALES if largest < _LARGEST / scale]
    if scales and not (whole := _scaled(values, 1)).rest.any():
        return whole
    bits = Numbers(0, _rank(values), np.zeros(values.size, dtype=np.int64))
    return min([bits, *(_scaled(values, scale) for scale in scales)], key=lambda one: cost(one.whole) + cost(one.rest))


def _scaled(values: NDArray[np.float64], scale: int) -> Numbers:
    whole = np.rint(values * scale).astype(np.int64)
    return Numbers(scale, whole, _rank(values) - _rank(whole / scale))


def join(numbers: Numbers) -> NDArray[np.float64]:
    """The column that was parted."""
    if numbers.scale == 0:
        return _of_rank(numbers.whole)
    return _of_rank(_rank(numbers.whole / numbers.scale) + numbers.rest)


def cost(values: Ints) -> float:
    """About how many bytes integers need: each one's share of the distribution, and the distribution itself."""
    found, counts = np.unique(values, return_counts=True)
    bits = -float((counts * np.log2(counts / values.size)).sum())
    span = float(found[-1]) - float(found[0]) if found.size else 0.0
    return (bits + found.size * (1.0 + math.log2(1.0 + span / max(1, found.size)))) / 8


def pack_ints(values: Ints) -> tuple[dict[str, int], bytes]:
    """Integers as bytes, with what is needed to read them back.

    Where few different values occur, they are listed and numbered, and the numbers are written; otherwise the
    distances from the smallest value are. Numbers are written as one block of bytes for each byte they have, the
    highest first, and each block in the order of what the blocks before it say.
    """
    found, numbers = np.unique(values, return_inverse=True)
    least = int(found[0]) if found.size else 0
    listed = found.size <= _MOST_VALUES and found.size * 4 <= values.size
    steps = _differences(found) if listed else np.empty(0, dtype=np.uint64)
    written = numbers.astype(np.uint64) if listed else values.view(np.uint64) - _unsigned(least)
    head = {"least": least, "steps": int(steps.size), "step_bytes": _width(steps), "bytes": _width(written)}
    listing = b"".join(block.tobytes() for block in _blocks(steps, head["step_bytes"]))
    return head, listing + b"".join(_ordered_blocks(written, head["bytes"]))


def _differences(ascending: Ints) -> NDArray[np.uint64]:
    return ascending[1:].view(np.uint64) - ascending[:-1].view(np.uint64)


def _unsigned(value: int) -> np.uint64:
    return np.uint64(value % 2**64)


def _width(values: NDArray[np.uint64]) -> int:
    """Bytes that the largest value needs."""
    return (int(values.max(initial=0)).bit_length() + 7) // 8


def _blocks(values: NDArray[np.uint64], width: int) -> Iterator[NDArray[np.uint8]]:
    for k in reversed(range(width)):
        yield (values >> np.uint64(8 * k)).astype(np.uint8)


def _ordered_blocks(values: NDArray[np.uint64], width: int) -> Iterator[bytes]:
    known = np.zeros(values.size, dtype=np.uint64)
    for block in _blocks(values, width):
        yield block[np.argsort(known, kind="stable")].tobytes()
        known = (known << np.uint64(8)) | block


def unpack_ints(head: Mapping[str, int], count: int, take: Callable[[int], bytes]) -> Ints:
    """The integers that were packed; ``take`` gives the next bytes."""
    steps = np.zeros(head["steps"], dtype=np.uint64)
    for _ in range(head["step_bytes"]):
        steps = (steps << np.uint64(8)) | np.frombuffer(take(steps.size), dtype=np.uint8)
    known = np.zeros(count, dtype=np.uint64)
    for _ in range(head["bytes"]):
        block = np.empty(count, dtype=np.uint8)
        block[np.argsort(known, kind="stable")] = np.frombuffer(take(count), dtype=np.uint8)
        known = (known << np.uint64(8)) | block
    if steps.size:
        if int(known.max(initial=0)) > steps.size:
            raise ValueError("a number stands for no value of its list")
        known = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(steps)])[known.astype(np.int64)]
    return (known + _unsigned(head["least"])).view(np.int64)
