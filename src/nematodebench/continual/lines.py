"""What doing nothing and the best constant action get on the continual task: measured, stored, printed as lines.

A profile's primary score is not 0 for policies that ignore their input, so a brain's score is read against theirs. The
lines hold for the standard settings (order and episodes); other settings have none.
"""

import datetime
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench import scoring
from nematodebench.brains.scripted.blind_cycle import BlindCycle
from nematodebench.continual.runs import NULL_RUNS, NULL_SEED, Settings, anchors_of, plan_of, run_scores
from nematodebench.engine.run import interface
from nematodebench.errors import UsageError
from nematodebench.files import write_file
from nematodebench.records.git import git
from nematodebench.sessions.execution import run_plan
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import ORDER, continual_task

__all__ = ["Line", "LineScore", "lines_path", "load_lines", "measure_lines", "write_lines"]

_SEARCH_RUNS, _SEARCH_SEED = 50, 2


@dataclass(frozen=True)
class LineScore:
    """A policy's primary score under one profile, and the share of the way from the null policy's to 1."""

    primary: float
    se: float
    anchored: float


@dataclass(frozen=True)
class Line:
    """One policy: its scores by profile."""

    name: str
    policy: str
    n: int
    scores: dict[str, LineScore]
    provenance: str


def _primaries(
    task: Task, brain: str, config: dict[str, Any], runs: int = NULL_RUNS, seed: int = NULL_SEED
) -> dict[str, list[float]]:
    settings = Settings(runs=runs, seed=seed, probe_episodes=0)
    session = run_plan(plan_of(task, brain, config, seed, settings))
    if session.failed_runs:
        raise UsageError(f"{len(session.failed_runs)} runs of {brain} on {task.id} failed: no line was measured.")
    scores = [run_scores(task, run, anchors_of(ORDER)) for run in session.finished_runs]
    return {profile: [run[profile].primary for run in scores] for profile in scoring.PROFILES}


def measure_lines() -> list[Line]:
    """Measures the motionless policy and the best constant action, which is searched on other seeds.

    Runs and seeds are those of the null policy that every continual session is compared with.
    """
    task = continual_task(ORDER)
    null = {name: float(np.mean(values)) for name, values in _primaries(task, "null_random", {}).items()}
    constants = [{"segments": [[1.0, float(choice)]]} for choice in range(interface(task).choices)]
    tried = [_primaries(task, BlindCycle.name, config, _SEARCH_RUNS, _SEARCH_SEED) for config in constants]
    best = int(np.argmax([np.mean(list(found.values())) for found in tried]))
    still = _line(task, "motionless", "does nothing", _primaries(task, "motionless", {}), null)
    constant = _primaries(task, BlindCycle.name, constants[best])
    return [still, _line(task, "best constant", f"action {best} in every step", constant, null)]


def _line(task: Task, name: str, policy: str, values: dict[str, list[float]], null: dict[str, float]) -> Line:
    scores = {}
    for profile, found in values.items():
        mean, se = float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found)))
        scores[profile] = LineScore(mean, se, scoring.anchored_primary(mean, null[profile]))
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    where = f"{task.id}, session seed {NULL_SEED}, runs 0:{NULL_RUNS - 1}"
    return Line(
        name, policy, NULL_RUNS, scores, f"{where}, git {commit}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    )


def lines_path(task_id: str) -> Path:
    """Where the lines of a continual task are kept."""
    return Path(__file__).parent / f"{task_id}.lines.json"


def write_lines(task: Task, lines: Sequence[Line]) -> Path:
    """Freezes lines with the package."""
    path = lines_path(task.id)
    content = {"task": task.id, "spec_hash": task.spec_hash, "lines": [asdict(line) for line in lines]}
    write_file(path, (json.dumps(content, indent=1) + "\n").encode())
    return path


def load_lines(settings: Settings) -> list[Line]:
    """The lines of the standard settings; none for others, or where they were never measured."""
    task = continual_task(ORDER)
    path = lines_path(task.id)
    if not path.is_file() or settings.order != ORDER or settings.episodes:
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        spec_hash, lines = content["spec_hash"], [_read(line) for line in content["lines"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is damaged. `nematodebench calibrate {task.id} --write` measures it anew.") from error
    if spec_hash != task.spec_hash:
        raise UsageError(
            f"The lines of {task.id} are of another task. Run `nematodebench calibrate {task.id} --write`."
        )
    return lines


def _read(data: dict[str, Any]) -> Line:
    return Line(**{**data, "scores": {name: LineScore(**score) for name, score in data["scores"].items()}})
