"""The mean of one metric of the world, read between measured anchors; a gate may multiply it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from nematodebench.measures.base import Episodes, Measure, Measurement, rows_of
from nematodebench.stats import StatValue

__all__ = ["ANCHORED", "Anchored", "mean_metrics"]

_BOOKKEEPING = {"steps", "terminated", "truncated"}


def mean_metrics(scored: Episodes) -> Measurement:
    """The mean of the reward and of every metric of the world over the scored episodes of each run."""
    names = [name for name in scored.columns if name not in _BOOKKEEPING]
    table = {name: scored.column(name).mean(axis=1) for name in names}
    return Measurement(rows_of(table), {name: StatValue.from_values(values) for name, values in table.items()})


@dataclass(frozen=True)
class Anchored(Measure):
    """A run's score is the mean of the task's ``score_key`` (EVALUATION.md, anchored scores)."""

    name: ClassVar[str] = "anchored"

    def measure(self, scored: Episodes, assay: Episodes | None) -> Measurement:
        """Computes the mean of every metric."""
        return mean_metrics(scored)

    def columns(self, metrics: Collection[str], gate: str) -> dict[str, str]:
        """The gate by its name, with the score without it."""
        if not {"gate", "ungated"} <= set(metrics):
            return {}
        return {"gate": f"gate ({gate})" if gate else "gate", "ungated": "ungated"}


ANCHORED = Anchored()
