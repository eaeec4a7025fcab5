"""The parts of a stored session that can be computed again: what its episodes say, and the code of its brain."""

import hashlib
import inspect
import math
from pathlib import Path
from typing import Any

from nematodebench.brains.registry import BrainType
from nematodebench.measures.base import Measurement
from nematodebench.records.schemas import NormalisedRecord
from nematodebench.tasks.anchoring import load_anchors, normalise
from nematodebench.tasks.base import Task

__all__ = ["brain_source_hash", "measurement_records", "normalised_record"]


def brain_source_hash(brain: BrainType) -> str | None:
    """SHA-256 of the file that defines a brain from outside the package; None for the built-in ones."""
    if brain.__module__.startswith("nematodebench."):
        return None
    try:
        return hashlib.sha256(Path(inspect.getfile(brain)).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return None


def normalised_record(task: Task, measurement: Measurement) -> NormalisedRecord | None:
    """The normalised headline score with the anchors it used."""
    anchors = load_anchors(task)
    values = [row[task.score_key] for row in measurement.runs if task.score_key in row]
    score = normalise([value for value in values if value is not None], anchors)
    if score is None or anchors is None:
        return None
    se = None if math.isnan(score.se) else score.se
    return NormalisedRecord(
        score=score.estimate, unclamped=score.unclamped, se=se, floor=anchors.floor, ceiling=anchors.ceiling
    )


def measurement_records(task: Task, measurement: Measurement) -> dict[str, Any]:
    """Every part of a stored session that follows from its episodes alone: what a check computes again."""
    headline = measurement.session.get(task.score_key)
    return {
        "metrics": dict(measurement.session),
        "level": task.scoring.level(headline.mean) if headline else None,
        "normalised": normalised_record(task, measurement),
        "chemotaxis": measurement.chemotaxis,
        "notes": measurement.notes,
    }
