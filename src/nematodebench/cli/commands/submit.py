"""``nematodebench submit``: make a submission of sessions."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="submit")(submit)


def submit(
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]...", help="further folders, so that --experiments A B C works")
    ] = None,
    experiments: Annotated[
        list[Path] | None, typer.Option("--experiments", metavar="DIR...", help="folders of the sessions to submit")
    ] = None,
    contributor: Annotated[str, typer.Option(help="your name, as the board shall show it")] = "anonymous",
    github: Annotated[str | None, typer.Option(help="your GitHub handle")] = None,
    notes: Annotated[str, typer.Option(help="what others should know, up to 1000 characters")] = "",
    category: Annotated[
        str | None, typer.Option(help="the category you expect; another one is refused [default: computed]")
    ] = None,
    bundle: Annotated[
        list[Path] | None,
        typer.Option("--bundle", metavar="FILE", help="source of a brain of your own, once for each of its files"),
    ] = None,
    needs: Annotated[
        list[str] | None,
        typer.Option("--needs", metavar="LIBRARY", help="library that it imports: numba, numpy, scipy or torch"),
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="print the submission, write nothing, skip git checks")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Makes a submission: moves sessions to artifacts/ and writes it to benchmarks/; exit code 1 if it is refused."""
    from nematodebench.cli import submissions as _submissions
    from nematodebench.submissions.build import Attribution, OwnSource

    folders = [*(experiments or []), *(more or [])]
    who = Attribution(contributor, github.removeprefix("@") if github else None, notes)
    own = OwnSource(tuple(bundle or ()), tuple(needs or ()))
    if draft:
        accepted = _submissions.show_draft(folders, who, category, own)
    else:
        accepted = _submissions.submit_sessions(folders, who, category, json, own)
    if not accepted:
        raise typer.Exit(1)
