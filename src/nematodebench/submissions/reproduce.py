"""Executes a random choice of a submission's runs again, from their seeds."""

import math
import platform
import random
import tempfile
from pathlib import Path
from typing import Literal

from nematodebench.engine.executors import Watch, choose_executor, default_workers, execute_all
from nematodebench.engine.run import RunSpec, compile_for
from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import Reexecution, Reproduction
from nematodebench.records.provenance import platform_class
from nematodebench.records.schemas import ExperimentMetadata, RunRecord
from nematodebench.sessions.rerun import Rerun, spec_of, with_columns_of
from nematodebench.submissions.bundles import foreign
from nematodebench.submissions.case import Case
from nematodebench.tasks.base import Task

__all__ = ["TOLERANCE", "reproduce"]

TOLERANCE = 0.10

Chosen = tuple[ExperimentMetadata, RunRecord]


def reproduce(case: Case, count: int, workers: int | None = None) -> Reproduction:
    """Executes ``count`` runs again, chosen anew each time, and compares them with their records."""
    chosen = _choose(case, count)
    with tempfile.TemporaryDirectory() as work:
        return _reproduce(case, chosen, workers, Path(work))


def _reproduce(case: Case, chosen: list[Chosen], workers: int | None, work: Path) -> Reproduction:
    own = None if case.bundle is None else foreign(case.root, case.bundle, work, case.trust_code)
    specs = [_renumber(spec_of(record, run, case.trust_code, own), k) for k, (record, run) in enumerate(chosen)]
    cores = default_workers() if workers is None else workers
    compile_for(specs[0].task, specs[0].brain)  # here, not in two threads at once
    executor = choose_executor(specs[0].brain, None, cores)
    results = {result.index: result for result in execute_all(specs, executor, cores, Watch())}
    # This machine decides whether bits count, and never what a submission says of the one it was made on.
    exact = platform_class(platform.machine()) == "x86-64"
    tasks = {record.experiment_id: task for record, task in zip(case.records, case.recorded, strict=True)}
    recorded = [tasks[record.experiment_id] for record, _ in chosen]
    reruns = [
        Rerun(run, with_columns_of(recorded[k], results[k], case.task), exact) for k, (_, run) in enumerate(chosen)
    ]
    compared = [_compare(*one) for one in zip(recorded, [record for record, _ in chosen], reruns, strict=True)]
    return Reproduction(
        runs=compared,
        total_runs=sum(record.num_runs for record in case.records),
        same_platform=exact,
        passed=all(one.outcome == "identical" or (not exact and one.outcome == "within") for one in compared),
    )


def _choose(case: Case, count: int) -> list[Chosen]:
    every = [(record, run) for record in case.records for run in record.runs]
    if count < 1:
        raise UsageError(f"--reproduce {count}: give at least 1 run.")
    # Not seedable: nobody may know beforehand which runs will be looked at.
    return random.SystemRandom().sample(every, min(count, len(every)))


def _renumber(spec: RunSpec, index: int) -> RunSpec:
    """Gives a run another index: runs of different sessions share numbers, and results are told apart by the index."""
    return RunSpec(spec.task, spec.brain_name, spec.brain, spec.config, spec.seed, index)


def _compare(task: Task, record: ExperimentMetadata, again: Rerun) -> Reexecution:
    outcome: Literal["identical", "within", "different"] = "identical"
    message = again.note
    if again.result.failure is not None:
        outcome, message = "different", f"the re-execution failed: {again.result.failure.message}"
    elif not again.identical:
        far = _far(_recorded_metrics(task, again), _computed_metrics(task, again))
        outcome = "different" if again.same_platform or far else "within"
        message = "; ".join(far) or f"{again.difference}, though the metrics are close"
    run = again.recorded
    return Reexecution(experiment_id=record.experiment_id, run=run.run, seed=run.seed, outcome=outcome, message=message)


def _recorded_metrics(task: Task, again: Rerun) -> dict[str, float]:
    """Every metric that a run has whatever the other runs of its session did."""
    row = dict(again.recorded.metrics)
    shared = task.scoring.pseudo_values([row, row])
    return {key: float(value) for key, value in row.items() if value is not None and key not in shared}


def _computed_metrics(task: Task, again: Rerun) -> dict[str, float]:
    row = task.measure([again.result.records]).runs[0]
    return {key: float(value) for key, value in row.items() if value is not None}


def _far(claimed: dict[str, float], computed: dict[str, float]) -> list[str]:
    """Lists every metric that is missing or differs by more than 10 % of what was claimed."""
    return [
        f"{key} is claimed as {value:.4g}, re-executed {computed.get(key, math.nan):.4g}"
        for key, value in claimed.items()
        if not abs(value - computed.get(key, math.nan)) <= TOLERANCE * abs(value)
    ]
