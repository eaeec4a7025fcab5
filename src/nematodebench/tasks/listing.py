"""The built-in tasks and what they ask, found without importing a world or the compiler.

The files of this package are imported once to see which tasks they define; the list is then kept beside the compiled
code, under a hash of the sources it comes from. After an edit there the tasks are listed anew.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from nematodebench.files import atomic_write
from nematodebench.kernels.cache_folder import preferred_cache_root

__all__ = ["TaskLine", "newest_versions", "task_ids", "task_lines"]

_PACKAGE = Path(__file__).resolve().parent.parent
_SOURCES = ("tasks/*.py", "worlds/**/*.py")


class TaskLine(NamedTuple):
    """One line of a list of tasks."""

    id: str
    score_key: str
    summary: str


def task_ids() -> list[str]:
    """Ids of the built-in tasks, whether they are calibrated or not."""
    return sorted(line.id for line in task_lines())


def task_lines() -> list[TaskLine]:
    """The built-in tasks, in the order of the registry."""
    path = _path()
    lines = _read(path)
    if lines is None:
        from nematodebench.tasks.registry import built_in_tasks

        lines = [TaskLine(task.id, task.score_key, task.summary) for task in built_in_tasks().values()]
        _write(path, lines)
    return lines


def newest_versions(ids: Iterable[str]) -> set[str]:
    """Of each task the id with the highest version."""
    newest: dict[str, int] = {}
    for name, _, version in (each.rpartition("-v") for each in ids):
        newest[name] = max(newest.get(name, 0), int(version))
    return {f"{name}-v{version}" for name, version in newest.items()}


def _path() -> Path:
    """One file for each state of the sources, so that two checkouts with one cache do not disturb each other."""
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return preferred_cache_root() / f"task_list_{digest.hexdigest()[:16]}.json"


def _read(path: Path) -> list[TaskLine] | None:
    """The tasks in a file; None where there is no such file, or somebody spoilt it."""
    try:
        check, content = json.loads(path.read_text(encoding="utf-8"))
        lines = [TaskLine(*line) for line in content]
        if check != _check(content):
            return None
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return lines if lines and all(isinstance(word, str) for line in lines for word in line) else None


def _check(lines: Sequence[Sequence[str]]) -> str:
    """A hash of a list: one wrong letter in it would be another task."""
    return hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:16]


def _write(path: Path, lines: list[TaskLine]) -> None:
    """Keeps the list, whole or not at all; where that is impossible, the tasks are listed anew the next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_write(path, json.dumps([_check(lines), lines]).encode())
