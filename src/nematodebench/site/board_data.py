"""The board as files of data, with every digit: CSV for spreadsheets, JSON for programs."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.records.plain_text import uncomputed

__all__ = ["board_csv", "board_json"]

_TEXTS = ("task", "rank", "group", "brain", "class", "score", "normalised", "claimed", "runs", "contributor",
          "verified", "date", "status", "id")  # fmt: skip
_NUMBERS = {"score_mean": "value", "score_low": "low", "score_high": "high", "claimed_mean": "claimed_value"}
"""Columns with numbers, and what they are called in a line of the board."""


def board_csv(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """One row an entry."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*_TEXTS, *_NUMBERS], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: uncomputed(value) for key, value in row.items()} for row in _rows(lines))
    return out.getvalue().encode()


def board_json(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """The same rows."""
    return (json.dumps({"entries": _rows(lines)}, indent=1, sort_keys=True) + "\n").encode()


def _rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: line[name] for name in _TEXTS} | {name: line[key] for name, key in _NUMBERS.items()} for line in lines
    ]
