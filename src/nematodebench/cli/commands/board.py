"""``nematodebench board``: who leads, and the files that say so."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]

_Root = Annotated[Path, typer.Option(help="top of the repository that holds benchmarks/ and artifacts/")]


def register(app: typer.Typer) -> None:
    """Adds the command with its parts."""
    board = typer.Typer(no_args_is_help=True, help="Shows the board, or writes it to the files that show it.")
    board.command(name="show")(show)
    board.command(name="regenerate")(regenerate)
    board.command(name="gate")(gate)
    board.command(name="site")(site)
    app.add_typer(board, name="board")


def show(
    task: Annotated[str | None, typer.Option(help="one task only")] = None,
    root: _Root = Path(),
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Checks every submission and prints the board; exit code 1 if one was rejected."""
    from nematodebench.cli.board import show_board

    if not show_board(root, task, json=json):
        raise typer.Exit(1)


def regenerate(
    root: _Root = Path(),
    check: Annotated[bool, typer.Option("--check", help="write nothing, exit code 1 if a file is out of date")] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Checks every submission and writes LEADERBOARD.md and the README's leaders; exit code 1 if one was rejected."""
    from nematodebench.cli.board import regenerate_board

    if not regenerate_board(root, check=check, json=json):
        raise typer.Exit(1)


def gate(
    base: Annotated[str, typer.Option(help="the commit that is trusted: where the proposal wants to get into")],
    head: Annotated[str, typer.Option(help="the commit that is proposed")] = "HEAD",
    author: Annotated[
        str | None, typer.Option(help="GitHub account of the proposal's author; without one nobody asks who it is")
    ] = None,
    root: _Root = Path(),
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Refuses a proposal that changes what is published, or hides what it changes; exit code 1 if it does.

    It compares the two commits in git's trees. Nothing of the proposal is checked out or executed.
    """
    from nematodebench.cli.gate import judge_changes

    if not judge_changes(root, base, head, author, json=json):
        raise typer.Exit(1)


def site(
    root: _Root = Path(),
    output: Annotated[Path, typer.Option(help="folder for the pages")] = Path("site"),
    experiments: Annotated[
        Path | None,
        typer.Option(help="a folder of stored sessions: a private board of them, nothing verified"),
    ] = None,
) -> None:
    """Writes the board as a static site, which works from the file system and from any web server.

    Exit code 1 if a submission was rejected.
    """
    from nematodebench.cli.site import write_experiments_site, write_site

    complete = write_site(root, output) if experiments is None else write_experiments_site(experiments, output)
    if not complete:
        raise typer.Exit(1)
