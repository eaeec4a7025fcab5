"""What the commands about sessions share: requests, plans, execution with a live view, tables."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nematodebench.cli.progress import shown
from nematodebench.cli.show import brain_label, descriptor_lines, print_json, print_table, session_lines
from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.sessions.config import SessionConfig, parse_assignments, read_config
from nematodebench.sessions.execution import Progress, run_plan
from nematodebench.sessions.execution import resume as resume_session
from nematodebench.sessions.plan import Plan, dump_config, make_plan
from nematodebench.sessions.session import Session
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task

__all__ = [
    "executed", "most_steps", "plan_of", "print_plans", "print_sessions", "print_tables", "repeated", "requests",
    "resumed", "untrained",
]  # fmt: skip


def requests(
    task: str | None, brains: Sequence[str], config: Path | None, flags: Mapping[str, Any], assign: list[str]
) -> list[SessionConfig]:
    """One request for each brain; flags win over the file."""
    given = {key: value for key, value in flags.items() if value is not None}
    parameters = parse_assignments(assign)
    if config is not None:
        if task is not None:
            raise UsageError("Give either TASK and BRAIN, or --config, not both.")
        base = read_config(config).model_dump()
        return [_checked({**base, **given, "config": {**base["config"], **parameters}})]
    if task is None or not brains:
        raise UsageError("Say what to run: nematodebench run TASK BRAIN, or --config FILE.")
    return [_checked({"task": task, "brain": brain, "config": parameters, **given}) for brain in brains]


def _checked(content: dict[str, Any]) -> SessionConfig:
    try:
        return SessionConfig(**content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{key} is {first['input']}: {first['msg']}.") from error


def repeated(request: SessionConfig, sessions: int) -> list[SessionConfig]:
    """The same request for several sessions: each with a seed of its own."""
    if request.seed is None or sessions == 1:
        return [request] * sessions
    return [_checked({**request.model_dump(), "seed": request.seed + k}) for k in range(sessions)]


def plan_of(request: SessionConfig, config: Path | None, workers: int | None, executor: str | None) -> Plan:
    """A request, checked against tasks and brains; a config file keeps its name and, if it was not overridden, text."""
    unchanged = config is not None and read_config(config) == request
    return make_plan(
        request,
        workers=workers,
        executor=executor,
        config_name=config.name if config is not None else "",
        text=config.read_text(encoding="utf-8") if config is not None and unchanged else "",
    )


def untrained(plan: Plan) -> Plan:
    """The same runs, from the same seeds, without the training."""
    given = SessionConfig(
        task=plan.task.untrained().id, brain=plan.brain_name, config=dump_config(plan.config), runs=plan.runs,
        seed=plan.seed,
    )  # fmt: skip
    return make_plan(given, workers=plan.workers, executor=plan.executor)


def executed(plan: Plan, root: Path | None, quiet: bool) -> Session:
    """Runs a plan with the live view."""
    progress = Progress()
    with shown(progress, f"{plan.task.id} {plan.brain_name}", quiet):
        return run_plan(plan, root=root, progress=progress)


def resumed(experiment_id: str, root: Path, workers: int | None, quiet: bool) -> Session:
    """Continues a session with the live view."""
    progress = Progress()
    with shown(progress, experiment_id, quiet):
        return resume_session(experiment_id.rstrip("/").split("/")[-1], root, progress, workers)


def most_steps(task: Task) -> int:
    """The most steps a run can take."""
    return sum(phase.ticks or phase.episodes * phase.world.horizon for phase in task.phases)


def print_plans(plans: Sequence[Plan], json: bool) -> None:
    """What would be run, and how much it is."""
    rows = []
    for plan in plans:
        steps = most_steps(plan.task)
        rows.append({
            "task": plan.task.id, "brain": plan.brain_name, "config": dump_config(plan.config), "runs": plan.runs,
            "episodes_per_run": sum(phase.episodes for phase in plan.task.phases), "steps_at_most": steps * plan.runs,
            "seed": plan.seed, "workers": plan.workers, "executor": plan.executor, "official": plan.task.official,
        })  # fmt: skip
    if json:
        print_json(rows)
        return
    for row in rows:
        print_table(["plan", ""], [[key, str(value)] for key, value in row.items()])


def print_sessions(sessions: Sequence[Session], json: bool, root: Path | None) -> None:
    """The table, then what a reader must know: seeds, failures, where it is stored."""
    records = [session.metadata() for session in sessions]
    if json:
        print_json([record.model_dump(mode="json") for record in records])
    else:
        print_tables(sessions[0].plan.task, records)
        for session, record in zip(sessions, records, strict=True):
            print(_footnote(session, record.timing.steps_per_second, root))
            for note in record.notes:
                print(f"  {note}")
    for session in sessions:
        for result in session.failed_runs:
            failure = result.failure
            print(
                f"run {result.index} (seed {result.seed}) FAILED: {failure.message if failure else ''}", file=sys.stderr
            )


def print_tables(task: Task, records: Sequence[ExperimentMetadata]) -> None:
    """The scores between their anchors, then what is never ranked."""
    anchors = load_anchors(task)
    first = task.phases[0]
    length = f"{first.ticks} ticks" if first.ticks else f"{first.episodes} episodes"
    print(f"{task.id}, {length} a run, mean ± half the 95 % interval over runs\n")
    print_table(*session_lines(task, records, anchors))
    print()
    descriptors = descriptor_lines(task, records)
    if descriptors is not None:
        print("descriptors (never ranked)\n")
        print_table(*descriptors)
        print()
    if anchors is not None and anchors.blind is not None:
        print(f"best blind policy: {anchors.blind.policy}")


def _footnote(session: Session, rate: float, root: Path | None) -> str:
    plan = session.plan
    line = f"{brain_label(plan.brain_name, plan.task.id)}: seed {plan.seed}, "
    line += f"{session.steps:,} steps in {session.wall_seconds:.1f} s ({rate:,.0f} steps/s)"
    if not plan.task.official:
        line += ", not official (length of training changed)"
    if root is not None:
        line += f", stored in {root / session.experiment_id}"
    return line
