"""Commands that were stopped: one id goes on with the whole command, however many sessions it consists of.

``<root>/.unfinished/<id>/`` holds ``command.json`` (what was asked for, and what it was begun with) and, for commands
that do not store sessions, the runs that have ended. It is removed when the command has ended.
"""

import contextlib
import datetime
import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.errors import EditedError, Interrupted, StorageError, UsageError
from nematodebench.files import atomic_write, held, new_folder
from nematodebench.records.run_files import RunFiles
from nematodebench.records.store import UNFINISHED, resume_line
from nematodebench.sessions.begun import Begun, begun_with, refuse_changes

__all__ = ["FOLDER", "Unfinished", "begin", "find", "go_on"]

FOLDER = UNFINISHED
_RECORD = "command.json"


@dataclass(frozen=True)
class Unfinished:
    """A command on its way.

    Attributes:
        root: Where results are stored.
        name: The id that goes on with it.
        command: Its name, like ``continual``.
        asked: What was asked for, as plain data.
        begun_with: Hashes and versions of what decides its runs.
    """

    root: Path
    name: str
    command: str
    asked: dict[str, Any]
    begun_with: Any

    @property
    def folder(self) -> Path:
        """Its own files."""
        return self.root / FOLDER / self.name

    @property
    def way_on(self) -> str:
        """The command line that goes on with it."""
        return resume_line(self.name, self.root, self.command)

    def runs(self, part: str) -> RunFiles:
        """Where the runs of a part of the command are kept as they end."""
        folder = self.folder / "runs" / part
        folder.mkdir(parents=True, exist_ok=True)
        return RunFiles(folder)

    def refuse_changes(self, plan: Begun) -> None:
        """Refuses to go on where something has changed that decides its runs."""
        refuse_changes(self.name, self.begun_with, plan)


@contextlib.contextmanager
def begin(
    root: Path, command: str, asked: dict[str, Any], plan: Begun, files: Mapping[str, bytes] | None = None
) -> Iterator[Unfinished]:
    """A command begins. Where the block does not come to its end, the command can go on under its id.

    Args:
        root: Where results are stored.
        command: Its name.
        asked: What was asked for, as plain data.
        plan: What decides its runs.
        files: Further files that it needs to go on.
    """
    name = f"{datetime.datetime.now(datetime.UTC):%Y%m%d_%H%M%S}_{command}_{uuid.uuid4().hex[:6]}"
    work = Unfinished(root, name, command, asked, begun_with(plan))
    content = {"command": command, "asked": asked, "begun_with": work.begun_with}

    def fill(place: Path) -> None:
        for own, bytes_of_it in (files or {}).items():
            atomic_write(place / own, bytes_of_it)
        atomic_write(place / _RECORD, json.dumps(content, indent=1).encode())

    with _told(work), new_folder(work.folder, name, fill):
        yield work
        _remove(work)


@contextlib.contextmanager
def go_on(work: Unfinished) -> Iterator[None]:
    """Goes on with a command; nobody else can at the same time."""
    with _told(work), held(work.folder, work.name):
        yield
        _remove(work)


@contextlib.contextmanager
def _told(work: Unfinished) -> Iterator[None]:
    """Says how to go on, whatever stops the command."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt) as stop:
        raise Interrupted(work.way_on) from stop
    except EditedError as error:
        error.args = (f"{error} To go on then: {work.way_on}",)
        raise
    except OSError as error:
        hint = f" Make room, then: {work.way_on}" if work.folder.is_dir() else ""
        raise StorageError(f"Cannot write to {work.folder}: {error.strerror or error}.{hint}") from error


def _remove(work: Unfinished) -> None:
    gone = work.folder.with_name(f".{work.name}.{uuid.uuid4().hex[:8]}")  # a kill now leaves what is cleaned later
    work.folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    with contextlib.suppress(OSError):
        gone.parent.rmdir()


def find(root: Path, name: str, command: str) -> Unfinished:
    """The stopped command of an id; an error that names those there are."""
    path = root / FOLDER / name / _RECORD
    if not path.is_file():
        there = sorted(one.parent.name for one in path.parent.parent.glob(f"*/{_RECORD}"))
        known = f" There is: {', '.join(there)}." if there else ""
        raise UsageError(f"There is nothing to resume with the id {name!r} in {root}.{known}")
    try:
        content = json.loads(path.read_text())
        work = Unfinished(root, name, str(content["command"]), dict(content["asked"]), content["begun_with"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged: the command cannot go on. Start it anew.") from error
    if work.command != command:
        raise UsageError(f"{name} is not a `{command}`: {work.way_on}")
    return work
