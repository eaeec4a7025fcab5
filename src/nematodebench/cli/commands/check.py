"""``nematodebench check``: does a brain keep the contract, and what would a session of it cost?"""

from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="check")(check)


def check(
    brain: Annotated[str, typer.Argument(help="a brain: its name, file.py:Class or module:Class")],
    tasks: Annotated[
        str | None, typer.Option(help="tasks to time it on, with commas; `all` for every one [default: five]")
    ] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="a parameter of the brain")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="runs of the session whose cost is estimated")] = 50,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Runs the contract of brains, times an episode on some tasks, and prints what a session would cost.

    Exit code 1 if the contract is broken.
    """
    from nematodebench.cli.check import check_brain

    if not check_brain(brain, tasks, assign or [], runs, json=json):
        raise typer.Exit(1)
