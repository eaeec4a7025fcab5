"""Prints JSON, and tables as Markdown that reads well in a terminal and can be pasted into an issue. Imports little."""

import csv
import dataclasses
import datetime
import itertools
import json
import math
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from nematodebench.cli.tables import available_width, csv_output, fit, folded
from nematodebench.records.plain_text import uncomputed, without_commands
from nematodebench.vocabulary import MARK

__all__ = ["FROZEN_MARK", "json_text", "print_json", "print_page", "print_table", "printable"]

FROZEN_MARK = "(*)"
_FROZEN_MEANING = (
    "A policy that was trained elsewhere does not learn here. This column only says how early its success rate over "
    "20 episodes reached 80 %."
)


def print_json(content: Any) -> None:
    """Prints one JSON document on standard output."""
    # Escaped, a workflow's log does not take a text for a command of its own.
    sys.stdout.write(json_text(content).replace("##[", "#\\u0023[") + "\n")


def json_text(content: Any) -> str:
    """Content as one JSON document."""
    return json.dumps(_plain(content), indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    """The same in what JSON knows. What is not a number is null, and so is an interval without ends."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        unknown = len(value) == 2 and all(isinstance(one, float) and math.isnan(one) for one in value)
        return None if unknown else [_plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int)) else _plain(_as_json(value))


def _as_json(value: Any) -> Any:
    """Plain values for what JSON does not know; never the way Python shows it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    for name in ("model_dump", "tolist"):  # a pydantic model; an array or a number of NumPy
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (PurePath, datetime.date)):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a Markdown table with aligned columns, and what its marks mean; with ``--csv`` the bare table."""
    header, rows = [printable(cell) for cell in header], [[printable(cell) for cell in row] for row in rows]
    output = csv_output()
    if output is not None:
        csv.writer(output, lineterminator="\n").writerows([*map(uncomputed, row)] for row in (header, *rows))
        return
    shown = _print_fitting(header, rows)
    if any(MARK in cell for row in rows for cell in row[:shown]):
        from nematodebench.stats import MARK_MEANING

        print("\n" + folded(MARK_MEANING))
    if any(FROZEN_MARK in cell for row in rows for cell in row[:shown]):
        print("\n" + folded(f"{FROZEN_MARK} {_FROZEN_MEANING}"))


def _print_fitting(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Prints what there is room for; returns how many columns that is."""
    (names, *lines), widths, hidden = fit(header, rows, available_width())
    for line in (names, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    if hidden:
        print("\n" + folded(f"No room for {', '.join(hidden)}: --wide shows all columns."))
    return len(widths)


def print_page(lines: Sequence[str]) -> None:
    """Prints a page of Markdown. A terminal gets aligned tables and folded lines, ``--csv`` the tables alone."""
    output = csv_output()
    if available_width() is None and output is None:
        print("\n".join(lines))
        return
    for is_table, group in itertools.groupby(lines, key=lambda line: line.startswith("|")):
        part = list(group)
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part]
        if is_table and output is not None:
            csv.writer(output, lineterminator="\n").writerows([cells[0], *cells[2:]])
        elif is_table and len({len(row) for row in cells}) == 1:
            _print_fitting(cells[0], cells[2:])
        else:
            print("\n".join(folded(line) if line.strip() else "" for line in part))


def printable(text: str) -> str:
    """Replaces what a terminal or a workflow's log would act on: text from a submission never reaches them raw."""
    shown = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return without_commands(shown)
