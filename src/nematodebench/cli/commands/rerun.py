"""``nematodebench rerun``: execute one recorded run again and compare its bits."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="rerun")(rerun)


def rerun(
    experiment: Annotated[Path, typer.Argument(help="folder or JSON file of a stored session")],
    run: Annotated[int, typer.Option("--run", help="number of the run, from 0")] = 0,
    trust_code: Annotated[bool, typer.Option("--trust-code", help="execute a brain that is somebody's code")] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="keep observations, actions, rewards, ends and states there")
    ] = None,
    minari: Annotated[
        str | None, typer.Option(metavar="NAME", help="keep the run as a Minari data set (extra `minari`)")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Executes a run again from its recorded seed; exit code 1 unless every bit is the same."""
    from nematodebench.cli.rerun import rerun_command

    if not rerun_command(experiment, run, trust_code, record, minari, json=json):
        raise typer.Exit(1)
