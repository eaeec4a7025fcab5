"""A task's floor and ceiling: data files written by ``nematodebench calibrate``, never typed by hand."""

import json
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.scoring import AnchorKind, ScoreAnchor, check_anchors
from nematodebench.tasks.base import Task

__all__ = ["BlindPolicy", "TaskAnchors", "anchor_path", "load_anchors", "write_anchors"]


@dataclass(frozen=True)
class BlindPolicy:
    """The best policy found that ignores its input: skill begins above it."""

    value: float
    se: float
    n: int
    policy: str
    provenance: str


@dataclass(frozen=True)
class TaskAnchors:
    """What a task's score is measured against."""

    task: str
    spec_hash: str
    score_key: str
    floor: ScoreAnchor
    ceiling: ScoreAnchor
    reference: ScoreAnchor | None = None
    blind: BlindPolicy | None = None


def anchor_path(task_id: str) -> Path:
    """Where a built-in task's anchors are kept."""
    return Path(str(resources.files("nematodebench.tasks"))) / "anchors" / f"{task_id}.json"


def _anchor(data: dict[str, Any] | None) -> ScoreAnchor | None:
    return None if data is None else ScoreAnchor(**{**data, "kind": AnchorKind(data["kind"])})


def load_anchors(task: Task) -> TaskAnchors | None:
    """The anchors of a task; None where it was never calibrated. Anchors of another specification are an error."""
    path = anchor_path(task.id)
    if not path.is_file() or not task.official:
        return None
    data = json.loads(path.read_text())
    if data["spec_hash"] != task.spec_hash:
        raise UsageError(
            f"The anchors of {task.id} are for another specification. Run `nematodebench calibrate {task.id} --write`."
        )
    floor, ceiling = _anchor(data.pop("floor")), _anchor(data.pop("ceiling"))
    if floor is None or ceiling is None:
        raise UsageError(f"{path} lacks a floor or a ceiling. Run `nematodebench calibrate {task.id} --write`.")
    check_anchors(floor, ceiling)
    blind = data.pop("blind")
    return TaskAnchors(
        **{**data, "reference": _anchor(data["reference"])},
        floor=floor,
        ceiling=ceiling,
        blind=BlindPolicy(**blind) if blind else None,
    )


def write_anchors(anchors: TaskAnchors) -> Path:
    """Freezes anchors with the package."""
    path = anchor_path(anchors.task)
    path.write_text(json.dumps(asdict(anchors), indent=1) + "\n")
    return path
