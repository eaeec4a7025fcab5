"""``nematodebench new``: writes a brain or a world to begin with, its test and its config."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]

_Name = Annotated[str, typer.Argument(help="name of the file and of the class in it, like my_brain")]
_Folder = Annotated[Path, typer.Option(help="where the files are written")]


def register(app: typer.Typer) -> None:
    """Adds the command with its parts."""
    new = typer.Typer(no_args_is_help=True, help="Writes a brain or a world to begin with, its test and its config.")
    new.command(name="brain")(brain)
    new.command(name="world")(world)
    app.add_typer(new, name="new")


def brain(
    name: _Name,
    compiled: Annotated[bool, typer.Option("--compiled", help="as fast as the built-in ones")] = False,
    python: Annotated[bool, typer.Option("--python", help="plain NumPy [default]")] = False,
    torch: Annotated[bool, typer.Option("--torch", help="with a torch network")] = False,
    folder: _Folder = Path(),
) -> None:
    """Writes NAME.py with a brain that learns, test_NAME.py and NAME.yml; nothing is overwritten."""
    from nematodebench.cli.new import write_new
    from nematodebench.errors import UsageError

    kinds = [kind for kind, wanted in (("compiled", compiled), ("python", python), ("torch", torch)) if wanted]
    if len(kinds) > 1:
        raise UsageError(f"A brain is written one way: choose --{' or --'.join(kinds)}.")
    write_new("brain", name, f"{(kinds or ['python'])[0]}_brain.py", folder)


def world(name: _Name, folder: _Folder = Path()) -> None:
    """Writes NAME.py with a compiled world, test_NAME.py and NAME.yml; nothing is overwritten."""
    from nematodebench.cli.new import write_new

    write_new("world", name, "world.py", folder)
