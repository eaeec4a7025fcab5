"""What a figure is: its data as plain rows, what it shows in words, and a Vega-Lite specification of them."""

import csv
import io
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from nematodebench.figures.style import configuration
from nematodebench.records.plain_text import uncomputed

__all__ = ["Figure", "Row", "Rows", "make"]

Row: TypeAlias = Mapping[str, str | float | int | None]
Rows: TypeAlias = Sequence[Row]
_DIGITS = 6
_SHARED = {"data", "datasets", "config", "$schema", "usermeta"}


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        kind: What ``nematodebench plot`` calls it.
        title: What is shown.
        caption: How to read it, and how sure it is; also what a screen reader is told.
        rows: The data, one mapping for each row, all with the same keys.
        specification: Vega-Lite, without the data.
    """

    kind: str
    title: str
    caption: str
    rows: Rows
    specification: dict[str, Any] = field(repr=False)

    def vega_lite(self, *, titled: bool = True) -> dict[str, Any]:
        """The whole specification with its data; without the title where a page writes it as text."""
        content = {**self.specification, "data": {"values": list(self.rows)}, "config": configuration()}
        if titled:
            content["title"] = {"text": self.title, "subtitle": _lines(self.caption)}
        return content

    def csv(self) -> str:
        """The data as a table."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(self.rows[0]) if self.rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: "" if value is None else uncomputed(value) for key, value in row.items()} for row in self.rows
        )
        return out.getvalue()

    def json(self) -> str:
        """The specification with its data: any Vega-Lite editor shows it."""
        return json.dumps(self.vega_lite(), indent=1, ensure_ascii=True, sort_keys=True) + "\n"


def make(kind: str, title: str, caption: str, rows: Rows, chart: Any) -> Figure:
    """A figure of an altair chart; numbers of the data keep six digits, so that they are the same everywhere."""
    specification = _bare(chart.to_dict(validate=True))
    specification["$schema"] = "https://vega.github.io/schema/vega-lite/v6.json"
    return Figure(kind, title, caption, [_rounded(row) for row in rows], specification)


def _bare(content: Any) -> Any:
    """A specification without data and settings: all parts of a figure share its rows and the common style."""
    if isinstance(content, list):
        return [_bare(part) for part in content]
    if not isinstance(content, dict):
        return content
    return {key: _bare(part) for key, part in content.items() if key not in _SHARED}


def _rounded(row: Row) -> dict[str, str | float | int | None]:
    return {key: _number(value) if isinstance(value, float) else value for key, value in row.items()}


def _number(value: float) -> float | None:
    """Six digits; a value that is unknown is missing, as JSON has no word for it."""
    return round(value, _DIGITS) if math.isfinite(value) else None


def _lines(text: str, width: int = 100) -> list[str]:
    return textwrap.wrap(text, width)
