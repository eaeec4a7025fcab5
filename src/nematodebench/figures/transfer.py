"""Continual runs: what learning one environment did to the others."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure, Row, make
from nematodebench.figures.style import INK

__all__ = ["transfer_matrix"]


def transfer_matrix(report: Mapping[str, Any]) -> Figure:
    """Success on every environment after learning each, of the report that ``continual --output`` writes."""
    found, names = report.get("transfer"), list(report["environments"])
    if not found:
        raise UsageError("The continual run has no tests between environments: leave --test-episodes above 0.")
    rows: list[Row] = [
        {"after": after, "on": on, "step": k, "value": cell["mean"], "low": _share(low), "high": _share(high)}
        for k, (after, line) in enumerate(zip(names, found["matrix"], strict=True))
        for on, cell in zip(names, line, strict=True)
        for low, high in [cell["ci95"] or (None, None)]
    ]  # fmt: skip
    caption = (
        f"Success of {report['brain']} on the environment of the column, tested without learning after it learned the "
        f"environment of the row; {report['runs']} runs, 95 % intervals, which end at 0 and 1. Below the diagonal: "
        "what was kept."
    )
    return make("transfer", "Transfer between environments", caption, rows, _chart(names))


def _share(end: float | None) -> float | None:
    """The end of an interval of a share: Student's may lie beyond what a share can be, and one run has none."""
    return None if end is None or math.isnan(end) else min(1.0, max(0.0, end))


def _chart(names: Sequence[str]) -> Any:
    import altair as alt

    top = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, labelLimit=110)
    side = alt.Axis(ticks=False, domain=False, labelColor=INK)
    base = alt.Chart().encode(
        x=alt.X("on:N", sort=list(names), title="success on", axis=top),
        y=alt.Y("after:N", sort=list(names), title="after learning", axis=side),
    )
    scale = alt.Scale(domain=[0, 1], range=["#f4f4f2", "#5aa5d0"], interpolate="rgb")
    cell = base.mark_rect(cornerRadius=2).encode(color=alt.Color("value:Q", scale=scale, legend=None))
    text = base.mark_text(fontWeight="bold", color="#111111", dy=-7).encode(text=alt.Text("value:Q", format=".2f"))
    words = "isValid(datum.low) ? format(datum.low, '.2f') + ' to ' + format(datum.high, '.2f') : 'one run'"
    below = base.transform_calculate(words=words).mark_text(fontSize=10.5, color="#333333", dy=8).encode(text="words:N")
    return alt.layer(cell, text, below).properties(width=alt.Step(104), height=alt.Step(44))
