"""Command lines found in documents and workflows, parsed as the program would, without running anything."""

import re
import shlex
from typing import Any

import typer

from nematodebench.cli import build

_END = re.compile(r"\s*(?:;|&&|\|\||\||\d?>)")


def commands_in(line: str) -> list[str]:
    """Every call of nematodebench in a line of shell, up to where the shell takes over again."""
    found = []
    for start in re.finditer(r"(?:^|[\s;(])(nematodebench\s)", line):
        found.append(_END.split(line[start.start(1) :])[0].strip())
    return found


def check(command: str) -> None:
    """Fails with the program's own message if the subcommand or a flag does not exist."""
    words = shlex.split(command, comments=True)[1:]
    current: Any = typer.main.get_command(build())
    while hasattr(current, "commands") and words and not words[0].startswith("-"):
        if words[0] not in current.commands:
            raise AssertionError(f"{command!r}: there is no command {words[0]!r}")
        current, words = current.commands[words[0]], words[1:]
    if words in (["--help"], ["-h"], ["--version"]):
        return
    try:
        current.make_context(current.name, list(words))
    except Exception as error:
        raise AssertionError(f"{command!r}: {error}") from error
