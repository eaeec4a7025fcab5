"""Comparisons of brains: performance profiles, and how likely a run of one beats a run of another."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure, Row, make
from nematodebench.figures.marks import DIRECT, by_task, colour
from nematodebench.figures.samples import Sample
from nematodebench.figures.style import INK, series_colours
from nematodebench.scoring import AnchorKind
from nematodebench.sessions.scores import compare_scores
from nematodebench.stats import performance_profile

__all__ = ["improvement_matrix", "performance_profiles"]

_THRESHOLDS = np.linspace(0.0, 1.0, 101)


def performance_profiles(samples: Sequence[Sample]) -> Figure:
    """For every share of the gap, how many of a brain's runs closed more than that."""
    anchored = [sample for sample in samples if sample.normalised is not None]
    kinds = {sample.normalised.ceiling_kind for sample in anchored if sample.normalised}
    if not anchored:
        raise UsageError("A performance profile needs tasks with anchors, and these have none.")
    if len(kinds) > 1:
        raise UsageError(
            "Scores are comparable only within one kind of ceiling; these tasks have ceilings of two kinds."
        )
    by_brain: dict[str, list[Sample]] = {}
    for sample in anchored:
        by_brain.setdefault(sample.label, []).append(sample)
    rows = [row for label, group in by_brain.items() for row in _profile(label, group)]
    tasks = len({sample.task.id for sample in anchored})
    kind = "measured reference" if kinds == {AnchorKind.REFERENCE_MEASURED} else "analytic"
    caption = (
        f"Height: the share of runs, over {tasks} task{'s' * (tasks > 1)} with {kind} ceilings, whose score is above "
        "the share of the gap on the axis. A curve that lies above another everywhere is better in every sense."
    )
    return make("profiles", "Performance profiles", caption, rows, _profile_chart(list(by_brain), _name_places(rows)))


_BROAD_NAME = 16
"""Names with more letters do not fit above a cell of the matrix."""
_LETTER, _LINE = 0.0145, 0.055
"""Width of a letter and height of a line in the figure of profiles, as shares of its axes."""
_PLACES = tuple(k / 200 for k in range(10, 190, 5))
"""Heights that a name may stand at, lowest first."""


def _profile(label: str, group: Sequence[Sample]) -> list[Row]:
    scores = []
    for sample in group:
        assert sample.anchors is not None
        floor, ceiling = sample.anchors.floor.value, sample.anchors.ceiling.value
        scores.append((sample.scores.values - floor) / (ceiling - floor))
    shares = performance_profile(np.concatenate(scores), _THRESHOLDS)
    return [
        {"brain": label, "x": float(x), "value": float(share)} for x, share in zip(_THRESHOLDS, shares, strict=True)
    ]


def _name_places(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """Where the names of the brains stand: right of their curves, where no curve and no other name is in the way.

    Where one of them has no such place, none has: a legend names them all.
    """
    labels = list(dict.fromkeys(str(row["brain"]) for row in rows))
    if len(labels) > DIRECT:
        return {}
    curves = np.array([[row["value"] for row in rows if row["brain"] == label] for label in labels], dtype=float)
    found: dict[str, tuple[float, float]] = {}
    for label, curve in zip(labels, curves, strict=True):
        free = [place for height in _PLACES if (place := _free_place(label, curve, height, curves, found))]
        if not free:
            return {}
        found[label] = free[0]
    return found


def _free_place(
    label: str, curve: Any, height: float, curves: Any, taken: Mapping[str, tuple[float, float]]
) -> tuple[float, float] | None:
    """The place right of a curve at a height, if a name fits there."""
    above = np.flatnonzero(curve > height - _LINE / 2)
    start = (_THRESHOLDS[above[-1]] if above.size else 0.0) + 1.5 * _LETTER
    end = start + _LETTER * len(label)
    shares = _THRESHOLDS
    beside = (shares >= start - _LETTER) & (shares <= end)
    low, high = height - _LINE / 2, height + _LINE / 2
    for other in curves:  # a curve falls: it crosses the name where it is neither above nor below all of it
        part = other[beside]
        if part.size and part.min() < high and part.max() > low:
            return None
    for name, (x, y) in taken.items():
        if abs(y - height) < _LINE and x < end and start < x + _LETTER * len(name):
            return None
    return (start, height) if end <= 1.0 or start > 1.0 - 8 * _LETTER else None


def _profile_chart(labels: Sequence[str], places: Mapping[str, tuple[float, float]]) -> Any:
    import altair as alt

    base = alt.Chart().encode(
        x=alt.X("x:Q", title="share of the gap from floor to ceiling", scale=alt.Scale(domain=[0, 1])),
        color=colour(labels, direct=len(places)),
    )
    y = alt.Y("value:Q", title="share of runs above it", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    line = base.mark_line(strokeWidth=2.5, interpolate="step-after").encode(y=y)
    names = [
        alt.Chart().transform_filter(f"datum.brain == {json.dumps(label)} && datum.x == 0")
        .mark_text(align="left", color=series_colours(labels)[label])
        .encode(x=alt.datum(x), y=alt.datum(height), text="brain:N")
        for label, (x, height) in places.items()
    ]  # fmt: skip
    return alt.layer(line, *names).properties(width=520, height=300)


def improvement_matrix(samples: Sequence[Sample]) -> Figure:
    """How likely a run of one brain beats a run of another, for every pair on a task."""
    rows: list[Row] = []
    for sample in samples:
        for other in samples:
            if sample is other or sample.task.id != other.task.id:
                continue
            if not sample.scores.values.size or not other.scores.values.size:
                continue
            found = compare_scores(sample.scores, other.scores)
            low, high = found.improvement_ci95
            rows.append({"task": sample.task.id, "row": sample.label, "column": other.label,
                         "value": found.probability_of_improvement, "low": _known(low), "high": _known(high),
                         "pairs": found.pairs})  # fmt: skip
    if not rows:
        raise UsageError("A matrix of improvement needs two brains on one task, with runs that have a score.")
    caption = (
        "The chance that a run of the brain in the row scores higher than a run of the brain in the column (ties count "
        "one half), with its 95 % interval. 50 %: neither is better."
    )
    return make("improvement", "Probability of improvement", caption, rows, _matrix_chart(rows))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _matrix_chart(rows: Sequence[Row]) -> Any:
    import altair as alt

    brains = list(dict.fromkeys(str(row["row"]) for row in rows))
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    top = alt.Axis(
        orient="top",
        labelAngle=-30 if max(map(len, brains)) > _BROAD_NAME else 0,
        ticks=False,
        domain=False,
        labelLimit=160,
    )
    side = alt.Axis(ticks=False, domain=False, labelLimit=200, labelColor=INK)
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=brains, title=None, axis=top), y=alt.Y("row:N", sort=brains, title=None, axis=side)
    )
    scale = alt.Scale(domain=[0, 0.5, 1], range=["#e9b796", "#f4f4f2", "#8fbfdc"], interpolate="rgb")
    cell = base.mark_rect(cornerRadius=2).encode(color=alt.Color("value:Q", scale=scale, legend=None))
    # The text stays dark in dark pages too, because the cells keep their light colours.
    text = base.mark_text(fontWeight="bold", color="#111111", dy=-7).encode(text=alt.Text("value:Q", format=".0%"))
    words = "isValid(datum.low) ? format(datum.low, '.0%') + ' to ' + format(datum.high, '.0%') : 'one run'"
    below = base.transform_calculate(words=words).mark_text(fontSize=11, color="#333333", dy=8).encode(text="words:N")
    chart = alt.layer(cell, text, below).properties(width=alt.Step(max(110, 0)), height=alt.Step(46))
    return by_task(chart, tasks, shared="")
