"""The composite score: success, directness, learning speed and stability of a foraging worm, and its plate assay.

A new metric of foraging tasks is a line in :meth:`Composite.measure`; to summarise it over runs it is also named in
``_SUMMARISED``, and to show it beside the score in ``_SHOWN``.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench import scoring
from nematodebench.measures.base import Column, Episodes, Measure, Measurement, RunMetrics, rows_of
from nematodebench.measures.chemotaxis import plate_assay, zones

__all__ = ["COMPOSITE", "Composite"]

_SUMMARISED = (
    "composite_score", "success_rate", "distance_efficiency", "learning_speed", "final_success_rate", "converged",
)  # fmt: skip
_PARTS = ("success_rate", "distance_efficiency", "learning_speed")
_SHOWN = {
    "success_rate": "success", "distance_efficiency": "efficiency", "learning_speed": "learning speed",
    "stability": "stability",
}  # fmt: skip


@dataclass(frozen=True)
class Composite(Measure):
    """The weighted sum of four metrics (EVALUATION.md, metrics). Runs share the stability of their session."""

    name: ClassVar[str] = "composite"
    has_levels: ClassVar[bool] = True

    def measure(self, scored: Episodes, assay: Episodes | None) -> Measurement:
        """Computes the parts, their weighted sum and when each run converged."""
        success = scored.column("success") > 0
        efficiency = scoring.distance_efficiency(
            scored.column("optimal"), scored.column("travelled"), scored.column("foods") > 0
        )
        scores = scoring.score_session(success, efficiency)
        verdicts = scoring.convergence_rows(success)
        table: dict[str, Column] = {
            "composite_score": scores.composite,
            "success_rate": scores.success_rate,
            "distance_efficiency": scores.distance_efficiency,
            "learning_speed": scores.learning_speed,
            "final_success_rate": scores.final_success_rate,
            "episodes_to_80": [scoring.episodes_to_80(row) for row in success],
            "converged": [verdict.converged for verdict in verdicts],
            "onset": [verdict.onset for verdict in verdicts],
            "steps": scored.column("steps").sum(axis=1),
            "assay_zone": [None] * len(success) if assay is None else zones(assay),
        }
        rows = rows_of(table)
        names = (*_SUMMARISED, "stability")
        session = self.summarise(rows, {"stability": scores.stability}, names)
        notes = ["low power: convergence is judged from fewer than 200 episodes"] if verdicts[0].low_power else []
        change = scoring.improvement(success)
        if scores.learning_speed.any() and not change.shown:
            notes.append(
                f"learning speed: not shown to be learning (success {change.early:.3f} in the first episodes, "
                f"{change.late:.3f} in the last quarter)"
            )
        return Measurement(
            rows, session, None if assay is None else plate_assay(assay), notes, self.pseudo_values(rows)
        )

    def level(self, score: float) -> str:
        """Exceptional, excellent, good, acceptable or below the threshold."""
        return scoring.level(score)

    def columns(self, metrics: Collection[str], gate: str) -> dict[str, str]:
        """The four parts of the score."""
        return _SHOWN

    def descriptors(self, metrics: Collection[str], score_key: str) -> list[str]:
        """None: what is worth showing stands beside the score."""
        return []

    def pseudo_values(self, runs: Sequence[RunMetrics]) -> dict[str, NDArray[np.float64]]:
        """Of the composite and of the stability, which is estimated from all runs."""
        names = (*_PARTS, "final_success_rate")
        if any(run.get(name) is None for run in runs for name in names):
            return {}
        parts = [np.array([run[name] for run in runs], dtype=np.float64) for name in names]
        return {
            "composite_score": scoring.composite_pseudo_values(*parts),
            "stability": scoring.stability_pseudo_values(parts[-1]),
        }

    def shares(self) -> Collection[str]:
        """All but the composite, whose interval is the jackknife's."""
        return _SUMMARISED[1:]

    def contradiction(self, run: Episodes, world: Any) -> str | None:
        """Success has to follow from the foods that were eaten and from how the episode ended."""
        (foods,), (steps,) = run.column("foods"), run.column("steps")
        (truncated,), (success,) = run.column("truncated") > 0, run.column("success") > 0
        rule = scoring.episode_success(foods, world.target, steps, world.max_steps, truncated)
        wrong = np.flatnonzero(rule != success)
        if wrong.size:
            return f"episode {wrong[0]}: success does not follow from foods and end"
        (terminated,), (optimal,), (travelled,) = (run.column(n) for n in ("terminated", "optimal", "travelled"))
        both = np.flatnonzero((terminated > 0) & truncated)
        if both.size:
            return f"episode {both[0]}: it is terminated and truncated at once"
        short = np.flatnonzero((foods > 0) & (travelled < optimal))
        return f"episode {short[0]}: the way to the first food is shorter than the shortest" if short.size else None


COMPOSITE = Composite()
