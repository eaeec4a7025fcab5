"""``nematodebench sweep``: brains x tasks x parameter grids under paired seeds."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="sweep")(sweep)


def sweep(
    tasks: Annotated[str, typer.Option(help="tasks, separated by commas")],
    brains: Annotated[str, typer.Option(help="brains, separated by commas")],
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE,VALUE", help="values of a parameter; BRAIN.KEY=... for one brain only"),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="runs of each cell")] = 50,
    seed: Annotated[
        int | None, typer.Option(help="session seed of all cells [default: the folder's, or fresh]")
    ] = None,
    output: Annotated[Path, typer.Option(help="folder of the sweep; what is finished there is not run again")] = Path(
        "sweeps/sweep"
    ),
    twin: Annotated[
        bool, typer.Option("--twin", help="also run every cell with learning off, and print what was gained")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    executor: Annotated[
        str | None, typer.Option(help="threads, processes or ray [default: by the kind of brain]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and its cost, run nothing")] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Runs every brain with every setting on every task, writes one table (a row for each run) and prints a summary.

    Killed or interrupted, the same command goes on where it was.
    """
    from nematodebench.cli.sweep import SweepRequest, sweep_command

    request = SweepRequest(
        tasks=_names(tasks),
        brains=_names(brains),
        grid=grid or [],
        runs=runs,
        seed=seed,
        output=output,
        twin=twin,
        workers=workers,
        executor=executor,
        dry_run=dry_run,
    )
    if not sweep_command(request, json=json):
        raise typer.Exit(1)


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
