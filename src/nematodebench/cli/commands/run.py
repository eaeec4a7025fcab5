"""``nematodebench run``: train brains on a task and print how they compare with chance."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="run")(run)


def run(
    task: Annotated[str | None, typer.Argument(help="task, see `nematodebench tasks`")] = None,
    brains: Annotated[
        list[str] | None, typer.Argument(help="brains, see `nematodebench brains`, or module:Class")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with task, brain and parameters")] = None,
    runs: Annotated[int | None, typer.Option(help="independent training runs [default: 50]")] = None,
    episodes: Annotated[int | None, typer.Option(help="episodes a run, if not the task's own number")] = None,
    seed: Annotated[
        int | None, typer.Option(help="session seed; a fresh one is drawn and recorded if not given")
    ] = None,
    sessions: Annotated[int, typer.Option(min=1, help="sessions of every brain; a given seed counts up")] = 1,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the brain")
    ] = None,
    untrained: Annotated[
        bool, typer.Option("--untrained", help="also run every brain without its training, where that comes first")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    track: Annotated[bool, typer.Option("--track", help="store the session under experiments/")] = False,
    output: Annotated[Path, typer.Option(help="where tracked sessions are stored")] = Path("experiments"),
    resume: Annotated[str | None, typer.Option(metavar="ID", help="continue a killed or interrupted session")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and its cost, run nothing")] = False,
    json: Annotated[bool, typer.Option("--json", help="print the stored record instead of a table")] = False,
) -> None:
    """Trains fresh brains on a task, many runs from one seed, and prints scores with intervals against chance."""
    from nematodebench.cli import sessions as _sessions

    if resume is not None:
        done = [_sessions.resumed(resume, output, workers, quiet=json)]
    else:
        flags = {"runs": runs, "episodes": episodes, "seed": seed}
        given = _sessions.requests(task, brains or [], config, flags, assign or [])
        repeated = [one for request in given for one in _sessions.repeated(request, sessions)]
        plans = [_sessions.plan_of(request, config, workers, executor) for request in repeated]
        if untrained:
            plans = [one for plan in plans for one in (plan, _sessions.untrained(plan))]
        if dry_run:
            _sessions.print_plans(plans, json=json)
            return
        done = [_sessions.executed(plan, output if track else None, quiet=json) for plan in plans]
    _sessions.print_sessions(done, json=json, root=output if track or resume else None)
    if any(session.failed_runs for session in done):
        raise typer.Exit(1)
