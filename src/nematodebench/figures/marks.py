"""Parts that several figures share: colours of brains, names at the ends of lines, what scores are read against."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.figures.figure import Row
from nematodebench.figures.style import LINE_ROLES, MUTED, series_colours
from nematodebench.tasks.anchoring import TaskAnchors
from nematodebench.tasks.ranked import lines_of

__all__ = ["DIRECT", "anchor_rows", "by_task", "colour", "line_marks", "named_ends", "spread"]

DIRECT = 4
"""So many brains are named at the ends of their lines; more would collide and are named beside the figure."""


_LETTERS = 14
"""Pixels from one name to the next below it."""


def colour(labels: Sequence[str], field: str = "brain:N", direct: int = DIRECT) -> Any:
    """The colour of brains, with a legend only where there are more than can be named at the ends of their lines."""
    import altair as alt

    chosen = series_colours(labels)
    legend = (
        None
        if len(labels) <= direct
        else alt.Legend(title=None, orient="right", labelLimit=220, symbolOpacity=1, symbolType="stroke")
    )
    return alt.Color(field, sort=None, legend=legend, scale=alt.Scale(domain=list(chosen), range=list(chosen.values())))


def spread(places: Sequence[float], gap: float, most: float) -> list[float]:
    """Places that are moved apart, so that neighbours are at least a gap from each other and all are within 0 to most.

    The order stays. Where there is no room for all of them, they lie evenly.
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    step = min(gap, most / max(1, len(places) - 1))
    moved = [0.0] * len(places)
    low = 0.0
    for k in order:
        moved[k] = low = max(low, places[k])
        low += step
    high = most
    for k in reversed(order):
        moved[k] = high = min(high, moved[k])
        high -= step
    return moved


def named_ends(
    ends: Mapping[str, tuple[float, float]], domain: tuple[float, float], size: tuple[int, int]
) -> list[Any]:
    """Names of brains beside the ends of their lines, moved apart, each with a thin line to its end.

    Args:
        ends: The last point (x, value) of each brain's median.
        domain: What the value axis shows.
        size: Of the figure, in pixels.
    """
    import altair as alt

    width, height = size
    chosen = series_colours(list(ends))
    levels = [height * (1.0 - (value - domain[0]) / (domain[1] - domain[0])) for _, value in ends.values()]
    layers = []
    for (label, (x, _)), level in zip(ends.items(), spread(levels, _LETTERS, height), strict=True):
        words = f"datum.what == 'median' && datum.brain == {json.dumps(label)} && datum.x == {x!r}"
        one = alt.Chart().transform_filter(words)
        line = one.mark_rule(strokeWidth=1.5, color=chosen[label])
        layers.append(line.encode(x=alt.value(width), x2=alt.value(width + 14), y="value:Q", y2=alt.value(level)))
        name = one.mark_text(align="left", limit=170)
        layers.append(name.encode(x=alt.value(width + 18), y=alt.value(level), text="brain:N"))
    return layers


def anchor_rows(task: str, anchors: TaskAnchors | None) -> list[Row]:
    """The lines of a task, as shares of the gap from floor to ceiling."""
    if anchors is None:
        return []
    lines = lines_of(anchors)
    found = {"null": lines.null, "blind": lines.blind, "reference": lines.reference}
    return [
        {"what": "line", "task": task, "brain": role, "value": share, "low": None, "high": None}
        for role, share in found.items()
        if share is not None
    ]


def line_marks(base: Any, labels: bool = True) -> list[Any]:
    """Vertical lines of null, blind policy and reference; names in their colours would be pale, so they are muted."""
    import altair as alt

    scale = alt.Scale(domain=list(LINE_ROLES), range=list(LINE_ROLES.values()))
    lines = base.transform_filter("datum.what == 'line'")
    rule = lines.mark_rule(strokeDash=[4, 3], strokeWidth=1.5).encode(
        x="value:Q", color=alt.Color("brain:N", scale=scale, legend=None)
    )
    # The null lies at 0 and a blind policy seldom far from it: their names go to opposite sides.
    sides = {"null": ("right", -3), "blind": ("left", 3), "reference": ("center", 0)}
    texts = [
        lines.transform_filter(f"datum.brain == '{role}'")
        .mark_text(align=align, dx=dx, baseline="bottom", dy=-4, fontSize=11, color=MUTED)
        .encode(x="value:Q", y=alt.value(0), text="brain:N")
        for role, (align, dx) in sides.items()
    ]
    return [rule, *texts] if labels else [rule]


def by_task(chart: Any, tasks: Sequence[str], shared: str = "x") -> Any:
    """The chart, or one below the other for each of several tasks; rows of one task have a scale of their own."""
    import altair as alt

    if len(tasks) == 1:
        return chart
    header = alt.Header(labelAngle=0, labelOrient="top")
    faceted = chart.facet(
        data=alt.NamedData(name="rows"), row=alt.Row("task:N", sort=list(tasks), title=None, header=header), spacing=14
    )
    return faceted.resolve_scale(**{axis: "independent" for axis in ("x", "y") if axis != shared})
