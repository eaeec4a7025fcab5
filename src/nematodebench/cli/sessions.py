"""The work behind ``nematodebench run``, and what other commands about sessions share with it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nematodebench.brains.registry import canonical_name, list_brains
from nematodebench.callbacks.base import Callback
from nematodebench.callbacks.by_name import logs_of
from nematodebench.cli.debugging import debug
from nematodebench.cli.deciding import MOST_RUNS, decide, decision_data, print_decision
from nematodebench.cli.progress import show_progress
from nematodebench.cli.resuming import say_damaged
from nematodebench.cli.run_request import RunRequest, refuse_together
from nematodebench.cli.show import brain_label, descriptor_lines, print_json, print_table, printable, session_lines
from nematodebench.cli.tables import folded
from nematodebench.engine.seeds import session_seed
from nematodebench.errors import UsageError
from nematodebench.records.checkpoint import Checkpoint
from nematodebench.records.labels import shown_brain
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.sessions.brains import open_checkpoint
from nematodebench.sessions.config import SessionConfig, parse_assignments, read_config, session_config
from nematodebench.sessions.detectable import detectable
from nematodebench.sessions.execution import Progress, resume, run_plan
from nematodebench.sessions.plan import Plan, dump_config, make_plan
from nematodebench.sessions.series import Part, is_series, resume_series, run_series
from nematodebench.sessions.session import Session
from nematodebench.sessions.twins import gain_of, has_twin, pair_twins, twin_plan
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import list_tasks

__all__ = [
    "execute_plan", "most_steps", "print_plans", "print_sessions", "print_tables", "resume_session",
    "run_command", "tell_failed",
]  # fmt: skip


_LAST_LINES = 9
"""Of a traceback: four frames and the error."""


def run_command(request: RunRequest, *, json: bool) -> bool:
    """Runs sessions, or continues one, and prints them; returns whether no run failed."""
    refuse_together(request, json=json)
    logs = logs_of(request.log)
    if request.resume is not None:
        done = _resumed(request, quiet=json, callbacks=logs)
    else:
        plans = [plan for config in _session_configs(request) for plan in _plans(config, request)]
        if request.dry_run:
            print_plans(plans, json=json)
            return True
        if request.debug:
            return debug(plans)
        if request.until is not None:
            return _run_until_decided(plans, request, json=json)
        root = request.output if request.track else None
        if root is not None and len(plans) > 1:
            done = run_series(plans, root, _part(request, quiet=json, callbacks=logs))
        else:
            done = [execute_plan(plan, root, quiet=json, callbacks=logs) for plan in plans]
    print_sessions(done, json=json, root=request.output if request.track or request.resume else None)
    return not any(session.failed_runs for session in done)


def _resumed(request: RunRequest, quiet: bool, callbacks: Sequence[Callback]) -> list[Session]:
    """Goes on with a session, or with a command of several."""
    assert request.resume is not None
    name = request.resume.rstrip("/").split("/")[-1]
    if is_series(request.output, name):
        return resume_series(name, request.output, request.workers, _part(request, quiet, callbacks))
    return [resume_session(name, request.output, request.workers, quiet, callbacks)]


def _part(request: RunRequest, quiet: bool, callbacks: Sequence[Callback]) -> Part:
    """Executes one of several sessions, or goes on with it."""

    def part(plan: Plan, name: str, begun: bool) -> Session:
        if begun:
            return resume_session(name, request.output, request.workers, quiet, callbacks)
        return execute_plan(plan, request.output, quiet, callbacks, name)

    return part


def _run_until_decided(plans: list[Plan], request: RunRequest, *, json: bool) -> bool:
    if request.until != "decided":
        raise UsageError(f"--until {request.until!r}: the only thing to wait for is `decided`.")
    decision = decide(plans, request.max_runs or MOST_RUNS, json, request.smallest_effect)
    root = request.output if request.track else None
    if root is not None:
        for session in decision.sessions:
            session.save(root)
    if json:
        print_json(decision_data(decision))
        return True
    print_sessions(decision.sessions, json=False, root=root)
    print()
    print_decision(decision)
    return True


def _session_configs(request: RunRequest) -> list[SessionConfig]:
    """Makes one config for each session of each brain. Flags win over the file."""
    flags = {"runs": request.runs, "episodes": request.episodes, "seed": request.seed}
    given = {key: value for key, value in flags.items() if value is not None}
    parameters = parse_assignments(request.assign)
    if request.config is not None:
        if request.task is not None:
            raise UsageError("Give either TASK and BRAIN, or --config, not both.")
        base = read_config(request.config).model_dump()
        contents = [{**base, **given, "config": {**base["config"], **parameters}}]
    elif request.task is None:
        raise UsageError("Say what to run: nematodebench run TASK BRAIN, or --config FILE.")
    elif canonical_name(request.task) in list_brains() or (":" in request.task and not request.brains):
        raise UsageError(f"{request.task} is a brain. The task comes first: nematodebench run TASK {request.task}.")
    elif Path(request.task).suffix in {".yml", ".yaml"}:
        raise UsageError(f"{request.task} is a config: nematodebench run --config {request.task}.")
    elif several := [name for name in request.brains if name in list_tasks()]:
        raise UsageError(
            f"{several[0]} is a task, and run takes one, with brains behind it. For several tasks: nematodebench sweep "
            f"--tasks {request.task},{several[0]} --brains BRAIN."
        )
    elif request.begin_with is not None:
        contents = [_continuing(request, parameters, given)]
    elif not request.brains:
        raise UsageError(
            f"Name a brain after the task: nematodebench run {request.task} BRAIN. `nematodebench brains` lists "
            "them; a class of your own is file.py:Class."
        )
    else:
        contents = [{"task": request.task, "brain": name, "config": parameters, **given} for name in request.brains]
    # Brains that are run together meet the same worlds: what differs between them is then measured in pairs.
    drawn = [session_seed() for _ in range(request.sessions)] if len(contents) > 1 else []
    return [config for content in contents for config in _repeat(session_config(content), request.sessions, drawn)]


def _continuing(request: RunRequest, parameters: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The content of a config that goes on with a saved brain: the file says which, and with which parameters."""
    header = _start(request).header
    if len(request.brains) > 1:
        raise UsageError("--from begins with one saved brain: name no more than that one.")
    return {"task": request.task, "brain": header.brain, "config": {**header.config, **parameters}, **given}


def _start(request: RunRequest) -> Checkpoint:
    """The saved brain that runs begin with; code from outside is imported only if its brain is named too."""
    assert request.begin_with is not None
    return open_checkpoint(request.begin_with, *request.brains[:1])


def _repeat(config: SessionConfig, sessions: int, drawn: list[int]) -> list[SessionConfig]:
    """Repeats a config for several sessions, each with a seed of its own: counted up from a given one, or drawn."""
    seeds = drawn if config.seed is None else [config.seed + k for k in range(sessions)]
    if not seeds or seeds == [config.seed]:
        return [config] * sessions
    return [session_config({**config.model_dump(), "seed": seed}) for seed in seeds]


def _plans(config: SessionConfig, request: RunRequest) -> list[Plan]:
    """Checks a config against tasks and brains. A config file keeps its name and, unless flags changed it, its text."""
    file = request.config
    unchanged = file is not None and read_config(file) == config
    plan = make_plan(
        config,
        workers=request.workers,
        executor=request.executor,
        config_name=file.name if file is not None else "",
        text=file.read_text(encoding="utf-8") if file is not None and unchanged else "",
        start=None if request.begin_with is None else _start(request),
        checkpoint=_episodes(request.checkpoint),
        limit=request.timeout,
    )
    return [plan, twin_plan(plan)] if request.twin and has_twin(plan) else [plan]


def _episodes(checkpoint: int | None) -> int:
    if checkpoint is not None and checkpoint < 1:
        raise UsageError(f"--checkpoint {checkpoint}: give a number of episodes, at least 1.")
    return checkpoint or 0


def execute_plan(
    plan: Plan, root: Path | None, quiet: bool, callbacks: Sequence[Callback] = (), name: str | None = None
) -> Session:
    """Runs a plan with the live view."""
    progress = Progress()
    with show_progress(progress, f"{plan.task.id} {shown_brain(plan.brain_name, dump_config(plan.config))}", quiet):
        return run_plan(plan, root=root, progress=progress, callbacks=callbacks, experiment_id=name)


def resume_session(
    experiment_id: str, root: Path, workers: int | None, quiet: bool, callbacks: Sequence[Callback] = ()
) -> Session:
    """Continues a session with the live view."""
    progress = Progress()
    with show_progress(progress, experiment_id, quiet):
        session = resume(experiment_id, root, progress, workers, callbacks=callbacks)
    say_damaged(progress.damaged)
    return session


def most_steps(task: Task) -> int:
    """The most steps a run can take."""
    return sum(phase.ticks or phase.episodes * phase.world.horizon for phase in task.phases)


def print_plans(plans: Sequence[Plan], json: bool) -> None:
    """Prints what would be run, and how much it is."""
    rows = []
    for plan in plans:
        steps = most_steps(plan.task)
        rows.append({
            "task": plan.task.id, "brain": plan.brain_name, "config": dump_config(plan.config), "runs": plan.runs,
            "episodes_per_run": sum(phase.episodes for phase in plan.task.phases), "steps_at_most": steps * plan.runs,
            "seed": plan.seed, "workers": plan.workers, "executor": plan.executor, "official": plan.task.official,
            "smallest_difference": str(detectable(plan) or "-"),
        })  # fmt: skip
    if json:
        print_json(rows)
        return
    for row in rows:
        print_table(["plan", ""], [line for key, value in row.items() for line in _plan_lines(key, value)])
        print(f"\nsmallest difference that can be shown: {row['smallest_difference']}")


def _plan_lines(key: str, value: Any) -> list[list[str]]:
    """A row of the plan: the parameters of the brain have one each, and what is a sentence has none."""
    if key == "smallest_difference":
        return []
    if not isinstance(value, dict):
        return [[key, str(value)]]
    return [[key * (k == 0), f"{name} = {one}"] for k, (name, one) in enumerate(value.items())] or [[key, "-"]]


def print_sessions(sessions: Sequence[Session], json: bool, root: Path | None) -> None:
    """Prints the table, then what a reader must know: seeds, failures, where it is stored."""
    records = [session.metadata() for session in sessions]
    if json:
        print_json([record.model_dump(mode="json") for record in records])
    else:
        print_tables(sessions[0].plan.task, pair_twins(records))
        for session, record in zip(sessions, records, strict=True):
            print(_footnote(session, record.timing.steps_per_second, root))
            for note in record.notes:
                print(f"  {printable(note)}")
    for session in sessions:
        tell_failed(session)
        _print_last_frames(session)


def tell_failed(session: Session) -> None:
    """Names the runs that failed, and why; a brain may have put anything into its message."""
    for run in session.failed_runs:
        why = run.failure.message if run.failure else ""
        print(printable(f"run {run.index} (seed {run.seed}) FAILED: {why}"), file=sys.stderr)


def _print_last_frames(session: Session) -> None:
    """Of the first run that failed: the lines of the brain's code that led to it."""
    first = next((result.failure for result in session.failed_runs), None)
    if first is not None and first.traceback:
        lines = first.traceback.strip().splitlines()[-_LAST_LINES:]
        print("\n".join(f"  {printable(line)}" for line in lines), file=sys.stderr)


def print_tables(task: Task, pairs: Sequence[tuple[ExperimentMetadata, ExperimentMetadata | None]]) -> None:
    """Prints the scores between their anchors, what is never ranked, and whether brains with twins have learned."""
    records = [record for record, _ in pairs]
    gains = [None if twin is None else gain_of(record, twin) for record, twin in pairs]
    anchors = load_anchors(task)
    first = task.phases[0]
    length = f"{first.ticks} ticks" if first.ticks else f"{first.episodes} episodes"
    print(f"{task.id}, {length} a run, mean ± half the 95 % interval over runs\n")
    print_table(*session_lines(task, records, anchors, gains))
    print()
    descriptors = descriptor_lines(task, records)
    if descriptors is not None:
        print("descriptors (never ranked)\n")
        print_table(*descriptors)
        print()
    if anchors is not None and anchors.blind is not None:
        steps = str(anchors.blind.policy).replace(" x ", "\N{NO-BREAK SPACE}x\N{NO-BREAK SPACE}")
        print(folded(f"best blind policy: {steps}").replace("\N{NO-BREAK SPACE}", " "))
    for record, found in zip(records, gains, strict=True):
        if found is not None:
            print(found.sentence(record.brain))


def _footnote(session: Session, rate: float, root: Path | None) -> str:
    plan = session.plan
    label = brain_label(plan.brain_name, dump_config(plan.config), plan.task.id, plan.start is not None)
    line = f"{label}: seed {plan.seed}, "
    line += f"{session.steps:,} steps in {session.wall_seconds:.1f} s ({rate:,.0f} steps/s)"
    if not plan.task.official:
        line += ", not official (learning is off)" if plan.task.trained else ", not official (length changed)"
    if root is not None:
        line += f"\n  stored in {root / session.experiment_id}"
    return line
