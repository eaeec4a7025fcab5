"""``nematodebench evaluate``: check a submission, and execute some of its runs again."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

__all__ = ["register"]

_DEFAULT_RUNS = "10"


class _OptionalNumber(TyperCommand):
    """Lets ``--reproduce`` stand alone: options with an optional value are unknown to Typer."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Adds the number that was left out."""
        complete = []
        for position, word in enumerate(args):
            complete.append(word)
            follows = args[position + 1] if position + 1 < len(args) else ""
            if word == "--reproduce" and not follows.lstrip("-").isdigit():
                complete.append(_DEFAULT_RUNS)
        return super().parse_args(ctx, complete)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="evaluate", cls=_OptionalNumber)(evaluate)


def evaluate(
    file: Annotated[Path, typer.Argument(help="the submission: benchmarks/<category>/<timestamp>.json")],
    reproduce: Annotated[
        int | None,
        typer.Option(metavar="[N]", help=f"execute N runs again, chosen at random [N: {_DEFAULT_RUNS} if left out]"),
    ] = None,
    trust_code: Annotated[
        bool, typer.Option("--trust-code", help="import and execute a brain not registered here")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Recomputes everything a submission claims; exit code 0 if it passes, 1 if not, 2 if it cannot be read."""
    from nematodebench.cli.submissions import evaluate_file

    if not evaluate_file(file, reproduce=reproduce, trust_code=trust_code, json=json):
        raise typer.Exit(1)
