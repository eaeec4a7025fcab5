"""Episode records in as few bytes as can be had without losing a bit: the form in which published sessions are kept.

A packed table is an xz file. Its first line is a JSON text that says what the rest is; the rest is the columns, one
after another, as integers (:mod:`nematodebench.records.integers`). A column may be written as its difference from (or
sum with) one that comes before it, and in the order of one that comes before it: steps say much about the reward, and
numbers that are sorted by something they depend on are easier to compress.
"""

import lzma
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from nematodebench.records.episodes import Matrices, PhaseColumns
from nematodebench.records.integers import Ints, Numbers, cost, join, pack_ints, split, unpack_ints
from nematodebench.records.schemas import Record

__all__ = ["MAX_CONTENT", "MAX_ROWS", "PACKED", "pack_episodes", "packed_phases", "unpack_episodes"]

PACKED = "episodes.xz"
"""Name of the file in a session's folder."""
MAX_CONTENT = 200_000_000
MAX_ROWS = 5_000_000
_MAX_HEAD = 8_000_000
_MAX_MEMORY = 256 << 20
_MAX_COLUMNS = 100
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 16, "lc": 0, "lp": 0, "pb": 0}]
"""Neither the neighbours of a byte nor its place say anything about it, and no text repeats over long distances."""
_SAMPLE = 2000
"""About how many rows it takes to find the best way to write a column."""
_EPISODE = "(episode)"
"""The number of the episode, which every row has without a column."""
_Tables = dict[int, dict[str, NDArray[np.float64]]]


class _Block(Record):
    """How integers became bytes: see :func:`nematodebench.records.integers.pack_ints`."""

    least: int = Field(0, ge=-(2**63), lt=2**63)
    steps: int = Field(0, ge=0, lt=2**16)
    step_bytes: int = Field(0, ge=0, le=8)
    bytes: int = Field(0, ge=0, le=8)


class _Column(Record):
    """How a column is written: minus ``sign`` times another, in the order of a third."""

    column: str = ""
    scale: int = Field(1, ge=0, le=10**9)
    minus: str = ""
    sign: Literal[-1, 0, 1] = 0
    order: str = ""
    whole: _Block = _Block()
    rest: _Block = _Block()

    def applied(self, values: Ints, known: Mapping[str, Ints]) -> Ints:
        """The column as it is written."""
        less = values - self.sign * known[self.minus] if self.minus else values
        return less[self._places(known)] if self.order else less

    def undone(self, written: Ints, known: Mapping[str, Ints]) -> Ints:
        """The column as it was."""
        values = written
        if self.order:
            values = np.empty_like(written)
            values[self._places(known)] = written
        return values + self.sign * known[self.minus] if self.minus else values

    def _places(self, known: Mapping[str, Ints]) -> NDArray[np.intp]:
        return np.argsort(known[self.order], kind="stable")


class _Phase(Record):
    """The episodes of one phase: what is recorded, and how many episodes each run has."""

    phase: str
    columns: list[str] = Field(max_length=_MAX_COLUMNS)
    terminations: list[str] = Field([], max_length=1000)
    episodes: list[int]
    written: list[_Column] = Field(max_length=_MAX_COLUMNS)


class _Head(Record):
    """The first line."""

    format: Literal["nematodebench episodes"]
    version: Literal[1]
    runs: list[int]
    phases: list[_Phase] = Field(max_length=1000)


def _compressed(content: bytes) -> bytes:
    return lzma.compress(content, check=lzma.CHECK_CRC64, filters=_FILTERS)


def _best_way(values: Ints, known: Mapping[str, Ints]) -> _Column:
    """The way that gives the fewest bytes for a sample of rows."""
    some = slice(None, None, max(1, values.size // _SAMPLE))
    values, known = values[some], {name: column[some] for name, column in known.items()}
    if values.size == 0 or values.min() == values.max():
        return _Column()
    differences = [_Column(minus=name, sign=sign) for name in known if name != _EPISODE for sign in (1, -1)]
    cheap = min([_Column(), *differences], key=lambda way: cost(way.applied(values, known)))
    ways = [way.model_copy(update={"order": order}) for way in (_Column(), cheap) for order in ("", *known)]
    return min(ways, key=lambda way: len(_compressed(pack_ints(way.applied(values, known))[1])))


def _write_columns(table: Mapping[str, Numbers], episode: Ints) -> Iterator[tuple[_Column, bytes]]:
    """Cheap columns come first: the dear ones can lean on them."""
    known = {_EPISODE: episode}
    for name, numbers in sorted(table.items(), key=lambda pair: cost(pair[1].whole)):
        way = _best_way(numbers.whole, known)
        whole, content = pack_ints(way.applied(numbers.whole, known))
        known[name] = numbers.whole
        rest, more = pack_ints(numbers.rest[_by_size(numbers.whole)])
        found = {"column": name, "scale": numbers.scale, "whole": _Block(**whole), "rest": _Block(**rest)}
        yield way.model_copy(update=found), content + more


def _by_size(whole: Ints) -> NDArray[np.intp]:
    """Rounding errors grow with the numbers they belong to."""
    return np.argsort(np.abs(whole), kind="stable")


def _episode_numbers(counts: Sequence[int]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(count) for count in counts)])


def pack_episodes(phases: Sequence[PhaseColumns], runs: Mapping[int, Matrices]) -> bytes:
    """The records of a session's runs as the content of a file."""
    described, contents = [], []
    for phase in phases:
        tables = [runs[run][phase.name] for run in sorted(runs)]
        rows = np.concatenate([np.empty((0, len(phase.columns))), *tables])
        counts = [len(table) for table in tables]
        table = {name: split(rows[:, k]) for k, name in enumerate(phase.columns)}
        written = list(_write_columns(table, _episode_numbers(counts)))
        contents += [content for _, content in written]
        described.append(
            _Phase(
                phase=phase.name, columns=list(phase.columns), terminations=list(phase.terminations), episodes=counts,
                written=[column for column, _ in written],
            )
        )  # fmt: skip
    head = _Head(format="nematodebench episodes", version=1, runs=sorted(runs), phases=described)
    return _compressed(head.model_dump_json(exclude_defaults=True).encode() + b"\n" + b"".join(contents))


def _opened(content: bytes) -> tuple[_Head, bytes]:
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MAX_MEMORY)
    try:
        text = reader.decompress(content, max_length=MAX_CONTENT)
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError("it is not a whole xz file") from error
    if not reader.eof or reader.unused_data:
        raise ValueError(f"it ends too early or too late, or holds more than {MAX_CONTENT:,} bytes")
    first, _, rest = text.partition(b"\n")
    if len(first) > _MAX_HEAD:
        raise ValueError(f"its first line has {len(first):,} bytes: at most {_MAX_HEAD:,} are read")
    try:
        return _Head.model_validate_json(first, strict=True), rest
    except ValidationError as error:
        raise ValueError("its first line does not describe a table of episodes") from error


def packed_phases(content: bytes) -> list[PhaseColumns]:
    """What a packed table records."""
    head, _ = _opened(content)
    return [PhaseColumns(part.phase, tuple(part.columns), tuple(part.terminations)) for part in head.phases]


class _Bytes:
    """Gives bytes from first to last."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, count: int) -> bytes:
        """The next ones."""
        taken = self._content[self._at : self._at + count]
        if len(taken) < count:
            raise ValueError("it ends too early")
        self._at += count
        return taken

    @property
    def done(self) -> bool:
        """Whether none is left."""
        return self._at == len(self._content)


def unpack_episodes(content: bytes, most_rows: int = MAX_ROWS) -> _Tables:
    """The matrices of every run, as the run loop wrote them. ValueError where the file is not a table of episodes."""
    head, rest = _opened(content)
    source, tables = _Bytes(rest), {run: dict[str, NDArray[np.float64]]() for run in head.runs}
    if len(tables) < len(head.runs) or any(len(part.episodes) != len(tables) for part in head.phases):
        raise ValueError("its runs are not told apart")
    rows = sum(sum(part.episodes) for part in head.phases)
    if any(count < 0 for part in head.phases for count in part.episodes) or rows > min(most_rows, MAX_ROWS):
        raise ValueError(f"it has {rows:,} rows: at most {min(most_rows, MAX_ROWS):,} are read")
    for part in head.phases:
        table = _read_columns(part, source)
        for run, end, count in zip(tables, np.cumsum(part.episodes), part.episodes, strict=True):
            tables[run][part.phase] = np.ascontiguousarray(table[end - count : end])
    if not source.done:
        raise ValueError("it ends too late")
    return tables


def _read_columns(part: _Phase, source: _Bytes) -> NDArray[np.float64]:
    known, found = {_EPISODE: _episode_numbers(part.episodes)}, {}
    count = known[_EPISODE].size
    for way in part.written:
        if not {way.minus, way.order} <= {"", *known}:
            raise ValueError(f"column {way.column!r} leans on one that does not come before it")
        whole = way.undone(unpack_ints(way.whole.model_dump(), count, source.take), known)
        rest = np.empty(count, dtype=np.int64)
        rest[_by_size(whole)] = unpack_ints(way.rest.model_dump(), count, source.take)
        known[way.column], found[way.column] = whole, join(Numbers(way.scale, whole, rest))
    if sorted(found) != sorted(part.columns) or len(part.written) != len(part.columns):
        raise ValueError(f"its columns are not those it names for phase {part.phase!r}")
    return np.stack([found[name] for name in part.columns], axis=1) if found else np.empty((count, 0))
