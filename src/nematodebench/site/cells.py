"""Cells of tables: scores as dots with whiskers on a common axis from floor to ceiling."""

import math
from collections.abc import Mapping
from typing import Any

from nematodebench.records.schemas import NormalisedRecord
from nematodebench.scoring import AnchoredScore
from nematodebench.stats import StatValue, with_interval
from nematodebench.tasks.anchoring import TaskAnchors
from nematodebench.tasks.ranked import lines_of

__all__ = ["axis_lines", "dot", "interval", "number", "stat", "stored_stat"]

_LOW, _HIGH = -0.05, 1.05
"""The axis goes a little beyond floor and ceiling, so that dots there are whole."""
_DIGITS = 3
"""Pages show no more decimals; files of data have all."""


def _place(share: float) -> float:
    """Per cent of the cell's width."""
    return round(100 * (min(max(share, _LOW), _HIGH) - _LOW) / (_HIGH - _LOW), 2)


def dot(value: float, ci95: tuple[float, float] | None) -> dict[str, float]:
    """Where a score and its interval are, in per cent of the cell."""
    low, high = (value, value) if ci95 is None or math.isnan(ci95[0]) else ci95
    left, right = _place(low), _place(high)
    return {"at": _place(value), "left": left, "width": round(right - left, 2)}


def number(norm: NormalisedRecord | AnchoredScore | None) -> dict[str, Any] | None:
    """The dot of a normalised score; None without one."""
    return None if norm is None else dot(norm.unclamped, norm.ci95)


def axis_lines(anchors: TaskAnchors | None) -> list[dict[str, Any]]:
    """Floor, ceiling, null, blind policy and reference as lines through a column."""
    if anchors is None:
        return []
    lines = lines_of(anchors)
    found = {"edge0": 0.0, "edge1": 1.0, "blind": lines.blind, "reference": lines.reference}
    return [{"role": role.rstrip("01"), "at": _place(share)} for role, share in found.items() if share is not None]


def stat(value: StatValue | None) -> str:
    """A value with half its interval; a dash where there is none."""
    return "–" if value is None else value.text(_DIGITS)


def interval(value: float, ci95: tuple[float, float] | None, doubt: str = "") -> str:
    """A value with half its interval, and with the mark where there is a doubt."""
    return with_interval(value, ci95, doubt, digits=_DIGITS)


def stored_stat(value: Mapping[str, Any]) -> str:
    """A value of a stored file, shown as tables show values; older files do not tell how sure an interval is."""
    known = {name: value[name] for name in ("mean", "std", "min", "max", "n", "kind", "doubt") if name in value}
    low, high = value["ci95"] or (math.nan, math.nan)
    return stat(StatValue(**known, ci95=(low, high)))
