"""`nematodebench keys`: the keys that sign verification records."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(
        help="The keys whose verifications the board believes.", no_args_is_help=True, pretty_exceptions_enable=False
    )
    group.command(name="list")(show)
    group.command(name="new")(new)
    group.command(name="revoke")(revoke)
    group.command(name="withdraw")(withdraw)
    app.add_typer(group, name="keys")


def show() -> None:
    """Lists the keys of this repository."""
    from nematodebench.cli.verification import list_keys

    list_keys()


def new(
    private: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where the private half goes: outside the repository.")
    ],
    owner: Annotated[str, typer.Option(help="Whose key it is.")],
) -> None:
    """Makes a key: the public half is written to keys/, the private half to FILE."""
    from nematodebench.cli.verification import add_key

    add_key(private, owner)


def revoke(
    keyid: Annotated[str, typer.Argument(help="The key's id, or its beginning.")],
    reason: Annotated[str, typer.Option(help="Why it is no longer believed.")],
) -> None:
    """Marks a key as no longer believed; nothing that it signed counts from then on."""
    from nematodebench.cli.verification import revoke_key

    revoke_key(keyid, reason)


def withdraw(
    submission: Annotated[Path, typer.Argument(metavar="FILE", help="The submission that leaves the board.")],
    key: Annotated[Path, typer.Option(help="Private key of a maintainer.")],
    reason: Annotated[str, typer.Option(help="Why it leaves the board.")],
) -> None:
    """Takes an entry off the board with a signed statement; its files stay."""
    from nematodebench.cli.verification import withdraw_entry

    withdraw_entry(submission, key, reason)
