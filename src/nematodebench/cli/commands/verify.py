"""`nematodebench verify`: executes all of a submission, measures it on fresh seeds, and signs the result."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="verify")(verify)


def verify(
    submission: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A submission, benchmarks/<task>/<class>/*.json; with --run a record."),
    ],
    key: Annotated[Path | None, typer.Option(help="Private key that signs; without one nothing is stored.")] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Execute this many claimed and fresh runs; all if not given.")
    ] = None,
    run: Annotated[
        int | None, typer.Option(min=0, help="Execute this fresh run of a signed record again, and nothing else.")
    ] = None,
    statement: Annotated[Path | None, typer.Option(help="Write the result there, unsigned.")] = None,
    work: Annotated[
        Path, typer.Option(help="Folder for finished runs: a verification that was stopped goes on from there.")
    ] = Path("verification_work"),
    executor: Annotated[str | None, typer.Option(help="threads, processes or ray.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time; all cores if not given.")] = None,
    brain_class: Annotated[
        str | None, typer.Option("--class", help="Class of a brain from outside this repository; it is signed as well.")
    ] = None,
    trust_code: Annotated[
        bool, typer.Option("--trust-code", help="Run the brain of a bundle without a sandbox where there is none.")
    ] = False,
) -> None:
    """Executes every claimed run again, measures as many runs on fresh seeds, and signs what came out.

    The board ranks the fresh score. The brain of a bundle runs in a sandbox (bubblewrap). Exit code 0 if every claimed
    run gives identical bits, 1 if not, 2 if the submission cannot be read or does not pass the checks of its data.

    With --run FILE is a record, verifications/*.dsse.json: anybody can execute its fresh runs again, one at a time.
    """
    from nematodebench.cli.verification import VerifyRequest, replay_run, verify_file

    if run is not None:
        if not replay_run(submission, run, work, trust_code):
            raise typer.Exit(1)
        return

    request = VerifyRequest(
        submission, key=key, runs=runs, work=work, executor=executor, workers=workers, trust_code=trust_code,
        brain_class=brain_class, statement=statement,
    )  # fmt: skip
    if not verify_file(request):
        raise typer.Exit(1)
