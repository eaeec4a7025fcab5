"""Searches: the value of every trial, and which parameters mattered."""

from collections.abc import Mapping, Sequence
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure, Row, make
from nematodebench.figures.style import INK, LINE_ROLES, SERIES

__all__ = ["search_history", "search_importances"]


def search_history(result: Mapping[str, Any]) -> Figure:
    """Every trial, the best so far, and what champion and default are worth on held-out seeds."""
    trials = result.get("history")
    if not trials:
        raise UsageError("The search has no list of its trials: `nematodebench search --resume` writes it anew.")
    rows: list[Row] = []
    best: float | None = None
    for trial in trials:
        done = trial["state"] == "complete"
        if done and trial["value"] is not None:
            best = trial["value"] if best is None else max(best, trial["value"])
        rows.append({"what": "trial" if done else "given up", "trial": trial["number"], "value": trial["value"],
                     "best": best, "low": None, "high": None})  # fmt: skip
    for name in ("champion", "default"):
        score = result[f"{name}_score"]
        rows.append({"what": name, "trial": None, "value": score["mean"], "best": None, "low": score["ci95"][0],
                     "high": score["ci95"][1]})  # fmt: skip
    caption = (
        "Dots: trials on the seeds of the search; grey crosses were given up early. Line: the best so far. Bands: "
        f"champion and default on held-out seeds with their 95 % intervals. Verdict: {result['verdict']}."
    )
    title = f"Search of {result['brain']} on {result['task']}"
    above = "champion" if result["champion_score"]["mean"] >= result["default_score"]["mean"] else "default"
    return make("search", title, caption, rows, _history_chart(str(result["score"]), above))


def _history_chart(score: str, above: str) -> Any:
    import altair as alt

    y = alt.Y("value:Q", title=score.replace("_", " "), scale=alt.Scale(zero=False))
    x = alt.X("trial:Q", title="trial", axis=alt.Axis(tickMinStep=1))
    base = alt.Chart()
    roles = alt.Color("what:N", legend=None, scale=alt.Scale(
        domain=["champion", "default"], range=[LINE_ROLES["reference"], LINE_ROLES["blind"]]))  # fmt: skip
    held = base.transform_filter("datum.what == 'champion' || datum.what == 'default'").encode(color=roles)
    trials = base.transform_filter("datum.what == 'trial' || datum.what == 'given up'").encode(x=x)
    done = trials.transform_filter("datum.what == 'trial'")
    return alt.layer(
        held.mark_rect(opacity=0.16).encode(y=alt.Y("low:Q", title=score.replace("_", " ")), y2="high:Q"),
        held.mark_rule(strokeWidth=1.5).encode(y=y),
        *(
            # The two may be the same or nearly so: the name of the higher one stands above its line, the other below.
            held.transform_filter(f"datum.what {sign} '{above}'")
            .mark_text(align="left", dx=6, dy=shift)
            .encode(x=alt.value(560), y=y, text="what:N", color=alt.value(INK))
            for sign, shift in (("==", -7), ("!=", 7))
        ),
        trials.transform_filter("datum.what == 'given up'")
        .mark_point(shape="M-1,-1L1,1M-1,1L1,-1", size=40, color=LINE_ROLES["null"])
        .encode(y=y),
        done.mark_line(interpolate="step-after", color=SERIES[0], strokeWidth=1.5).encode(y=alt.Y("best:Q")),
        done.mark_point(filled=True, size=34, color=SERIES[0], opacity=0.8).encode(y=y),
    ).properties(width=560, height=280)


def search_importances(result: Mapping[str, Any]) -> Figure:
    """How much of the differences between trials each parameter explains."""
    found: Mapping[str, float] = result.get("importances") or {}
    if not found:
        raise UsageError("The search has no importances: it needs several trials that ended.")
    rows: list[Row] = [{"parameter": name, "value": float(value)} for name, value in found.items()]
    caption = "The share of the variance between trials that a parameter explains, estimated by Optuna. It is rough."
    title = f"Importance of the parameters of {result['brain']}"
    return make("importances", title, caption, rows, _bars([str(row["parameter"]) for row in rows]))


def _bars(names: Sequence[str]) -> Any:
    import altair as alt

    side = alt.Axis(ticks=False, domain=False, labelLimit=240, labelColor=INK)
    return alt.Chart().mark_bar(height=14, color=SERIES[0]).encode(
        x=alt.X("value:Q", title="importance", axis=alt.Axis(format="%", tickCount=5)),
        y=alt.Y("parameter:N", sort="-x", title=None, axis=side),
    ).properties(width=480, height=alt.Step(24))  # fmt: skip
