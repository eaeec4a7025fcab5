"""How figures look: colours by role, hairlines, one font whose widths are the same on every machine."""

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

__all__ = [
    "DARK", "FONT", "INK", "LIGHT", "LINE_ROLES", "MUTED", "PARTS", "RULE", "RUN_OPACITY", "SERIES", "SERIES_DARK",
    "configuration", "series_colours", "series_dashes",
]  # fmt: skip

FONT = "Liberation Sans"
"""The renderer brings it along, so texts have the same width everywhere; pages replace it by the reader's own."""
_PALETTE = json.loads((resources.files("nematodebench.drawing") / "palette.json").read_text(encoding="utf-8"))
LIGHT: dict[str, Any] = _PALETTE["light"]
DARK: dict[str, Any] = _PALETTE["dark"]
INK, MUTED, RULE = LIGHT["roles"]["ink"], LIGHT["roles"]["muted"], LIGHT["hairline"]
SERIES = (LIGHT["roles"]["brain"], "#d55e00", "#009e73", "#56b4e9", "#7a5195", "#8c6d31", "#4d4d4d", "#b0413e")
"""Brains, in order. Orange, pink and grey are kept for the lines that scores are read against."""
SERIES_DARK = (DARK["roles"]["brain"], "#ff8a4c", "#2fcb9e", "#9ad4f5", "#b99ad6", "#cfae6a", "#c8c8c8", "#e28a86")
PARTS = ("#08519c", "#3182bd", "#7db8da", "#b7d4e8")
"""The parts of a whole, from the weightiest to the lightest."""
LINE_ROLES = {name: LIGHT["roles"][name] for name in ("reference", "blind", "null")}
"""What scores are read against has the same colour in every figure."""
RUN_OPACITY = 0.25


_ROLES = {"null_random": "null", "motionless": "null", "gradient_follower": "reference"}
"""Policies that have a role have its colour, here as in tables."""


def series_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each brain, in the order given; a ninth brain begins anew, and :func:`series_dashes` tells it."""
    kept = {name: LINE_ROLES[_ROLES[name.partition(" ")[0]]] for name in names if name.partition(" ")[0] in _ROLES}
    brains = [name for name in dict.fromkeys(names) if name not in kept]
    chosen = {name: SERIES[k % len(SERIES)] for k, name in enumerate(brains)} | kept
    return {name: chosen[name] for name in dict.fromkeys(names)}


def series_dashes(names: Sequence[str]) -> dict[str, list[int]]:
    """How lines of brains are drawn: those that have a colour for the second time are dashed."""
    chosen, seen, dashes = series_colours(names), set[str](), dict[str, list[int]]()
    for name, colour in chosen.items():
        dashes[name] = [6, 3] if colour in seen else [1, 0]
        seen.add(colour)
    return dashes


def configuration() -> dict[str, Any]:
    """The part of a specification that all figures share."""
    text = {"labelColor": MUTED, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
    axis = {**text, "titleFontWeight": "normal", "domainColor": RULE, "tickColor": RULE, "gridColor": RULE,
            "gridOpacity": 0.6, "titlePadding": 8, "labelPadding": 4}  # fmt: skip
    return {
        "font": FONT,
        "background": None,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"grid": False, "labelFlush": False},
        "legend": {**text, "titleFontWeight": "normal", "symbolStrokeWidth": 2},
        "header": {**text, "labelFontWeight": "bold", "labelColor": INK, "labelAnchor": "start"},
        "title": {"anchor": "start", "fontSize": 14, "fontWeight": "bold", "color": INK, "subtitleColor": MUTED,
                  "subtitleFontSize": 12, "subtitlePadding": 4, "offset": 12},
        "text": {"fontSize": 12, "color": INK},
    }  # fmt: skip
