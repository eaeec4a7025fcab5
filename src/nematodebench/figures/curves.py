"""Learning curves: runs as thin lines under their median, with a band that holds for the whole curve."""

from collections.abc import Sequence
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.curves_of_runs import Curves
from nematodebench.figures.figure import Figure, Row, make
from nematodebench.figures.marks import colour, named_ends
from nematodebench.figures.samples import Sample
from nematodebench.figures.style import RUN_OPACITY, series_dashes
from nematodebench.stats import median_band

__all__ = ["curve_figure", "learning_curves"]

_FEW_RUNS = 3
_MOST_LINES = 60
"""So many runs of a brain are drawn as lines: more would hide each other, and their median rests on all of them."""


def learning_curves(samples: Sequence[Sample]) -> Figure:
    """How the runs of each brain learned, on one task."""
    found = {sample.label: sample.curves for sample in samples}
    shown = {label: curves for label, curves in found.items() if curves is not None}
    if not shown:
        raise UsageError(
            "There are no learning curves: sweeps keep no episodes, and these sessions have fewer than two episodes a "
            "run. `nematodebench run --track` keeps them."
        )
    tasks = sorted({sample.task.id for sample in samples})
    if len(tasks) > 1:
        raise UsageError(f"Learning curves are of one task: these are of {', '.join(tasks)}.")
    return curve_figure(tasks[0], shown)


def curve_figure(task: str, shown: dict[str, Curves], *, lines: bool = True) -> Figure:
    """The figure of some brains' curves.

    Args:
        task: What they learned.
        shown: Curves by brain.
        lines: Whether single runs are drawn; without them only medians and bands are.
    """
    rows = [row for label, curves in shown.items() for row in _rows(label, curves, lines)]
    first = next(iter(shown.values()))
    counts = sorted({len(curves.values) for curves in shown.values()})
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    caption = (
        f"{'Thin lines: single runs. ' if lines else ''}Thick lines: the median of {runs} runs a brain. "
        "Bands: 95 %, for all points of a curve at once."
    )
    return make("curves", f"Learning on {task}", caption, rows, _chart(rows, first, lines))


def _rows(label: str, curves: Curves, lines: bool) -> list[Row]:
    rows: list[Row] = []
    empty = {"low": None, "high": None}
    for run, values in enumerate(curves.values[:_MOST_LINES] if lines else []):
        rows += [
            {"what": "run", "brain": label, "run": run, "x": float(x), "value": float(value), **empty}
            for x, value in zip(curves.x, values, strict=True)
        ]
    middle, low, high = median_band(curves.values)
    banded = len(curves.values) >= _FEW_RUNS
    rows += [
        {"what": "median", "brain": label, "run": None, "x": float(curves.x[k]), "value": float(middle[k]),
         "low": float(low[k]) if banded else None, "high": float(high[k]) if banded else None}
        for k in range(len(curves.x))
    ]  # fmt: skip
    return rows


_MOST_NAMES = 20
"""So many brains have room for their names beside the figure; more are named in a legend."""
_WIDTH, _HEIGHT = 560, 300


def _domain(rows: Sequence[Row]) -> tuple[float, float]:
    """What the value axis shows: all that is drawn, and 0 to 1 where it is a share."""
    found = [value for row in rows for key in ("value", "low", "high") if isinstance(value := row[key], float)]
    low, high = min(found), max(found)
    if low >= 0.0 and high <= 1.0:
        return 0.0, 1.0
    room = 0.03 * (high - low) or 1.0
    return low - room, high + room


def _ends(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """The last point of every median."""
    medians = [row for row in rows if row["what"] == "median"]
    return {str(row["brain"]): (float(row["x"] or 0.0), float(row["value"] or 0.0)) for row in medians}


def _chart(rows: Sequence[Row], curves: Curves, lines: bool) -> Any:
    import altair as alt

    ends, domain = _ends(rows), _domain(rows)
    x = alt.X(
        "x:Q", title=curves.x_title, axis=alt.Axis(tickCount=6, format="~s" if "tick" in curves.x_title else ",d"),
        scale=alt.Scale(nice=False, zero=True),
    )  # fmt: skip
    scale = alt.Scale(domain=list(domain), nice=False)
    y = alt.Y("value:Q", title=curves.y_title, axis=alt.Axis(tickCount=5), scale=scale)
    base = alt.Chart().encode(x=x, color=colour(list(ends), direct=_MOST_NAMES))
    median = base.transform_filter("datum.what == 'median'")
    drawn = series_dashes(list(ends))
    dashes = alt.StrokeDash(
        "brain:N", legend=None, sort=None, scale=alt.Scale(domain=list(drawn), range=list(drawn.values()))
    )
    runs = base.transform_filter("datum.what == 'run'").mark_line(strokeWidth=0.8, opacity=RUN_OPACITY)
    layers = [runs.encode(y=y, detail="run:O")] if lines else []
    layers += [
        median.mark_area(opacity=0.18, line=False).encode(
            y=alt.Y("low:Q", title=curves.y_title, scale=scale), y2="high:Q"
        ),
        median.mark_line(strokeWidth=2.5).encode(y=y, strokeDash=dashes),
        *(named_ends(ends, domain, (_WIDTH, _HEIGHT)) if len(ends) <= _MOST_NAMES else []),
    ]
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
