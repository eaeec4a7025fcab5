"""From a session to its stored record, and back to the runs it came from."""

import hashlib
import inspect
import io
import math
from pathlib import Path
from typing import Any, cast

from nematodebench.brains.registry import BrainType, class_of
from nematodebench.kernels.target import code_generation
from nematodebench.measures.base import Measurement
from nematodebench.records.episodes import write_frame
from nematodebench.records.provenance import collect_provenance
from nematodebench.records.schemas import (
    AnchorRecord,
    ChemotaxisRecord,
    ExperimentMetadata,
    NormalisedRecord,
    RunFailureRecord,
    RunRecord,
    StatRecord,
    Timing,
)
from nematodebench.records.store import ExperimentStore
from nematodebench.sessions.plan import dump_config
from nematodebench.sessions.session import Session
from nematodebench.tasks.anchoring import load_anchors, normalise
from nematodebench.tasks.base import Task

__all__ = ["brain_source_hash", "measurement_records", "metadata_of", "store_session"]


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
    floor, ceiling = (
        AnchorRecord(value=a.value, kind=cast("Any", a.kind.value), provenance=a.provenance, n=a.n, se=a.se)
        for a in (anchors.floor, anchors.ceiling)
    )
    se = None if math.isnan(score.se) else score.se
    return NormalisedRecord(score=score.estimate, unclamped=score.unclamped, se=se, floor=floor, ceiling=ceiling)


def measurement_records(task: Task, measurement: Measurement) -> dict[str, Any]:
    """Every part of a stored session that follows from its episodes alone: what a check computes again."""
    headline = measurement.session.get(task.score_key)
    plate = measurement.chemotaxis
    return {
        "metrics": {name: StatRecord.of(value) for name, value in measurement.session.items()},
        "level": task.scoring.level(headline.mean) if headline else None,
        "normalised": normalised_record(task, measurement),
        "chemotaxis": None if plate is None else ChemotaxisRecord(**vars(plate)),
        "notes": measurement.notes,
    }


def _runs(session: Session) -> list[RunRecord]:
    records = []
    for view in session.runs:
        result = view.result
        failure = None if result.failure is None else RunFailureRecord(**vars(result.failure))
        records.append(
            RunRecord(
                run=result.index,
                seed=result.seed,
                status="failed" if failure else "finished",
                metrics=dict(view.metrics),
                descriptors=result.descriptors,
                record_hash=result.record_hash,
                memory_hash=result.memory_hash,
                steps=result.steps,
                failure=failure,
            )
        )
    return records


def metadata_of(session: Session) -> ExperimentMetadata:
    """The record that is stored."""
    plan = session.plan
    return ExperimentMetadata(
        experiment_id=session.experiment_id,
        task=plan.task.id,
        task_spec_hash=plan.task.spec_hash,
        task_spec=dict(plan.task.spec()),
        official=plan.task.official,
        brain=plan.brain_name,
        brain_class=cast("Any", class_of(plan.brain)),  # checked by the schema
        brain_config=dump_config(plan.config),
        brain_source_hash=brain_source_hash(plan.brain),
        config_file=plan.config_name,
        config_hash=hashlib.sha256(plan.config_text.encode()).hexdigest(),
        session_seed=plan.seed,
        num_runs=plan.runs,
        episodes_per_run=plan.task.phases[0].episodes or None,
        runs=_runs(session),
        score_key=plan.task.score_key,
        **measurement_records(plan.task, session.measurement),
        provenance=collect_provenance(code_generation()),
        timing=Timing(
            created=session.created,
            finished=session.finished,
            wall_seconds=session.wall_seconds,
            steps_per_second=session.steps / max(session.wall_seconds, 1e-9),
            workers=plan.workers,
            executor=plan.executor,
        ),
    )


def store_session(session: Session, store: ExperimentStore) -> Path:
    """Writes the finished session; returns its folder."""
    if not store.folder.exists():
        store.create({}, session.plan.config_name, session.plan.config_text)
    buffer = io.BytesIO()
    write_frame(session.episodes, buffer)
    store.finish(metadata_of(session), buffer.getvalue())
    return store.folder
