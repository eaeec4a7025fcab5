"""Measures anchors: the null policy, references and the best input-blind policy, on seeds of their own.

Policies that learn nothing are measured without the training phase, because it could not change them.
"""

import datetime
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nematodebench.calibration.blind import Cycle, describe, search
from nematodebench.calibration.reference import reference_runs
from nematodebench.engine.executors import default_workers
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.records.git import git
from nematodebench.scoring import AnchorKind, ScoreAnchor
from nematodebench.sessions.config import session_config
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors
from nematodebench.tasks.base import Task

__all__ = [
    "CALIBRATION_SEED", "CHECK_SEED", "NULL", "REFERENCE_RUNS", "SEARCH_TOLERANCE", "agrees", "better_blind",
    "calibrate_task", "measure_blind", "measure_motionless", "measure_null", "measure_recipe", "measure_reference",
    "search_advantage", "search_again", "with_blind", "with_reference",
]  # fmt: skip

CALIBRATION_SEED = 0
CHECK_SEED = 1
_SEARCH_SEED, _OTHER_SEARCH_SEED = 2, 3
"""Session seeds of the anchors, of the check and of the searches for blind policies: never the same runs."""

SEARCH_TOLERANCE = 0.05
"""By how much of the way from floor to ceiling an independent search may be better than the stored policy."""

REFERENCE_RUNS = 200
"""Runs of references and blind policies; few are enough, because most of them hardly vary."""

NULL = "null_random"
_TOLERANCE = 4.0


def _scores(
    task: Task, brain: str, config: dict[str, object], runs: int, seed: int, workers: int | None
) -> list[float]:
    """Runs a brain that learns nothing and gives one score for each run."""
    scored = task.untrained() if task.trains_first else task
    given = session_config({"task": scored.id, "brain": brain, "config": config, "runs": runs, "seed": seed})
    session = run_plan(make_plan(given, workers=workers))
    if session.failed_runs:
        raise UsageError(f"{len(session.failed_runs)} runs of {brain} on {task.id} failed: no anchor was measured.")
    return [float(run.metrics[task.score_key] or 0.0) for run in session.runs]


def _anchor(task: Task, kind: AnchorKind, who: str, values: Sequence[float], seed: int) -> ScoreAnchor:
    mean, se = _mean_and_error(np.asarray(values))
    return ScoreAnchor(mean, kind, _provenance(task, who, len(values), se, seed), len(values), se)


def _mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def _provenance(task: Task, who: str, runs: int, se: float, seed: int) -> str:
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    return (
        f"{who}, score_key={task.score_key}, session seed {seed}, runs 0:{runs - 1}, n={runs}, se={se:.2g}, "
        f"git {commit}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    )


def measure_null(task: Task, runs: int, seed: int, workers: int | None = None) -> ScoreAnchor:
    """Measures the null policy's score with its standard error and provenance."""
    values = _scores(task, NULL, {}, runs, seed, workers)
    return _anchor(task, AnchorKind.NULL_MEASURED, f"null={NULL}", values, seed)


def measure_reference(task: Task, runs: int, seed: int, workers: int | None = None) -> ScoreAnchor | None:
    """Measures the task's reference brain or the world's reference controller; None if there is neither."""
    kind = AnchorKind.REFERENCE_MEASURED
    if task.reference_brain:
        values = _scores(task, task.reference_brain, {}, runs, seed, workers)
        return _anchor(task, kind, f"reference={task.reference_brain}", values, seed)
    if task.world.reference is None:
        return None
    alone = replace(task.untrained() if task.trains_first else task, assay="")
    records = reference_runs(alone, [run_seed(seed, k) for k in range(runs)], workers or default_workers())
    values = [float(row[task.score_key] or 0.0) for row in alone.measure(records).runs]
    return _anchor(task, kind, f"reference=scripted with the full state of world {task.world.name}", values, seed)


def measure_blind(
    task: Task, segments: Cycle, runs: int, seed: int, workers: int | None = None, budget: str = ""
) -> BlindPolicy:
    """Measures the score of one input-blind policy; ``budget`` says how it was found."""
    mean, se = _mean_and_error(np.array(_scores(task, "blind_cycle", {"segments": segments}, runs, seed, workers)))
    provenance = _provenance(task, "blind=blind_cycle with these segments", runs, se, seed)
    return BlindPolicy(mean, se, runs, describe(task, segments), segments, provenance, budget)


def calibrate_task(task: Task, runs: int, workers: int | None = None) -> TaskAnchors | None:
    """Measures the null policy; its score is the floor unless that is exact. None for a task without a score."""
    if not task.scoring.has_score:
        return None
    null = measure_null(task, runs, CALIBRATION_SEED, workers)
    ceiling = _ceiling(task, workers)
    reference = ceiling if task.ceiling is None else None
    if task.floor is None:
        return TaskAnchors(task.id, task.spec_hash, task.score_key, null, ceiling, reference=reference)
    floor = ScoreAnchor(task.floor, AnchorKind.ANALYTIC, f"analytic: {task.score_key} of pure chance")
    return TaskAnchors(task.id, task.spec_hash, task.score_key, floor, ceiling, null, reference)


def _ceiling(task: Task, workers: int | None) -> ScoreAnchor:
    """The largest possible score where the task knows it, otherwise its reference's."""
    if task.ceiling is not None:
        return ScoreAnchor(task.ceiling, AnchorKind.ANALYTIC, f"analytic: the largest possible {task.score_key}")
    reference = measure_reference(task, REFERENCE_RUNS, CALIBRATION_SEED, workers)
    if reference is None:
        raise UsageError(f"{task.id} has neither an analytic ceiling nor a reference.")
    return reference


def with_reference(anchors: TaskAnchors, task: Task, workers: int | None = None) -> TaskAnchors:
    """Adds a measured reference beside an analytic ceiling."""
    if task.ceiling is None:
        return anchors
    return replace(anchors, reference=measure_reference(task, REFERENCE_RUNS, CALIBRATION_SEED, workers))


def with_blind(anchors: TaskAnchors, task: Task, workers: int | None = None) -> TaskAnchors:
    """Adds doing nothing and the best input-blind policy, selected on seeds of the search and measured on others.

    A better one that is stored already stays.
    """
    found = search(task, _SEARCH_SEED, workers or default_workers())
    better = better_blind(anchors, task, found.cycle, found.budget, workers)
    return replace(better, motionless=measure_motionless(task, workers))


def measure_motionless(task: Task, workers: int | None = None) -> BlindPolicy:
    """Measures what doing nothing scores."""
    values = np.array(_scores(task, "motionless", {}, REFERENCE_RUNS, CALIBRATION_SEED, workers))
    mean, se = _mean_and_error(values)
    provenance = _provenance(task, "motionless", REFERENCE_RUNS, se, CALIBRATION_SEED)
    return BlindPolicy(mean, se, REFERENCE_RUNS, "motionless", (), provenance)


def better_blind(
    anchors: TaskAnchors, task: Task, segments: Cycle, budget: str, workers: int | None = None
) -> TaskAnchors:
    """Anchors with this input-blind policy if it is better than the stored one in the same runs, measured anew."""
    tried = measure_blind(task, segments, REFERENCE_RUNS, CALIBRATION_SEED, workers, budget)
    if anchors.blind is not None:
        stored = anchors.blind
        again = measure_blind(task, stored.segments, REFERENCE_RUNS, CALIBRATION_SEED, workers, stored.budget)
        if again.value >= tried.value:
            known = stored.budget or f"{budget}; what was stored before is better"
            return replace(anchors, blind=replace(again, budget=known))
    return replace(anchors, blind=tried)


def measure_recipe(task: Task, segments: Cycle, workers: int | None = None) -> BlindPolicy:
    """Measures an input-blind policy in the runs that the stored one was measured in."""
    return measure_blind(task, segments, REFERENCE_RUNS, CALIBRATION_SEED, workers)


def search_again(task: Task, workers: int | None = None) -> BlindPolicy:
    """What an independent search of the same budget finds, measured on seeds of the check."""
    found = search(task, _OTHER_SEARCH_SEED, workers or default_workers())
    return measure_blind(task, found.cycle, REFERENCE_RUNS, CHECK_SEED, workers, found.budget)


def search_advantage(anchors: TaskAnchors, found: float) -> float:
    """By how much of the way from floor to ceiling a score is above the stored policy that ignores its input."""
    if anchors.blind is None:
        raise UsageError(f"{anchors.task} has no stored policy that ignores its input.")
    return (found - anchors.blind.value) / (anchors.ceiling.value - anchors.floor.value)


def agrees(stored: ScoreAnchor | BlindPolicy, measured: ScoreAnchor | BlindPolicy) -> bool:
    """Whether two measurements of one thing differ by at most four standard errors of their difference."""
    error = float(np.hypot(stored.se, measured.se))
    return abs(stored.value - measured.value) <= _TOLERANCE * error + 1e-12
