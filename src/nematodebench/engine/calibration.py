"""Measuring anchors: floors with the null policy, ceilings with scripted references, on seeds of their own."""

import datetime
from dataclasses import replace

import numpy as np

from nematodebench.engine.config import SessionConfig
from nematodebench.engine.session import make_plan, run_plan
from nematodebench.errors import UsageError
from nematodebench.records.provenance import git
from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.tasks.anchoring import TaskAnchors
from nematodebench.tasks.base import Task

__all__ = ["CALIBRATION_SEED", "CHECK_SEED", "agrees", "calibrate_task", "measure_policy"]

CALIBRATION_SEED = 0
CHECK_SEED = 1
"""Session seeds of the anchors and of the check: never the same runs."""

_TOLERANCE = 4.0


def measure_policy(
    task: Task, brain: str, runs: int, seed: int, kind: AnchorKind, workers: int | None = None
) -> ScoreAnchor:
    """The score of a policy on a task as an anchor with its standard error and provenance."""
    plan = make_plan(SessionConfig(task=task.id, brain=brain, runs=runs, seed=seed), workers=workers)
    session = run_plan(plan)
    if session.failed_runs:
        raise UsageError(f"{len(session.failed_runs)} runs of {brain} on {task.id} failed: no anchor was measured.")
    values = np.array([run.metrics[task.score_key] for run in session.runs], dtype=np.float64)
    se = float(values.std(ddof=1) / np.sqrt(values.size))
    role = "null" if kind is AnchorKind.NULL_MEASURED else "reference"
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    provenance = (
        f"{role}={brain}, score_key={task.score_key}, session seed {seed}, runs 0:{runs - 1}, n={runs}, se={se:.2g}, "
        f"git {commit}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    )
    return ScoreAnchor(float(values.mean()), kind, provenance, runs, se)


def calibrate_task(task: Task, runs: int, workers: int | None = None) -> TaskAnchors:
    """Measures a task's floor; its ceiling is the analytic maximum of its score."""
    floor = measure_policy(task, "null_random", runs, CALIBRATION_SEED, AnchorKind.NULL_MEASURED, workers)
    ceiling = ScoreAnchor(1.0, AnchorKind.ANALYTIC, f"analytic: the largest possible {task.score_key}")
    return TaskAnchors(task.id, task.spec_hash, task.score_key, floor, ceiling)


def with_reference(anchors: TaskAnchors, task: Task, brain: str, runs: int, workers: int | None = None) -> TaskAnchors:
    """Adds a measured reference beside the analytic ceiling."""
    kind = AnchorKind.REFERENCE_MEASURED
    return replace(anchors, reference=measure_policy(task, brain, runs, CALIBRATION_SEED, kind, workers))


def agrees(stored: ScoreAnchor, measured: ScoreAnchor) -> bool:
    """Whether two measurements of one anchor differ by at most four standard errors of their difference."""
    error = float(np.hypot(stored.se, measured.se))
    return abs(stored.value - measured.value) <= _TOLERANCE * error + 1e-12
