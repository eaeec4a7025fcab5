"""Code blocks of Markdown pages: found, executed in a folder of their own, and compared with what the page shows.

A comment in the line before a block says what is special about it:

    <!-- file: my_brain.py -->      the block is this file; it is there before the page's commands are executed
    <!-- by tests/test_x.py -->     this test executes the block
    <!-- recorded: why -->          it was executed when the page was written, and no test does it again

Below the title of a page, the last two are about the whole page. In the output of a command ``[...]`` stands for any
lines. Times, speeds and names of sessions differ each time and are not compared.

``python scripts/page_blocks.py PAGE...`` executes the commands of pages and writes the outputs that are not as shown;
``[?]`` asks for one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Block", "Command", "agree", "blocks", "commands", "furnish", "masked", "page_note", "renewed", "shell",
    "write_files",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[1]
_NOTE = r"(?:^<!-- (?P<note>[^\n]*?) -->\n)?"
_BLOCK = re.compile(_NOTE + r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```[ ]*$", re.S | re.M)
_PAGE_NOTE = re.compile(r"\A# [^\n]*\n+<!-- ((?:by|recorded:) [^\n]*?) -->")
_ANY = re.compile(r"^\[?\.\.\.\]?$")
_VOLATILE = (
    (re.compile(r"\b20\d{6}_\d{6}(?:_[0-9a-f]{8}_[0-9a-f]{6})?\b"), "<id>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ][\d:.+Z]+)?"), "<date>"),
    (re.compile(r"\b[\d,]+(?:\.\d+)? (?:s|ms|us|µs|min|h)\b"), "<time>"),
    (re.compile(r"\b[\d,.]+[kM]? steps/s"), "<speed>"),
    (re.compile(r"[ \t]+$", re.M), ""),
    (re.compile(r"(?<=\|)[ -]+(?=\|)"), "-"),
    (re.compile(r" {2,}"), " "),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the comment before it."""

    language: str
    code: str
    note: str

    @property
    def file(self) -> str | None:
        """The file that the block is, if it is one."""
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    @property
    def left_out(self) -> bool:
        """Whether somebody else executes it, or nobody does again."""
        return self.note.startswith(("by ", "recorded: "))


@dataclass(frozen=True)
class Command:
    """A line after a prompt, and what the page shows below it."""

    line: str
    shown: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    return [Block(found["language"], found["code"], found["note"] or "") for found in _BLOCK.finditer(page)]


def page_note(page: str) -> str:
    """What the comment below a page's title says about all its blocks; empty if there is none."""
    found = _PAGE_NOTE.match(page)
    return found[1] if found else ""


def commands(block: Block) -> Iterator[Command]:
    """The lines after a prompt; one that ends with a backslash goes on in the next."""
    for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
        found = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.S)
        assert found is not None
        yield Command(found[1], found[2])


def shell(line: str, folder: Path) -> tuple[int, str]:
    """Executes a line as a user would, with the programs of this environment; returns exit code and output.

    What a command that succeeds writes beside its output, like its progress, is left out.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    return ended.returncode, ended.stdout + (ended.stderr if ended.returncode else "")


def masked(text: str) -> str:
    """The text without what differs each time."""
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text.strip()


def agree(shown: str, output: str) -> bool:
    """Whether a command printed what a page shows; nothing shown agrees with everything."""
    wanted = "".join(
        r"(?:[^\n]*\n)*?" if _ANY.match(line) else re.escape(line) + "\n" for line in masked(shown).splitlines()
    )
    return not shown.strip() or re.fullmatch(wanted, masked(output) + "\n") is not None


def renewed(page: str, folder: Path) -> str:
    """The page with the outputs that its commands have now; where nothing was shown, nothing is."""

    def renew(found: re.Match[str]) -> str:
        block = Block(found["language"], found["code"], found["note"] or "")
        if block.language != "console" or block.left_out or not block.code.startswith("$ "):
            return found[0]
        code = "".join(f"$ {command.line}\n{_renewed_output(command, folder)}" for command in commands(block))
        return found[0].replace(block.code, code)

    write_files(page, folder)
    return _BLOCK.sub(renew, page)


def _renewed_output(command: Command, folder: Path) -> str:
    output = shell(command.line, folder)[1]
    if agree(command.shown, output):
        return command.shown
    return re.sub(r"[ \t]+$", "", output, flags=re.M).strip("\n") + "\n"


def furnish(folder: Path) -> None:
    """Gives a folder what a reader has in a clone: the examples, and the published sessions."""
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, folder)
    (folder / "artifacts").symlink_to(ROOT / "artifacts")


def write_files(page: str, folder: Path) -> None:
    """Puts the files that a page shows into a folder."""
    for block in blocks(page):
        if block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.code, encoding="utf-8")


def main() -> None:
    """Entry point: ``python scripts/page_blocks.py docs/start.md`` executes a page's commands and renews outputs."""
    for name in sys.argv[1:]:
        path = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            furnish(Path(folder))
            before = path.read_text(encoding="utf-8")
            after = renewed(before, Path(folder))
        path.write_text(after, encoding="utf-8")
        print(f"{name}: {'as it was' if before == after else 'renewed'}")


if __name__ == "__main__":
    main()
