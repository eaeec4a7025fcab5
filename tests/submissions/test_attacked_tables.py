"""Tables of episodes that were made to mislead or to break whoever reads them."""

import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from submission_workshop import SHORT, Work, copied, official_repository
from test_attacks import rejected

from nematodebench.records.parquet_size import decoded_size

Spoil = Callable[[Work], None]


# Tables that are no tables of episodes, or too large ones.
def _parquet(frame: Callable[[pl.DataFrame], pl.DataFrame], **options: Any) -> Spoil:
    def spoil(work: Work) -> None:
        frame(work.table(0)).write_parquet(work.folder(0) / "episodes.parquet", **{"compression": "zstd", **options})

    return spoil


def _bytes(change: Callable[[bytes], bytes]) -> Spoil:
    def spoil(work: Work) -> None:
        path = work.folder(0) / "episodes.parquet"
        path.write_bytes(change(path.read_bytes()))

    return spoil


def _long_words(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(phase=pl.lit("x" * 100_000))


TABLES: dict[str, tuple[Spoil, str]] = {
    "long_word_in_every_row": (_parquet(_long_words), "in memory: it is not read"),
    "many_rows": (_parquet(lambda frame: pl.concat([frame] * 700)), "has 1,050,000 rows: pattern_memory_easy-v1 has"),
    "many_columns": (
        _parquet(lambda frame: frame.with_columns(pl.lit(0.0).alias(f"c{k}") for k in range(300))), "columns"
    ),
    "list_column": (_parquet(lambda frame: frame.with_columns(reward=pl.lit([1.0]))), "columns 'reward' are of a type"),
    "struct_column": (
        _parquet(lambda frame: frame.with_columns(reward=pl.struct("steps", "recalled"))), "are of a type that is not"
    ),
    "date_column": (
        _parquet(lambda frame: frame.with_columns(reward=pl.lit(0).cast(pl.Datetime))), "are of a type that is not read"
    ),
    "text_for_numbers": (
        _parquet(lambda frame: frame.with_columns(pl.col("reward").cast(pl.String))), "'reward' is String, not Float64"
    ),
    "wide_integers": (_parquet(lambda frame: frame.with_columns(pl.col("steps").cast(pl.Int64))), "'steps' is Int64"),
    "no_rows": (_parquet(lambda frame: frame.clear()), "has 0 runs, not runs 0 to 49"),
    "rows_of_another_phase": (
        _parquet(lambda frame: pl.concat([frame[:-1], frame[-1:].with_columns(phase=pl.lit("bonus"))])),
        "rows that belong to no phase",
    ),
    "negative_run": (_parquet(lambda frame: frame.with_columns(run=-pl.col("run"))), "not runs 0 to 49"),
    "columns_in_another_order": (_parquet(lambda frame: frame.select(sorted(frame.columns))), "their order is another"),
    "magic_only": (_bytes(lambda text: b"PAR1PAR1"), "is not a readable Parquet file"),
    "footer_longer_than_the_file": (
        _bytes(lambda text: text[:-8] + (2**31).to_bytes(4, "little") + b"PAR1"), "is not a readable Parquet file"
    ),
    "footer_of_noise": (
        _bytes(lambda text: text[:-1008] + bytes(range(250)) * 4 + text[-8:]), "is not a readable Parquet file"
    ),
    "compressed_archive": (_bytes(lzma.compress), "is not a readable Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), TABLES.values(), ids=list(TABLES))
def test_a_table_that_is_none_is_refused_before_it_is_decoded(tmp_path: Path, spoil: Spoil, message: str) -> None:
    def signed(work: Work) -> None:
        spoil(work)
        work.sign(0)

    assert message in rejected(tmp_path, signed)


def test_the_size_of_a_table_is_known_before_it_is_read() -> None:
    frame = pl.DataFrame({"run": range(1000), "phase": ["train"] * 1000, "reward": [0.5] * 1000})
    sizes = {}
    for name, table in (("short", frame), ("long", frame.with_columns(phase=pl.lit("x" * 100_000)))):
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression="zstd")
        sizes[name] = decoded_size(buffer.getvalue())
    assert sizes["short"][0] == sizes["long"][0] == 1000
    assert frame.estimated_size() <= sizes["short"][1] < 100_000
    assert sizes["long"][1] >= 100_000_000


def test_headers_that_lie_about_their_pages_are_noticed() -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"reward": [0.5] * 1000}).write_parquet(buffer, compression="zstd")
    content = bytearray(buffer.getvalue())
    found = 0
    for place in range(4, len(content) - 8):
        spoilt = content[:place] + bytes([content[place] ^ 0x40]) + content[place + 1 :]
        try:
            decoded_size(bytes(spoilt))
        except ValueError:
            found += 1
    assert found > 0  # and nothing but ValueError came out


# Packed tables.
def _head(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def spoil(content: bytes) -> bytes:
        head, _, rest = lzma.decompress(content).partition(b"\n")
        parsed = json.loads(head)
        change(parsed)
        return lzma.compress(json.dumps(parsed).encode() + b"\n" + rest)

    return spoil


PACKED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "rows_without_end": (_head(lambda head: head["phases"][0].update(episodes=[10**12] * 50)), "rows: at most 1,500"),
    "negative_rows": (_head(lambda head: head["phases"][0].update(episodes=[-30] * 50)), "rows: at most"),
    "run_twice": (_head(lambda head: head["runs"].__setitem__(0, 1)), "its runs are not told apart"),
    "run_too_much": (_head(lambda head: head["runs"].append(50)), "its runs are not told apart"),
    "other_format": (_head(lambda head: head.update(version=2)), "does not describe a table of episodes"),
    "unknown_column": (
        _head(lambda head: head["phases"][0]["columns"].__setitem__(0, "charm")), "the columns that the record names"
    ),
    "column_twice": (
        _head(lambda head: head["phases"][0]["columns"].__setitem__(0, "steps")), "the columns that the record names"
    ),
    "unknown_phase": (_head(lambda head: head["phases"][0].update(phase="bonus")), "does not"),
    "leans_on_itself": (
        _head(lambda head: head["phases"][0]["written"][0].update(minus="charm", sign=1)), "leans on one that does not"
    ),
    "endings_that_do_not_exist": (
        _head(lambda head: head["phases"][0].update(terminations=["won"])), "ended in ways that"
    ),
    "bomb": (lambda content: lzma.compress(lzma.decompress(content) + b"\0" * 201_000_000, preset=0), "more than 200,"),
    "tail": (lambda content: content + b"tail", "ends too early or too late"),
    "bytes_left_over": (lambda content: lzma.compress(lzma.decompress(content) + b"\0"), "it ends too late"),
    "half": (lambda content: content[: len(content) // 2], "ends too early"),
    "noise": (lambda content: b"\xfd7zXZ\0" + bytes(1000), "it is not a whole xz file"),
    "head_without_end": (lambda content: lzma.compress(b"[" * 9_000_000), "its first line has 9,000,000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), PACKED.values(), ids=list(PACKED))
def test_a_packed_table_that_is_none_is_refused(tmp_path: Path, change: Callable[[bytes], bytes], message: str) -> None:
    from nematodebench.submissions.guarded import verdict_on

    work = Work(copied(official_repository("null_random", SHORT), tmp_path / "repo"))
    path = work.folder(0) / "episodes.xz"
    path.write_bytes(change(path.read_bytes()))
    found = verdict_on(work.path, work.root)
    assert not found.passed
    assert message in " ".join(found.reasons)


def test_texts_that_repeat_the_one_before_are_not_read() -> None:
    """613 bytes that unpack to 120 MB: each of 2,000 texts is the one before and a little more."""
    content = (Path(__file__).parents[1] / "data" / "shared_beginnings.parquet").read_bytes()
    assert len(content) < 1000
    with pytest.raises(ValueError, match="written as differences, which may be of any length"):
        decoded_size(content)


def test_no_altered_bit_makes_a_table_look_smaller_than_it_is() -> None:
    """Types, offsets and counts in the headers are somebody else's words too."""
    buffer = io.BytesIO()
    pl.DataFrame({"run": [1] * 300, "phase": ["x" * 5000] * 300}).write_parquet(buffer, row_group_size=100)
    content = buffer.getvalue()
    for place in range(8 * len(content)):
        spoilt = bytearray(content)
        spoilt[place // 8] ^= 1 << place % 8
        try:
            promised = decoded_size(bytes(spoilt))[1]
        except ValueError:
            continue
        if promised < 1_500_000:
            try:
                found = pl.read_parquet(io.BytesIO(spoilt)).estimated_size()
            except (Exception, pl.exceptions.PanicException):
                continue
            assert found <= promised
