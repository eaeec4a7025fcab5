"""Reads and writes the anchors of tasks: data files that ``nematodebench calibrate`` writes and nobody types."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from nematodebench.errors import UsageError
from nematodebench.files import atomic_write, clean_leftovers
from nematodebench.scoring import AnchoredScore, AnchorKind, ScoreAnchor, anchored_score, check_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.specification import specification_hash

__all__ = ["BlindPolicy", "TaskAnchors", "anchor_path", "load_anchors", "normalise", "write_anchors"]


@dataclass(frozen=True)
class BlindPolicy:
    """The best policy found that ignores its input: skill begins above it.

    ``segments`` is the config of the brain ``blind_cycle`` that plays it; ``budget`` says what was searched to find it.
    """

    value: float
    se: float
    n: int
    policy: str
    segments: tuple[tuple[float, ...], ...]
    provenance: str
    budget: str = ""


@dataclass(frozen=True)
class TaskAnchors:
    """What a task's score is measured against.

    Attributes:
        task: Id of the task.
        spec_hash: Of the specification that was calibrated.
        score_key: The metric that is the score.
        floor: Chance: measured with the null policy, or exact.
        ceiling: The largest possible score, or the reference's.
        null: The null policy's own score where the floor is exact.
        reference: A scripted reference's score.
        blind: The best policy found that ignores its input.
        motionless: What doing nothing scores.
    """

    task: str
    spec_hash: str
    score_key: str
    floor: ScoreAnchor
    ceiling: ScoreAnchor
    null: ScoreAnchor | None = None
    reference: ScoreAnchor | None = None
    blind: BlindPolicy | None = None
    motionless: BlindPolicy | None = None


def anchor_path(task_id: str) -> Path:
    """Where a built-in task's anchors are kept."""
    return Path(str(resources.files("nematodebench.tasks"))) / "anchors" / f"{task_id}.json"


def _anchor(data: dict[str, Any] | None) -> ScoreAnchor | None:
    return None if data is None else ScoreAnchor(**{**data, "kind": AnchorKind(data["kind"])})


def load_anchors(task: Task) -> TaskAnchors | None:
    """The anchors of a task; None where it was never calibrated or has no score.

    An untrained variant has its task's. Anchors of another specification are an error.
    """
    if task.trained is not None:
        return load_anchors(task.trained)
    path = anchor_path(task.id)
    if not path.is_file() or not task.official or not task.scoring.has_score:
        return None
    try:
        return _read(task, path)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path} is damaged. `nematodebench calibrate {task.id} --write` measures the anchors anew."
        ) from error


def _read(task: Task, path: Path) -> TaskAnchors:
    data = json.loads(path.read_text())
    _check_specification(task, data.pop("spec"), data["spec_hash"])
    floor, ceiling = _anchor(data.pop("floor")), _anchor(data.pop("ceiling"))
    if floor is None or ceiling is None:
        raise UsageError(f"{path} lacks a floor or a ceiling. Run `nematodebench calibrate {task.id} --write`.")
    check_anchors(floor, ceiling)
    null, reference = _anchor(data.pop("null")), _anchor(data.pop("reference"))
    blind, motionless = _blind(data.pop("blind")), _blind(data.pop("motionless", None))
    return TaskAnchors(
        **data, floor=floor, ceiling=ceiling, null=null, reference=reference, blind=blind, motionless=motionless
    )


def _check_specification(task: Task, spec: dict[str, Any], spec_hash: str) -> None:
    """Refuses anchors that were measured on a task that did something else."""
    again = f"Run `nematodebench calibrate {task.id} --write`."
    if specification_hash(spec) != spec_hash:
        raise UsageError(f"The anchors of {task.id} were edited: their specification has another hash. {again}")
    changes = task.changes_since(spec)
    if changes:
        raise UsageError(
            f"The anchors of {task.id} are for another specification: {'; '.join(changes)}. A new parameter that "
            f"changes nothing is 0 or empty by default, or declared with `added(...)`. A task that does something else "
            f"needs a new version. For a task without published results: {again}"
        )


def _blind(data: dict[str, Any] | None) -> BlindPolicy | None:
    if data is None:
        return None
    return BlindPolicy(**{**data, "segments": tuple(tuple(segment) for segment in data["segments"])})


def normalise(
    values: Sequence[float], anchors: TaskAnchors | None, pseudo: ArrayLike | None = None
) -> AnchoredScore | None:
    """The share of the gap from floor to ceiling that was closed; None without anchors.

    Args:
        values: One raw score per run.
        anchors: The task's.
        pseudo: Jackknife pseudo-values of a score that a run does not have on its own.
    """
    if anchors is None or not values:
        return None
    return anchored_score(values, anchors.floor, anchors.ceiling, pseudo)


def write_anchors(task: Task, anchors: TaskAnchors) -> Path:
    """Freezes anchors with the package and with today's specification, which may have more keys than their old one."""
    path = anchor_path(task.id)
    path.parent.mkdir(exist_ok=True)
    clean_leftovers(path.parent)
    content = {"task": task.id, "spec_hash": task.spec_hash, "spec": task.spec()}
    content |= asdict(replace(anchors, spec_hash=task.spec_hash))
    atomic_write(path, (json.dumps(content, indent=1) + "\n").encode())
    return path
