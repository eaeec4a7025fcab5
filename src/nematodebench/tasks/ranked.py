"""Is a task ranked? Only if a high score on it means something (EVALUATION.md, ranking).

Four conditions, all computed from stored anchors and published entries: chance scores about 0, no policy that ignores
its input gets far, the reference gets nearly to the ceiling, and the task tells published brains apart. A task that has
a newer version stays runnable and is not ranked.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nematodebench.tasks.anchoring import TaskAnchors, load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import all_tasks

__all__ = ["MAX_BLIND", "MAX_NULL", "MIN_REFERENCE", "Lines", "blind_line", "lines_of", "newer_version", "why_unranked"]

MAX_NULL, MAX_BLIND, MIN_REFERENCE = 0.01, 0.25, 0.9
"""Normalised scores: how far from 0 chance may be, how much a blind policy may get, what the reference must get."""


@dataclass(frozen=True)
class Lines:
    """Normalised scores that a task's scores are read against; None where nothing was measured."""

    null: float | None
    motionless: float | None
    blind: float | None
    reference: float | None


def lines_of(anchors: TaskAnchors) -> Lines:
    """The lines of a task's anchors. The null is 0 where the floor was measured with it."""

    def share(value: float) -> float:
        return (value - anchors.floor.value) / (anchors.ceiling.value - anchors.floor.value)

    found = (anchors.null, anchors.motionless, anchors.blind, anchors.reference)
    null, motionless, blind, reference = (None if one is None else share(one.value) for one in found)
    return Lines(0.0 if anchors.floor.kind == "null_measured" else null, motionless, blind, reference)


def blind_line(anchors: TaskAnchors) -> float:
    """The best normalised score that is to be had without looking: by chance, by doing nothing, by a blind policy."""
    lines = lines_of(anchors)
    return max(0.0, lines.motionless or 0.0, lines.blind or 0.0)


def newer_version(task: Task, tasks: Iterable[Task] | None = None) -> Task | None:
    """The latest version of a task that is newer than this one."""
    known = all_tasks().values() if tasks is None else tasks
    newer = [other for other in known if other.category == task.category and other.version > task.version]
    return max(newer, key=lambda other: other.version, default=None)


def why_unranked(task: Task, resolution: float | None) -> list[str]:
    """Every reason why a task is not ranked; none for a ranked one.

    Args:
        task: The task.
        resolution: The share of pairs of published learners that it tells apart; None for fewer than two learners.
    """
    newer = newer_version(task)
    reasons = [] if newer is None else [f"{newer.id} has taken its place"]
    anchors = load_anchors(task)
    reasons += ["it was never calibrated"] if anchors is None else list(_unmet(lines_of(anchors)))
    if resolution is None:
        reasons.append("fewer than two learners are published, so nothing shows that it tells brains apart")
    elif resolution == 0.0:
        reasons.append("it tells no two published learners apart")
    return reasons


def _unmet(lines: Lines) -> Iterable[str]:
    if lines.null is None:
        yield "the null policy was not measured"
    elif abs(lines.null) > MAX_NULL:
        yield f"the null policy gets {lines.null:.3f} instead of 0"
    if lines.blind is None:
        yield "no policy that ignores its input was searched"
    elif lines.blind > MAX_BLIND:
        yield f"the best blind policy gets {lines.blind:.3f}, more than {MAX_BLIND}"
    if lines.reference is None:
        yield "no reference was measured"
    elif lines.reference < MIN_REFERENCE:
        yield f"the reference gets {lines.reference:.3f}, less than {MIN_REFERENCE}"
