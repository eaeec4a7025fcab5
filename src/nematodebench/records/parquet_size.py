"""How much memory a Parquet file needs, read from its headers alone: nothing is decompressed.

The footer says how many rows and values there are, and in front of every page stands how large the page is when it is
decompressed. Both are written in Thrift's compact form. A small file can promise gigabytes: pages that compress well,
or one long text in a dictionary that every row refers to.
"""

import struct
from typing import Any

__all__ = ["decoded_size"]

_MAGIC = b"PAR1"
_MOST_FIELDS = 2_000_000
_MOST_DEPTH = 16
_DICTIONARY, _INDEX = 2, 1
_NUMBERS = {0, 1, 2, 4, 5}
"""Physical types of a fixed width: booleans, integers and floats. All others may be long."""
_SHARED_BEGINNINGS = 7
"""An encoding of texts in which each repeats the beginning of the one before: a few bytes for one of any length."""
_WIDTH = 16
"""Bytes that one value takes in memory at most, a text's content aside."""


class _Reader:
    """Reads Thrift's compact form into dictionaries by field number."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self.content, self.at, self.end, self._fields = content, at, end, 0

    def _byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("a header ends too early")
        self.at += 1
        return self.content[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("a number of a header is too long")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> bytes:
        if count > self.end - self.at:
            raise ValueError("a header ends too early")
        self.at += count
        return self.content[self.at - count : self.at]

    def _value(self, kind: int, depth: int) -> Any:
        if kind in {9, 10, 12}:
            return self.structure(depth + 1) if kind == 12 else self._list(depth)
        if kind in {7, 8}:
            return self._skip(8 if kind == 7 else self._varint())
        if kind in {4, 5, 6}:
            return self._integer()
        if kind not in {1, 2, 3}:
            raise ValueError("a header has a field of an unknown type")
        return self._byte() if kind == 3 else kind == 1

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count, kind = head >> 4, head & 0x0F
        if count == 15:
            count = self._varint()
        if count > self.end - self.at:
            raise ValueError("a header ends too early")
        if kind in {1, 2}:
            return list(self._skip(count))
        return [self._value(kind, depth) for _ in range(count)]

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """The next structure."""
        if depth > _MOST_DEPTH:
            raise ValueError("a header is nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            self._fields += 1
            if self._fields > _MOST_FIELDS:
                raise ValueError("a header has too many fields")
            number = number + (head >> 4) if head >> 4 else self._integer()
            found[number] = self._value(head & 0x0F, depth)
        return found


def decoded_size(content: bytes) -> tuple[int, int]:
    """Rows of a file, and an upper bound of the bytes it takes when all of it is decoded.

    Raises:
        ValueError: It is not a Parquet file, or its headers contradict each other.
    """
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("it does not begin and end as a Parquet file does")
    (length,) = struct.unpack("<I", content[-8:-4])
    if length > len(content) - 12:
        raise ValueError("its footer is longer than the file")
    try:
        footer = _Reader(content, len(content) - 8 - length, len(content) - 8).structure()
        rows = sum(int(group[3]) for group in footer[4])
        if rows != int(footer[3]) or any(group[3] < 0 for group in footer[4]):
            raise ValueError("its row groups do not have the rows it names")
        leaves = [one.get(1) for one in footer[2] if not one.get(5)]
        if any(len(group[1]) != len(leaves) for group in footer[4]):
            raise ValueError("a row group has other columns than the file")
        chunks = [
            (chunk[3], int(group[3]), {chunk[3][1], leaf} <= _NUMBERS)
            for group in footer[4] for chunk, leaf in zip(group[1], leaves, strict=True)
        ]  # fmt: skip
        return rows, sum(_chunk_size(content, *chunk) for chunk in chunks)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("its headers lack something") from error


def _chunk_size(content: bytes, chunk: dict[int, Any], rows: int, numbers: bool) -> int:
    """Bytes of one column of one row group: its pages, its values, and for each value the longest text there can be."""
    if chunk[5] != rows:
        raise ValueError("a column has another number of values than rows")
    at = min(offset for number in (9, 11) if (offset := chunk.get(number)) is not None)
    end = at + chunk[7]
    if at < 4 or chunk[7] < 0 or end > len(content):
        raise ValueError("a column lies outside of the file")
    pages = longest = values = 0
    while at < end:
        reader = _Reader(content, at, end)
        page = reader.structure()
        if page[2] < 0 or page[3] < 0 or reader.at + page[3] > end:
            raise ValueError("a page lies outside of its column")
        pages, at = pages + page[2], reader.at + page[3]
        if page[1] == _DICTIONARY:
            longest += page[2]
        elif page[1] != _INDEX:
            values += _values(page)
    if values != rows:
        raise ValueError("its pages have another number of values than rows")
    return int(pages + rows * (_WIDTH + (0 if numbers else longest)))


def _values(page: dict[int, Any]) -> int:
    """How many values a page has, in either form of its header."""
    head, encoding = (page[5], 2) if page.get(5) else (page.get(8) or {}, 4)
    if head[encoding] == _SHARED_BEGINNINGS:
        raise ValueError("its texts are written as differences, which may be of any length")
    return int(head[1])
