"""What is kept of a session while it runs, and how it is read back: its plan, and the runs that have ended."""

from collections.abc import Sequence
from typing import Any

from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.run import record_hash
from nematodebench.engine.spec import RunSpec
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.records.run_files import RunFiles
from nematodebench.records.runs import RunResult
from nematodebench.sessions.begun import begun_with
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import Plan, make_plan, session_config
from nematodebench.tasks.base import Task

__all__ = ["kept_runs", "plan_of_record", "plan_record"]


def plan_record(plan: Plan) -> dict[str, Any]:
    """What a plan is made of, and what it was begun with, as plain data."""
    return {
        "session": session_config(plan).model_dump(mode="json"),
        "workers": plan.workers,
        "executor": plan.executor,
        "config_name": plan.config_name,
        "begun_with": begun_with(plan),
        "checkpoint": plan.checkpoint,
        "limit": plan.limit,
        "continued_from": None if plan.start is None else plan.start.sha256,
    }


def plan_of_record(
    record: dict[str, Any], text: str, start: Checkpoint | None, workers: int | None, foreign: Foreign | None = None
) -> Plan:
    """The plan of which :func:`plan_record` has told."""
    return make_plan(
        SessionConfig(**record["session"]), workers=workers or record["workers"], executor=record["executor"],
        config_name=record["config_name"], text=text, foreign=foreign, checkpoint=record.get("checkpoint", 0),
        start=start, limit=record.get("limit"),
    )  # fmt: skip


def kept_runs(specs: Sequence[RunSpec], files: RunFiles, damaged: list[str]) -> dict[int, RunResult]:
    """The runs that are finished. A file that is damaged, or not of these runs, is executed again and named."""
    wanted = {spec.index: spec for spec in specs}
    kept = {}
    for name, run in files.read():
        spec = None if run is None else wanted.get(run.index)
        if run is None or spec is None or run.seed != spec.seed or not _sound(spec.task, run):
            damaged.append(name)
        else:
            kept[run.index] = run
    return kept


def _sound(task: Task, run: RunResult) -> bool:
    """Whether a run's episodes are those its hash was computed from."""
    if run.failure is not None:
        return not run.records
    columns = {phase.name: len(phase.columns) for phase in task.phases}
    shapes = {name: rows.shape[1] if rows.ndim == 2 else -1 for name, rows in run.records.items()}
    return shapes == columns and record_hash(task, run.records) == run.record_hash
