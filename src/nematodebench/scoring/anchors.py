"""Scores read against measured chance and a reference (EVALUATION.md, anchored scores).

A normalised score is the share of the gap from chance to the reference that was closed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto

import numpy as np
from numpy.typing import ArrayLike

from nematodebench.stats import Z95, Doubt, critical, doubt, t_critical
from nematodebench.stats.checks import FloatArray, number, require_unit, vector
from nematodebench.stats.intervals import are_alike

__all__ = [
    "MIN_NULL_SEEDS",
    "AnchorKind",
    "AnchoredScore",
    "GatedScore",
    "ScoreAnchor",
    "anchored_score",
    "check_anchors",
    "group_by_ceiling",
    "mean_score",
    "normalised",
]

MIN_NULL_SEEDS = 200


class AnchorKind(StrEnum):
    """Where an anchor's value comes from."""

    ANALYTIC = auto()
    NULL_MEASURED = auto()
    REFERENCE_MEASURED = auto()


@dataclass(frozen=True)
class ScoreAnchor:
    """A floor or a ceiling that says where it comes from.

    Attributes:
        value: In the units of the task's raw score.
        kind: Analytic bound, measured null policy, or measured reference agent.
        provenance: How the value was obtained, in one line.
        n: Number of seeds it was measured on; None if analytic.
        se: Standard error of the value; 0 if analytic.
    """

    value: float
    kind: AnchorKind
    provenance: str
    n: int | None = None
    se: float = 0.0

    def __post_init__(self) -> None:
        number("value", self.value)
        number("se", self.se, low=0.0)
        if not self.provenance.strip():
            raise ValueError("provenance is empty: say how the anchor was obtained, no bare number is an anchor")
        if self.kind == AnchorKind.ANALYTIC and (self.n is not None or self.se != 0.0):
            raise ValueError("n and se belong to measured anchors: leave them out of an ANALYTIC one")
        if self.kind != AnchorKind.ANALYTIC and (self.n is None or self.n < 2):
            raise ValueError(
                f"n is {self.n}: a {self.kind.name} anchor needs the number of seeds it was measured on (>= 2)"
            )


@dataclass(frozen=True)
class AnchoredScore:
    """A normalised score with the error of the runs and of both anchors.

    Attributes:
        estimate: Clamped to [0, 1]: the number to print.
        unclamped: The same before clamping: the number to average, compare and plot.
        se: Standard error of `unclamped`; nan for a single run.
        n: Number of runs.
        ceiling_kind: Scores are comparable only within one kind.
        factor: Half of the 95 % interval in standard errors.
        doubt: Why the interval may cover less than 93 %; empty where it does not.
    """

    estimate: float
    unclamped: float
    se: float
    n: int
    ceiling_kind: AnchorKind
    factor: float = Z95
    doubt: Doubt = ""

    @property
    def ci95(self) -> tuple[float, float]:
        """95 % interval of the unclamped score."""
        return self.unclamped - self.factor * self.se, self.unclamped + self.factor * self.se


@dataclass(frozen=True)
class GatedScore:
    """A score and the gate that multiplies it: the gate, by name, encodes the unstated half of a task."""

    gate_name: str
    gate: float
    ungated: float

    def __post_init__(self) -> None:
        require_unit("gate", self.gate)
        number("ungated", self.ungated)

    @property
    def score(self) -> float:
        """The score that counts."""
        return self.gate * self.ungated


def check_anchors(floor: ScoreAnchor, ceiling: ScoreAnchor) -> None:
    """Refuse, when a task is loaded, anchors that no published score may rest on."""
    anchor_gap(floor.value, ceiling.value)
    if floor.kind == AnchorKind.REFERENCE_MEASURED:
        raise ValueError("floor is REFERENCE_MEASURED: measure the null policy or give an analytic bound")
    if ceiling.kind == AnchorKind.NULL_MEASURED:
        raise ValueError("ceiling is NULL_MEASURED: measure a reference agent or give an analytic bound")
    if floor.n is not None and floor.n < MIN_NULL_SEEDS:
        raise ValueError(f"floor was measured on {floor.n} seeds: calibrate it on at least {MIN_NULL_SEEDS}")


def normalised(raw: ArrayLike, floor: float | ScoreAnchor, ceiling: float | ScoreAnchor) -> float:
    """clamp((raw - floor) / (ceiling - floor), 0, 1); several runs are averaged first and clamped last."""
    return clamp(_unclamped(np.atleast_1d(raw), anchor_value(floor), anchor_value(ceiling)))


def anchored_score(
    raw: ArrayLike, floor: ScoreAnchor, ceiling: ScoreAnchor, pseudo: ArrayLike | None = None
) -> AnchoredScore:
    """The normalised score s of a set of runs, with its error.

    var(s) = (var(mean raw) + (1 - s)^2 var(floor) + s^2 var(ceiling)) / (ceiling - floor)^2.

    Args:
        raw: One raw score per run.
        floor: The task's chance level.
        ceiling: The task's reference.
        pseudo: Jackknife pseudo-values of a score that a run does not have on its own: var(mean raw) is theirs.
    """
    runs = vector("raw", raw)
    s = _unclamped(runs, floor.value, ceiling.value)
    errors = runs if pseudo is None else vector("pseudo", pseudo)
    variance = _variance_of_mean(errors) + (1 - s) ** 2 * floor.se**2 + s**2 * ceiling.se**2
    se = math.sqrt(variance) / anchor_gap(floor.value, ceiling.value)
    if runs.size == 1:
        return AnchoredScore(clamp(s), s, se, 1, ceiling.kind)
    factor = critical(runs.size) if pseudo is None else t_critical(runs.size - 1)
    return AnchoredScore(clamp(s), s, se, runs.size, ceiling.kind, factor, doubt(runs))


def _variance_of_mean(runs: FloatArray) -> float:
    if runs.size == 1:
        return math.nan
    return 0.0 if are_alike(runs) else float(runs.var(ddof=1)) / runs.size


def group_by_ceiling(scores: Mapping[str, AnchoredScore]) -> dict[AnchorKind, dict[str, AnchoredScore]]:
    """The scores by ceiling kind, in the order of AnchorKind: one table each."""
    kinds = [kind for kind in AnchorKind if any(score.ceiling_kind == kind for score in scores.values())]
    return {kind: {name: s for name, s in scores.items() if s.ceiling_kind == kind} for kind in kinds}


def mean_score(scores: Iterable[AnchoredScore]) -> float:
    """Mean of unclamped scores, clamped last; refuses scores of different ceiling kinds."""
    members = list(scores)
    kinds = sorted({score.ceiling_kind.name for score in members})
    if len(kinds) > 1:
        raise ValueError(f"scores mix the ceiling kinds {' and '.join(kinds)}: average each kind by itself")
    return clamp(float(vector("scores", [score.unclamped for score in members]).mean()))


def anchor_value(anchor: float | ScoreAnchor) -> float:
    """The number of an anchor."""
    return anchor.value if isinstance(anchor, ScoreAnchor) else anchor


def anchor_gap(floor: float, ceiling: float) -> float:
    """Distance from floor to ceiling; ValueError unless it is positive."""
    gap = number("ceiling", ceiling) - number("floor", floor)
    if gap <= 0.0:
        raise ValueError(f"ceiling {ceiling:g} does not exceed floor {floor:g}: calibrate the task's anchors again")
    return gap


def _unclamped(raw: ArrayLike, floor: float, ceiling: float) -> float:
    return (float(vector("raw", raw).mean()) - floor) / anchor_gap(floor, ceiling)


def clamp(score: float) -> float:
    """The score limited to [0, 1]."""
    return min(1.0, max(0.0, score))
