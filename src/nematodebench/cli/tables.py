"""Makes tables fit a terminal: long texts go over several lines, columns without room are left out and named."""

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

__all__ = ["available_width", "csv_output", "fit", "folded", "show_wide", "tables_as_csv"]

_WORDY, _NARROWEST = 36, 24
_wide = False
_csv: TextIO | None = None


@contextlib.contextmanager
def tables_as_csv() -> Iterator[None]:
    """Tables go to standard output as CSV, with all columns, and everything else that is printed to standard error."""
    global _csv  # noqa: PLW0603  (one switch for a process that serves one command line)
    _csv = sys.stdout
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _csv = None


def csv_output() -> TextIO | None:
    """Where tables are written as CSV; None where they are printed."""
    return _csv


def show_wide() -> None:
    """From now on every table has all its columns, whatever the terminal is like."""
    global _wide  # noqa: PLW0603  (one switch for a process that serves one command line)
    _wide = True


def available_width() -> int | None:
    """The columns of the terminal; None where every table has room: with ``--wide``, in files and in pipes.

    A file or a pipe has no width of its own, and nothing may be missing there. It gets one if the environment says so.
    """
    if _wide:
        return None
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else None


def folded(text: str) -> str:
    """A text in lines that fit the terminal; one line where there is no width."""
    width = available_width()
    return text if width is None else textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def fit(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None
) -> tuple[list[list[str]], list[int], list[str]]:
    """The lines of a table, the widths of its columns, and the names of those that are left out.

    Args:
        header: Names of the columns; the most important come first.
        rows: The cells.
        width: What there is room for; None for a table of any width.
    """
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    if width is None:
        return table, widths, []
    _narrow(table, widths, width)
    kept = len(widths)
    while kept > 2 and _total(widths[:kept]) > width:
        kept -= 1
    lines = [line for row in table for line in _wrapped(row[:kept], widths)]
    return lines, widths[:kept], list(header[kept:])


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 3 * len(widths) + 1


def _narrow(table: list[list[str]], widths: list[int], room: int) -> None:
    """Takes from columns of text what is too much, from the widest first."""
    wordy = [k for k, width in enumerate(widths) if width > _WORDY and any(" " in row[k] for row in table)]
    for k in sorted(wordy, key=lambda k: -widths[k]):
        widths[k] = max(_NARROWEST, min(widths[k], widths[k] - _total(widths) + room))


def _wrapped(row: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=False)]
    return [[cell[k] if k < len(cell) else "" for cell in cells] for k in range(max(map(len, cells)))]
