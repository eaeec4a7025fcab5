"""``nematodebench plot``: one figure of stored results."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="plot")(plot)


def plot(
    kind: Annotated[
        str,
        typer.Argument(
            help="curves, scores, runs, composite, profiles, improvement (sessions, sweeps); search, importances "
            "(searches); transfer (continual runs)"
        ),
    ],
    experiments: Annotated[
        list[Path],
        typer.Argument(help="stored sessions, folders of them, sweeps, searches, or what `continual --output` wrote"),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="FILE.svg, .png, .csv or .json [default: KIND.svg]")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print the specification with its data, write nothing")] = False,
) -> None:
    """Draws one figure; the ending of the file says as what. CSV is the data, JSON the Vega-Lite specification."""
    from nematodebench.cli.reports import plot_command

    plot_command(kind, experiments, output, json=json)
