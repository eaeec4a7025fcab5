"""``nematodebench run``: train brains on a task and print how they compare with chance."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="run")(run)


def run(
    task: Annotated[str | None, typer.Argument(help="task, see `nematodebench tasks`, or file.py:World")] = None,
    brains: Annotated[
        list[str] | None, typer.Argument(help="brains, see `nematodebench brains`, or file.py:Class")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with task, brain and parameters")] = None,
    runs: Annotated[int | None, typer.Option(help="independent training runs [default: 50]")] = None,
    episodes: Annotated[int | None, typer.Option(help="episodes a run, if not the task's own number")] = None,
    seed: Annotated[
        int | None, typer.Option(help="session seed; a fresh one is drawn and recorded if not given")
    ] = None,
    sessions: Annotated[
        int, typer.Option(min=1, max=10_000, help="sessions of every brain; a given seed counts up")
    ] = 1,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the brain")
    ] = None,
    twin: Annotated[
        bool,
        typer.Option("--twin", "--untrained", help="also run every brain with learning off, and print what it gained"),
    ] = False,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="a run that takes longer has failed; the others go on")
    ] = None,
    track: Annotated[bool, typer.Option("--track", help="store the session under experiments/")] = False,
    output: Annotated[
        Path | None, typer.Option(help="where to store the session [default: experiments]; implies --track")
    ] = None,
    checkpoint: Annotated[
        int | None, typer.Option(help="keep every run's brain after so many episodes and at its end; implies --track")
    ] = None,
    begin_with: Annotated[
        Path | None, typer.Option("--from", metavar="CHECKPOINT", help="begin every run with a saved brain")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="continue a killed or interrupted session")] = None,
    until: Annotated[
        str | None, typer.Option(metavar="decided", help="add runs of two brains until one is better or both are equal")
    ] = None,
    max_runs: Annotated[int | None, typer.Option(help="most runs of --until decided [default: 500]")] = None,
    smallest: Annotated[
        float, typer.Option("--smallest-effect", help="of --until decided: smallest normalised difference that matters")
    ] = 0.01,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and its cost, run nothing")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="one run in the foreground, with the debugger where the brain fails")
    ] = False,
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:WHERE", help="csv:PATH, tensorboard:DIR, wandb:PROJECT or mlflow:EXPERIMENT"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print the stored record instead of a table")] = False,
) -> None:
    """Trains fresh brains on a task, many runs from one seed, and prints scores with intervals against chance."""
    from nematodebench.cli.run_request import RunRequest
    from nematodebench.cli.sessions import run_command

    request = RunRequest(
        task=task, brains=brains or [], config=config, runs=runs, episodes=episodes, seed=seed, sessions=sessions,
        assign=assign or [], twin=twin, workers=workers, executor=executor,
        track=track or checkpoint is not None or output is not None, checkpoint=checkpoint, begin_with=begin_with,
        output=output or Path("experiments"), resume=resume, dry_run=dry_run, until=until,
        max_runs=max_runs, smallest_effect=smallest, debug=debug, log=log or [], timeout=timeout,
    )  # fmt: skip
    if not run_command(request, json=json):
        raise typer.Exit(1)
