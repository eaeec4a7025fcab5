"""``nematodebench calibrate``: measure what chance, the reference and blind policies score on a task."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="calibrate")(calibrate)


def calibrate(
    names: Annotated[list[str] | None, typer.Argument(metavar="[TASK]...", help="tasks [default: all]")] = None,
    runs: Annotated[int, typer.Option(min=200, help="runs of the null policy")] = 1000,
    write: Annotated[bool, typer.Option("--write", help="freeze the measured anchors with the package")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="measure on other seeds and compare with the stored ones")
    ] = False,
    reference: Annotated[bool, typer.Option("--reference", help="also measure the task's scripted reference")] = False,
    blind: Annotated[bool, typer.Option("--blind", help="also search the best policy that ignores its input")] = False,
    recipe: Annotated[
        Path | None, typer.Option("--try", metavar="FILE", help="with --blind: a recipe of your own, stored if better")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="with --check --blind: search anew with other seeds and compare")
    ] = False,
    motionless: Annotated[
        bool, typer.Option("--motionless", help="measure only what doing nothing scores, beside the stored anchors")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="runs at a time [default: all cores]")] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Measures anchors and writes them, or checks the stored ones (exit code 1 if one is off)."""
    from nematodebench.cli.calibration import CalibrationRequest, calibrate_command

    request = CalibrationRequest(
        names=names or [],
        runs=runs,
        reference=reference,
        blind=blind,
        write=write,
        check=check,
        workers=workers,
        recipe=recipe,
        again=again,
        motionless=motionless,
    )
    if not calibrate_command(request, json=json):
        raise typer.Exit(1)
