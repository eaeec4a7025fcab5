"""Writes ``docs/commands/*.md``: what every command does, from the program itself, and examples with their real output.

python scripts/command_pages.py --write          executes all examples (minutes) and writes all pages
python scripts/command_pages.py --write run new  the same, but only these pages are written
python scripts/command_pages.py --help-only      writes what the program says of itself and keeps the examples
python scripts/command_pages.py --check          exit code 1 if a page does not say what the program says
"""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from nematodebench.cli import build

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "commands"
_MARK = "\n## Examples\n"
_LONGEST = 40
_HIDDEN = {"--help", "--install-completion", "--show-completion"}


def _sibling(name: str) -> Any:
    """A script beside this one, wherever this one is called from."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


EXAMPLES, FILES = _sibling("command_examples").EXAMPLES, _sibling("command_examples").FILES
shell = _sibling("page_blocks").shell


def program() -> dict[str, Any]:
    """Every command by its name."""
    command: Any = typer.main.get_command(build())
    found: dict[str, Any] = command.commands
    return dict(sorted(found.items()))


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;").strip()


def _parameter(parameter: Any) -> tuple[str, str]:
    """An argument or option as a row: how it is written, and what it does."""
    words = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        words = f"`{(parameter.metavar or parameter.name).strip('[].').upper()}`" + (
            "..." if parameter.nargs == -1 else ""
        )
    elif not parameter.is_flag:
        words += f" {_cell(parameter.metavar or 'VALUE')}"
    text = _cell(getattr(parameter, "help", "") or "")
    if parameter.required:
        text += " (required)"
    default = parameter.default
    if isinstance(default, (int, float, str, Path)) and not isinstance(default, bool) and str(default):
        text += f" (default: {default})"
    return words, text


def _described(name: str, command: Any, depth: int) -> list[str]:
    """Title, text and table of a command, and of the commands below it."""
    lines = [f"{'#' * depth} nematodebench {name}", "", *_paragraphs(command.help or ""), ""]
    rows = [_parameter(one) for one in command.params if not _HIDDEN & set(one.opts)]
    if rows:
        lines += ["| argument or option | what it does |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows), ""]
    for below, one in getattr(command, "commands", {}).items():
        lines += _described(f"{name} {below}", one, depth + 1)
    return lines


def _paragraphs(text: str) -> list[str]:
    joined = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n\n".join(part.replace("<", "&lt;").replace("*.", "\\*.") for part in joined).splitlines()


def help_part(name: str, command: Any) -> str:
    """What the program says of a command."""
    return "\n".join(_described(name, command, 1)).rstrip() + "\n"


def index(commands: dict[str, Any]) -> str:
    """The page that lists the commands."""
    lines = [
        "# Commands",
        "",
        "Every command with its options, as the program itself describes them, and with what it prints. The pages are",
        "written by `python scripts/command_pages.py --write`, which executes every example.",
        "`nematodebench run --help` shows the same in the terminal. `--wide`, anywhere, shows tables with all columns, "
        "and `--csv` writes them as CSV.",
        "",
        "| command | what it does |",
        "|---|---|",
    ]
    for name, command in commands.items():
        lines.append(f"| [{name}]({name}.md) | {_cell((command.help or '').strip().split(chr(10) * 2)[0])} |")
    return "\n".join(lines) + "\n"


def examples_part(page: str) -> str:
    """The examples that a page has now, with their mark."""
    return page[page.index(_MARK) :] if _MARK in page else ""


def stale(folder: Path = PAGES) -> list[str]:
    """Pages that do not say what the program says, are missing, or belong to no command."""
    commands = program()
    wanted = {"README.md": index(commands)} | {f"{name}.md": help_part(name, one) for name, one in commands.items()}
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    kept = {name: page.removesuffix(examples_part(page)) for name, page in there.items()}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != kept.get(name))


def _shortened(output: str) -> str:
    """The output; of a long one the beginning and the end."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    if len(lines) > _LONGEST:
        lines = [*lines[: _LONGEST - 10], "[...]", *lines[-4:]]
    return "\n".join(lines) + "\n"


def _filled(line: str, folder: Path) -> str:
    """The line with the names of files that earlier examples made."""
    submissions = sorted((folder / "benchmarks").rglob("*.json"), key=lambda path: path.stat().st_mtime)
    keys = sorted((folder / "keys").glob("*.json"), key=lambda path: path.stat().st_mtime)
    return line.replace("{submission}", submissions[-1].relative_to(folder).as_posix()).replace(
        "{key}", keys[-1].stem[:12] if keys else ""
    )


def executed(folder: Path, names: list[str]) -> dict[str, str]:
    """Executes the examples of these commands, or of all, in a clone; returns the examples of every page."""
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(folder)], check=True)
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    found = {}
    for name in names or EXAMPLES:
        parts = [_MARK]
        for sentence, line in EXAMPLES[name]:
            command = _filled(line, folder)
            code, output = shell(command, folder)
            print(f"{'ok' if code == 0 else f'EXIT CODE {code}'}  {command}", flush=True)
            parts.append(f"\n{sentence}\n\n```console\n$ {command}\n{_shortened(output)}```\n")
        found[name] = "".join(parts)
    return found


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", nargs="*", metavar="COMMAND", help="execute the examples and write the pages")
    action.add_argument("--help-only", action="store_true", help="write the pages and keep their examples")
    action.add_argument("--check", action="store_true", help="exit with 1 if a page is not current")
    options = parser.parse_args()
    if options.check:
        old = stale()
        print("\n".join(f"{name}: NOT up to date" for name in old) or "up to date")
        sys.exit(bool(old))
    new: dict[str, str] = {}
    if options.write is not None:
        with tempfile.TemporaryDirectory() as folder:
            new = executed(Path(folder) / "nematodebench", options.write)
    commands = program()
    PAGES.mkdir(parents=True, exist_ok=True)
    (PAGES / "README.md").write_text(index(commands), encoding="utf-8")
    for name, command in commands.items():
        path = PAGES / f"{name}.md"
        kept = examples_part(path.read_text(encoding="utf-8")) if path.is_file() else ""
        path.write_text(help_part(name, command) + new.get(name, kept), encoding="utf-8")


if __name__ == "__main__":
    main()
