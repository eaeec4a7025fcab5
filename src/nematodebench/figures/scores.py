"""Scores between floor and ceiling: a dot with its interval for each brain, beside what scores are read against."""

import json
from collections.abc import Sequence
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure, Row, Rows, make
from nematodebench.figures.marks import anchor_rows, by_task, line_marks
from nematodebench.figures.samples import Sample
from nematodebench.figures.style import INK, SERIES

__all__ = ["run_scores", "score_dots", "score_figure"]

_CAPTION = (
    "0 is chance (the floor), 1 the ceiling. Dots: mean over runs; whiskers: 95 % interval. Dashed: null policy, best "
    "policy that ignores its input, reference."
)


def _anchored(samples: Sequence[Sample]) -> list[Sample]:
    found = [sample for sample in samples if sample.normalised is not None]
    if not found:
        names = ", ".join(sorted({sample.task.id for sample in samples}))
        raise UsageError(f"{names} has no anchors, or no run has a score: there is no floor and no ceiling to show.")
    return found


def score_dots(samples: Sequence[Sample]) -> Figure:
    """The scores of brains, task by task."""
    shown = _anchored(samples)
    rows: list[Row] = []
    for sample in shown:
        norm = sample.normalised
        assert norm is not None
        low, high = norm.ci95 if norm.n > 1 else (norm.unclamped, norm.unclamped)
        rows.append({"what": "score", "task": sample.task.id, "brain": sample.label, "value": norm.unclamped,
                     "low": low, "high": high})  # fmt: skip
    for task, anchors in {sample.task.id: sample.anchors for sample in shown}.items():
        rows += anchor_rows(task, anchors)
    return score_figure("Scores between chance and ceiling", rows)


def score_figure(title: str, rows: Rows) -> Figure:
    """The figure of rows with what (score or line), task, brain, value, low and high."""
    return make("scores", title, _CAPTION, rows, _dots(rows, ["score"]))


def run_scores(samples: Sequence[Sample]) -> Figure:
    """Every run of every brain as a tick, with the mean above them."""
    shown = _anchored(samples)
    rows: list[Row] = []
    for sample in shown:
        anchors = sample.anchors
        assert anchors is not None
        gap = anchors.ceiling.value - anchors.floor.value
        rows += [
            {"what": "run", "task": sample.task.id, "brain": sample.label, "value": (value - anchors.floor.value) / gap,
             "low": None, "high": None}
            for value in sample.scores.values.tolist()
        ]  # fmt: skip
    for task, anchors in {sample.task.id: sample.anchors for sample in shown}.items():
        rows += anchor_rows(task, anchors)
    caption = (
        "One tick a run; 0 is chance, 1 the ceiling. The box holds the middle half of the runs, its bar the median."
    )
    return make("runs", "Distribution of runs", caption, rows, _dots(rows, ["run"]))


def _dots(rows: Rows, what: list[str]) -> Any:
    import altair as alt

    values = [float(row[key]) for row in rows for key in ("value", "low", "high") if row[key] is not None]  # type: ignore[arg-type]
    domain = [min([-0.02, *values]), max([1.02, *values])]
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    x = alt.X("value:Q", title="share of the gap from floor to ceiling", scale=alt.Scale(domain=domain, nice=False))
    axis = alt.Axis(labelLimit=220, ticks=False, domain=False, labelColor=INK)
    y = alt.Y("place:N", sort=None, title=None, axis=axis)  # as the rows come: a list of names is too much for a board
    base = alt.Chart()
    own = base.transform_filter(f"datum.what == '{what[0]}'").encode(y=y)
    layers = [*line_marks(base), *(_whiskers(own, x) if what == ["score"] else _ticks(own, x))]
    chart = alt.layer(*layers).properties(width=520, height=alt.Step(26 if what == ["score"] else 34))
    return by_task(chart, tasks).transform_calculate(place=_places(rows))


def _places(rows: Rows) -> str:
    """In which row something stands; lines take that of their task's first brain: a row of their own would be empty."""
    first: dict[str, str] = {}
    for row in rows:
        if row["what"] != "line":
            first.setdefault(str(row["task"]), str(row["brain"]))
    return f"datum.what == 'line' ? ({json.dumps(first)})[datum.task] : datum.brain"


def _whiskers(own: Any, x: Any) -> list[Any]:
    mark = own.mark_rule(strokeWidth=2, color=SERIES[0])
    return [
        mark.encode(x="low:Q", x2="high:Q"),
        own.mark_point(filled=True, size=70, opacity=1, color=SERIES[0]).encode(x=x),
    ]


def _ticks(own: Any, x: Any) -> list[Any]:
    box = own.mark_boxplot(extent=0, size=18, color=SERIES[0], opacity=0.25, median={"color": SERIES[0], "opacity": 1},
                           outliers=False)  # fmt: skip
    return [box.encode(x=x), own.mark_tick(thickness=1.2, size=18, opacity=0.55, color=SERIES[0]).encode(x=x)]
