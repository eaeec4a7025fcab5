"""From episode records to metrics: the one place where a task's records become numbers.

Used when a session ends, and again by everybody who checks it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nematodebench import scoring
from nematodebench.scoring import AnchoredScore
from nematodebench.stats import StatValue
from nematodebench.tasks.anchoring import TaskAnchors
from nematodebench.tasks.base import Task

__all__ = ["Chemotaxis", "Measured", "RunRecords", "measure", "normalise"]

RunRecords = Mapping[str, NDArray[np.float64]]
"""One run's episodes: for each phase a matrix, one row an episode, columns as ``Phase.columns``."""


@dataclass(frozen=True)
class Chemotaxis:
    """The plate assay over a session's runs: index, its 95 % interval, level, and the counts it comes from."""

    index: float
    ci95: tuple[float, float]
    level: str
    attractant: int
    control: int
    total: int


@dataclass(frozen=True)
class Measured:
    """A session's metrics: one mapping for each run, one summary for each metric."""

    runs: list[dict[str, float | None]]
    session: dict[str, StatValue]
    chemotaxis: Chemotaxis | None = None
    notes: list[str] = field(default_factory=list)


def measure(task: Task, runs: Sequence[RunRecords]) -> Measured:
    """Computes every metric of a session from the episodes of its finished runs."""
    if not runs:
        return Measured([], {})
    plate = _chemotaxis(task, runs)
    if task.scoring == "composite":
        return _composite(task, runs, plate)
    if task.scoring == "chemotaxis":
        return _plate_only(task, runs, plate)
    return _mean_score(task, runs)


def normalise(values: Sequence[float], anchors: TaskAnchors | None) -> AnchoredScore | None:
    """The share of the gap from floor to ceiling that was closed; None without anchors."""
    if anchors is None or not values:
        return None
    return scoring.anchored_score(values, anchors.floor, anchors.ceiling)


def _column(task: Task, runs: Sequence[RunRecords], phase_name: str, column: str) -> NDArray[np.float64]:
    """One column of one phase as a (runs, episodes) matrix."""
    phase = next(p for p in task.phases if p.name == phase_name)
    position = phase.columns.index(column)
    return np.stack([run[phase_name][:, position] for run in runs])


def _chemotaxis(task: Task, runs: Sequence[RunRecords]) -> Chemotaxis | None:
    if not task.assay:
        return None
    zones = _column(task, runs, task.assay, "zone").ravel()
    attractant, control, total = int((zones > 0).sum()), int((zones < 0).sum()), zones.size
    index = scoring.chemotaxis_index(attractant, control, total)
    interval = scoring.chemotaxis_interval(attractant, control, total)
    return Chemotaxis(index, interval, scoring.biological_level(index), attractant, control, total)


def _composite(task: Task, runs: Sequence[RunRecords], plate: Chemotaxis | None) -> Measured:
    def column(name: str) -> NDArray[np.float64]:
        return _column(task, runs, task.scored, name)

    success = column("success") > 0
    efficiency = scoring.distance_efficiency(column("optimal"), column("travelled"), column("foods") > 0)
    scores = scoring.score_session(success, efficiency)
    verdicts = scoring.convergence_rows(success)
    zones = _column(task, runs, task.assay, "zone").ravel() if task.assay else np.full(len(runs), math.nan)
    steps = column("steps").sum(axis=1)
    table: list[dict[str, float | None]] = []
    for k, verdict in enumerate(verdicts):
        e80 = scoring.episodes_to_80(success[k])
        table.append({
            "composite_score": float(scores.composite[k]),
            "success_rate": float(scores.success_rate[k]),
            "distance_efficiency": float(scores.distance_efficiency[k]),
            "learning_speed": float(scores.learning_speed[k]),
            "final_success_rate": float(scores.final_success_rate[k]),
            "episodes_to_80": None if e80 is None else float(e80),
            "converged": float(verdict.converged),
            "onset": None if verdict.onset is None else float(verdict.onset),
            "steps": float(steps[k]),
            "assay_zone": None if math.isnan(zones[k]) else float(zones[k]),
        })  # fmt: skip
    keys = (
        "composite_score",
        "success_rate",
        "distance_efficiency",
        "learning_speed",
        "final_success_rate",
        "converged",
    )
    session = {key: StatValue.from_values(np.array([row[key] for row in table], dtype=np.float64)) for key in keys}
    session["stability"] = StatValue.from_values([scores.stability])
    notes = ["low power: convergence is judged from fewer than 200 episodes"] if verdicts[0].low_power else []
    return Measured(table, session, plate, notes)


def _plate_only(task: Task, runs: Sequence[RunRecords], plate: Chemotaxis | None) -> Measured:
    zones = _column(task, runs, task.scored, "zone").ravel()
    distance = _column(task, runs, task.scored, "distance").ravel()
    rows: list[dict[str, float | None]] = [
        {"chemotaxis_index": float(zone), "end_distance": float(d)} for zone, d in zip(zones, distance, strict=True)
    ]
    session = {
        key: StatValue.from_values(np.array([row[key] for row in rows], dtype=np.float64))
        for key in ("chemotaxis_index", "end_distance")
    }
    return Measured(rows, session, plate)


def _mean_score(task: Task, runs: Sequence[RunRecords]) -> Measured:
    """A run's score and descriptors are means over its scored episodes."""
    names = task.world.metrics
    values = {name: _column(task, runs, task.scored, name).mean(axis=1) for name in ("reward", *names)}
    rows: list[dict[str, float | None]] = [
        {name: float(column[k]) for name, column in values.items()} for k in range(len(runs))
    ]
    return Measured(rows, {name: StatValue.from_values(column) for name, column in values.items()})
