"""Edits of a brain's files while a command runs: what is executed in one command is one state of them.

A worker process that begins later imports a source as it is then, and so does a run that imports a module late. So
every file is remembered as it was when the command read it first. Code that is loaded stays as it is, and goes on.
"""

import contextlib
import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from nematodebench.errors import EditedError

__all__ = ["changed_data", "one_state", "refuse_edits", "remember"]


class _Seen(NamedTuple):
    """A file as it was: what the system says of it, which is looked at often, and of a source the hash that decides."""

    stamp: tuple[int, ...] | None
    digest: str


_SEEN: ContextVar[dict[Path, _Seen] | None] = ContextVar("files of a command", default=None)


@contextlib.contextmanager
def one_state() -> Iterator[None]:
    """Everything inside the block is one command; a block inside another belongs to that."""
    if _SEEN.get() is not None:
        yield
        return
    token = _SEEN.set({})
    try:
        yield
    finally:
        _SEEN.reset(token)


def remember(files: Iterable[Path]) -> None:
    """Remembers files as they are now, unless the command knows them already."""
    seen = _SEEN.get()
    if seen is not None:
        for path in set(files) - seen.keys():
            seen[path] = _Seen(_stamp(path), _digest(path) if _is_source(path) else "")


def refuse_edits(loaded: bool = True) -> None:
    """Refuses to go on where a source has changed since the command read it first.

    Args:
        loaded: Whether sources count that this process has loaded, as they do where a new process begins.
    """
    for path in filter(_is_source, _changed()):
        if (loaded or not _is_loaded(path)) and _digest(path) != (_SEEN.get() or {})[path].digest:
            raise EditedError(
                f"{path.name} was edited while it was in use: runs of two states must not be mixed. Put it back as it "
                "was, or start anew."
            )


def changed_data() -> list[str]:
    """Names of files that are no sources and were written since the command read them first, maybe by a brain."""
    return sorted(path.name for path in _changed() if not _is_source(path))


def _changed() -> list[Path]:
    return [path for path, before in (_SEEN.get() or {}).items() if _stamp(path) != before.stamp]


def _is_source(path: Path) -> bool:
    return path.suffix == ".py"


def _stamp(path: Path) -> tuple[int, ...] | None:
    with contextlib.suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None


def _digest(path: Path) -> str:
    with contextlib.suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _is_loaded(path: Path) -> bool:
    names = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return any(name and name.endswith(path.name) and Path(name).resolve() == path for name in names)
