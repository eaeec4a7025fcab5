"""``nematodebench compare``: is A better than B?"""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="compare")(compare)


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="a stored session, or a folder of sessions")],
    second: Annotated[Path, typer.Argument(metavar="B", help="what to compare it with")],
    smallest: Annotated[
        float, typer.Option("--smallest-effect", help="smallest difference of a normalised score that matters")
    ] = 0.01,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Compares the scores of two brains task by task: better, worse, equivalent or undecided.

    Runs are paired where their seeds match (run both with the same --seed); p values are corrected over tasks (Holm).
    Equivalent means that two one-sided tests show a difference smaller than --smallest-effect.
    """
    if not smallest > 0:
        raise typer.BadParameter("give a number above 0", param_hint="--smallest-effect")
    from nematodebench.cli.comparison import compare_sessions, print_comparisons
    from nematodebench.cli.show import print_json

    rows = compare_sessions(first, second, smallest)
    if json:
        print_json(rows)
        return
    print_comparisons(rows)
