"""What a measure is: it turns episode records into metrics and says how those metrics are shown and compared."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from nematodebench.errors import UsageError
from nematodebench.stats import StatValue

__all__ = [
    "Chemotaxis",
    "Column",
    "Episodes",
    "Measure",
    "Measurement",
    "RunMetrics",
    "RunRecords",
    "Summaries",
    "rows_of",
]

RunRecords: TypeAlias = Mapping[str, NDArray[np.float64]]
"""One run's episodes: for each phase a matrix with one row for each episode and columns as ``Phase.columns``."""

RunMetrics: TypeAlias = dict[str, float | None]
"""One run's metrics by name; None where the run has no such value."""

Summaries: TypeAlias = dict[str, StatValue]
"""Metrics of a session by name."""

Column: TypeAlias = Sequence[float | None] | NDArray[np.float64]
"""One metric: a value for each run."""


@dataclass(frozen=True)
class Episodes:
    """The episodes of one phase in several runs: one matrix for each run, one row for each episode."""

    columns: tuple[str, ...]
    runs: Sequence[NDArray[np.float64]]

    def column(self, name: str) -> NDArray[np.float64]:
        """One column as a (runs, episodes) matrix."""
        if name not in self.columns:
            raise UsageError(f"The episodes do not record {name!r}, which the score needs.")
        position = self.columns.index(name)
        return np.stack([rows[:, position] for rows in self.runs])


class Chemotaxis(BaseModel):
    """The plate assay over a session's runs: index, its 95 % interval, level, and the counts it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    index: float = Field(ge=-1, le=1)
    ci95: tuple[float, float]
    level: Literal["None", "Minimum", "Target", "Excellent"]
    attractant: int = Field(ge=0)
    control: int = Field(ge=0)
    total: int = Field(ge=1)


@dataclass(frozen=True)
class Measurement:
    """A session's metrics: one mapping for each run, one summary for each metric.

    Attributes:
        runs: Every run's metrics.
        session: Every metric over the runs.
        chemotaxis: The plate assay.
        notes: What a reader must know.
        pseudo: Jackknife pseudo-values, one for each run, of every metric that a run does not have on its own.
    """

    runs: list[RunMetrics]
    session: Summaries
    chemotaxis: Chemotaxis | None = None
    notes: list[str] = field(default_factory=list)
    pseudo: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(frozen=True)
class Measure(ABC):
    """A kind of score. Whoever stores, shows or checks results asks the task's measure and knows no other kind.

    Attributes:
        name: What it is called in task specifications and stored results.
        has_score: Whether tasks of this kind have a score. A score is normalised between anchors and can be ranked.
        has_levels: Whether scores of this kind have levels.
    """

    name: ClassVar[str]
    has_score: ClassVar[bool] = True
    has_levels: ClassVar[bool] = False

    @abstractmethod
    def measure(self, scored: Episodes, assay: Episodes | None) -> Measurement:
        """Computes every metric of a session.

        Args:
            scored: The episodes of the phase that is scored, of at least one run.
            assay: The episodes of the chemotaxis assay of the same runs, if the task has one.
        """

    def level(self, score: float) -> str | None:
        """The level of a mean score; None for a kind without levels."""
        return None

    def columns(self, metrics: Collection[str], gate: str) -> dict[str, str]:
        """The metrics that tables show beside the score, with their headings.

        Args:
            metrics: Names of the metrics that the task has.
            gate: What the task's gate stands for; empty for a task without one.
        """
        return {}

    def descriptors(self, metrics: Collection[str], score_key: str) -> list[str]:
        """The metrics that are reported and never ranked."""
        hidden = {score_key, "reward", *self.columns(metrics, "")}
        return [name for name in metrics if name not in hidden]

    def pseudo_values(self, runs: Sequence[RunMetrics]) -> dict[str, NDArray[np.float64]]:
        """Jackknife pseudo-values, one for each run, of every metric that a run does not have on its own."""
        return {}

    def summarise(self, runs: Sequence[RunMetrics], wholes: Mapping[str, float], names: Collection[str]) -> Summaries:
        """Metrics of a session over its runs, with their intervals.

        Args:
            runs: Metrics of the runs.
            wholes: What only the session as a whole has.
            names: The metrics to summarise; runs without one are left out.
        """
        pseudo = self.pseudo_values(runs)
        found: Summaries = {}
        for name in names:
            if name in wholes:
                found[name] = StatValue.of_session(wholes[name], pseudo.get(name, [wholes[name]]))
                continue
            values = [value for run in runs if (value := run.get(name)) is not None]
            found[name] = StatValue.from_values(values, pseudo=pseudo.get(name), share=name in self.shares())
        return found

    def shares(self) -> Collection[str]:
        """The metrics that lie between 0 and 1."""
        return ()

    def contradiction(self, run: Episodes, world: Any) -> str | None:
        """The first thing in the scored episodes of one run that cannot have happened in this world."""
        return None


def rows_of(columns: Mapping[str, Column]) -> list[RunMetrics]:
    """The metrics of each run, from one column for each metric."""
    count = len(next(iter(columns.values())))
    return [{name: _value(values[k]) for name, values in columns.items()} for k in range(count)]


def _value(value: float | None) -> float | None:
    return None if value is None else float(value)
