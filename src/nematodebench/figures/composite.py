"""Where a composite score comes from: what success, directness, learning speed and stability add to it."""

from collections.abc import Sequence
from typing import Any

from nematodebench import scoring
from nematodebench.errors import UsageError
from nematodebench.figures.figure import Figure, Row, make
from nematodebench.figures.marks import by_task
from nematodebench.figures.samples import Sample
from nematodebench.figures.style import INK, PARTS

__all__ = ["composite_parts"]

_PARTS = ("success_rate", "distance_efficiency", "learning_speed", "stability")
_WORDS = {"success_rate": "success", "distance_efficiency": "directness", "learning_speed": "learning speed",
          "stability": "stability"}  # fmt: skip


def composite_parts(samples: Sequence[Sample]) -> Figure:
    """The parts of the composite score, as a bar for each brain."""
    shown = [sample for sample in samples if all(name in sample.metrics for name in _PARTS)]
    if not shown:
        raise UsageError("Only foraging and predator tasks have a composite score; these results are of other tasks.")
    rows: list[Row] = []
    for sample in shown:
        for name in _PARTS:
            value = sample.metrics[name].mean
            rows.append({"task": sample.task.id, "brain": sample.label, "part": _WORDS[name], "metric": value,
                         "value": _contribution(name, value), "at_most": _contribution(name, 1.0)})  # fmt: skip
    weights = ", ".join(f"{_WORDS[name]} {_contribution(name, 1.0):.1f}" for name in _PARTS)
    caption = f"Each part adds its mean over runs times its weight: {weights}. The bar is the composite score."
    return make("composite", "Where the composite score comes from", caption, rows, _chart(rows))


def _contribution(name: str, value: float) -> float:
    """What a part adds: the composite of this part alone."""
    return float(scoring.composite(*(value if part == name else 0.0 for part in _PARTS)))


def _chart(rows: Sequence[Row]) -> Any:
    import altair as alt

    parts = [_WORDS[name] for name in _PARTS]
    brains = list(dict.fromkeys(str(row["brain"]) for row in rows))
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    bar = alt.Chart().mark_bar(height=16).encode(
        x=alt.X("value:Q", title="composite score", stack="zero", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("brain:N", sort=brains, title=None,
                axis=alt.Axis(labelLimit=220, ticks=False, domain=False, labelColor=INK)),
        color=alt.Color("part:N", sort=parts, title=None, scale=alt.Scale(domain=parts, range=list(PARTS)),
                        legend=alt.Legend(orient="top", columnPadding=24)),
        order=alt.Order("at_most:Q", sort="descending"),
    ).properties(width=520, height=alt.Step(28))  # fmt: skip
    return by_task(bar, tasks)
