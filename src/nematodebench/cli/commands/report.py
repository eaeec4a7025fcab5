"""``nematodebench report``: show stored results again, in the terminal or as a page."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="report")(report)


def report(
    experiments: Annotated[
        list[Path],
        typer.Argument(
            help="folders of stored sessions; for pages also folders of sessions, sweeps, searches, and what "
            "`continual --output` wrote"
        ),
    ],
    runs: Annotated[bool, typer.Option("--runs", help="also list every run with its seed")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="write one self-contained page to this file")] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="write html, md, csv, or all figures as svg or png, instead of printing [default: as --output ends]",
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file, or folder of figures [default: report.FORMAT]")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print the stored records")] = False,
) -> None:
    """Prints the table of stored sessions of one task, or writes a report of anything; exit code 1 for failed runs."""
    from nematodebench.errors import UsageError

    if html is not None and form not in {"", "html"}:
        raise UsageError(f"--html writes a page, and --format {form} something else: give one of them.")
    if output is not None and html is None and not form:
        form = output.suffix.removeprefix(".")
        if not form:
            raise UsageError(
                f"--output {output} does not say what is written: give --format html, md, csv, svg or png."
            )
    if html is not None or form:
        from nematodebench.cli.reports import write_report

        complete = write_report(experiments, form or "html", html or output)
    else:
        from nematodebench.cli.session_report import print_report

        complete = print_report(experiments, runs=runs, json=json)
    if not complete:
        raise typer.Exit(1)
