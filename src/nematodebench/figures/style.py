"""How figures look: colours by role, hairlines, one font whose widths are the same on every machine."""

from collections.abc import Sequence
from typing import Any

__all__ = ["FONT", "INK", "LINE_ROLES", "MUTED", "RULE", "RUN_OPACITY", "SERIES", "configuration", "series_colours"]

FONT = "Liberation Sans"
"""The renderer brings it along, so texts have the same width everywhere; pages replace it by the reader's own."""
INK, MUTED, RULE = "#1b1b1b", "#5f6368", "#dadce0"
SERIES = ("#0072b2", "#d55e00", "#cc79a7", "#56b4e9", "#7a5195", "#8c6d31", "#4d4d4d", "#b0413e")
"""Brains, in order. The first four are of Okabe and Ito's palette; its green and orange are kept for lines."""
LINE_ROLES = {"reference": "#009e73", "blind": "#e69f00", "null": "#8a8a8a", "floor": "#8a8a8a", "ceiling": "#5f6368"}
"""What scores are read against has the same colour in every figure."""
RUN_OPACITY = 0.22


def series_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each brain, in the order given; a ninth brain begins again with the first colour."""
    return {name: SERIES[k % len(SERIES)] for k, name in enumerate(dict.fromkeys(names))}


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
        "axisX": {"grid": False},
        "legend": {**text, "titleFontWeight": "normal", "symbolStrokeWidth": 2},
        "header": {**text, "labelFontWeight": "bold", "labelColor": INK, "labelAnchor": "start"},
        "title": {"anchor": "start", "fontSize": 14, "fontWeight": "bold", "color": INK, "subtitleColor": MUTED,
                  "subtitleFontSize": 12, "subtitlePadding": 4, "offset": 12},
        "text": {"fontSize": 12, "color": INK},
    }  # fmt: skip
