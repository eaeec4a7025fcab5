"""What commands share that store no session and still go on where they were stopped: ``continual`` and ``ablate``."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from nematodebench.errors import UsageError
from nematodebench.notices import tell
from nematodebench.records.run_files import RunFiles
from nematodebench.records.store import EXPERIMENTS
from nematodebench.sessions.begun import Begun
from nematodebench.sessions.unfinished import Unfinished, begin, find, go_on

__all__ = ["Keep", "asked_before", "keeping", "say_damaged"]

Request = TypeVar("Request")


class Keep:
    """Where the runs of the parts of a command are kept as they end; nowhere where nothing can be written."""

    def __init__(self, work: Unfinished | None) -> None:
        self._work = work

    def __call__(self, part: str) -> RunFiles | None:
        """The place for the runs of a part."""
        return None if self._work is None else self._work.runs(part)


def asked_before(request: Request, command: str) -> tuple[Request, Unfinished | None]:
    """The request of the command that is resumed, and its id; the same request where none is."""
    given: Any = request
    if given.resume is None:
        return request, None
    work = find(EXPERIMENTS, given.resume, command)
    try:
        before = type(given)(**work.asked, resume=given.resume)
    except TypeError as error:
        raise UsageError(f"{work.folder} is damaged: the command cannot go on. Start it anew.") from error
    return (replace(before, workers=given.workers) if given.workers else before), work


@contextlib.contextmanager
def keeping(request: Any, command: str, work: Unfinished | None, plan: Begun) -> Iterator[Keep]:
    """Keeps runs while the block runs, so that the command can go on; at its end nothing is left.

    Args:
        request: What was asked for, with the seed that was drawn.
        command: The name of the command.
        work: The command that is resumed.
        plan: What decides its runs.
    """
    if work is not None:
        work.refuse_changes(plan)
        with go_on(work):
            yield Keep(work)
    elif not _writable(EXPERIMENTS):
        tell(f"{EXPERIMENTS} cannot be written: this command cannot be resumed if it is stopped.")
        yield Keep(None)
    else:
        asked = {key: _plain(value) for key, value in asdict(request).items() if key != "resume"}
        with begin(EXPERIMENTS, command, asked, plan) as begun:
            yield Keep(begun)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def say_damaged(names: Sequence[str]) -> None:
    """Names the files of finished runs that were not believed."""
    if names:
        shown = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
        print(f"nematodebench: damaged, executed again: {shown}", file=sys.stderr)


def _writable(root: Path) -> bool:
    place = next(one for one in (root.absolute(), *root.absolute().parents) if one.exists())
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)
