"""The parts of a stored session that can be computed again: what its episodes say, and the code of its brain."""

import hashlib
import inspect
import math
from pathlib import Path
from typing import Any

from nematodebench.brains.registry import BrainType
from nematodebench.engine.isolation.host import Foreign
from nematodebench.measures.base import Measurement
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.records.schemas import ContinuedFrom, NormalisedRecord
from nematodebench.stats import StatValue
from nematodebench.tasks.anchoring import load_anchors, normalise
from nematodebench.tasks.base import Task

__all__ = ["brain_file", "brain_source_hash", "continued_record", "measurement_records", "normalised_record"]


def brain_file(brain: BrainType | Foreign) -> Path | None:
    """The file of a brain from outside the package; None for others, and where none is imported."""
    if isinstance(brain, Foreign) or brain.__module__.startswith("nematodebench."):
        return None
    try:
        return Path(inspect.getfile(brain)).resolve()
    except (OSError, TypeError):
        return None


def brain_source_hash(brain: BrainType | Foreign) -> str | None:
    """SHA-256 of the file that defines a brain from outside the package; None for others and where none is imported."""
    file = brain_file(brain)
    try:
        return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def continued_record(start: Checkpoint | None) -> ContinuedFrom | None:
    """Where the saved brain comes from that runs began with; None for fresh brains."""
    if start is None:
        return None
    header = start.header
    return ContinuedFrom(sha256=start.sha256, task=header.task, seed=header.seed, episode=header.episode)


def normalised_record(task: Task, measurement: Measurement, older: bool = False) -> NormalisedRecord | None:
    """The normalised headline score with the anchors it used."""
    anchors = load_anchors(task)
    values = [row[task.score_key] for row in measurement.runs if task.score_key in row]
    pseudo = None if older else measurement.pseudo.get(task.score_key)
    score = normalise([value for value in values if value is not None], anchors, pseudo)
    if score is None or anchors is None:
        return None
    known = {} if math.isnan(score.se) or older else {"ci95": score.ci95, "doubt": score.doubt}
    se = None if math.isnan(score.se) else score.se
    return NormalisedRecord(
        score=score.estimate, unclamped=score.unclamped, se=se, floor=anchors.floor, ceiling=anchors.ceiling, **known
    )


def measurement_records(task: Task, measurement: Measurement, older: bool = False) -> dict[str, Any]:
    """Every part of a stored session that follows from its episodes alone: what a check computes again.

    Args:
        task: The task.
        measurement: What was measured.
        older: Whether intervals are those of older versions, for results that were stored with them.
    """
    headline = measurement.session.get(task.score_key)
    return {
        "metrics": _older_summaries(measurement) if older else dict(measurement.session),
        "level": task.scoring.level(headline.mean) if headline else None,
        "normalised": normalised_record(task, measurement, older),
        "chemotaxis": measurement.chemotaxis,
        "notes": measurement.notes,
    }


def _older_summaries(measurement: Measurement) -> dict[str, StatValue]:
    """Every metric over the runs with 1.96 standard errors; what runs do not have, the stability, is one value."""
    found = {}
    for name, value in measurement.session.items():
        runs = [row[name] for row in measurement.runs if row.get(name) is not None]
        found[name] = StatValue.plain([[float(v) for v in runs if v is not None] or [value.mean]])
    return found
