"""The ids of the built-in tasks, found without importing a world or the compiler.

The files of this package are imported once to see which tasks they define; the ids are then kept beside the compiled
code, under a hash of the sources they come from. After an edit there they are listed anew.
"""

import contextlib
import hashlib
import json
from pathlib import Path

from nematodebench.files import atomic_write
from nematodebench.kernels.cache_folder import preferred_cache_root

__all__ = ["task_ids"]

_PACKAGE = Path(__file__).resolve().parent.parent
_SOURCES = ("tasks/*.py", "worlds/**/*.py")


def task_ids() -> list[str]:
    """Ids of the built-in tasks, whether they are calibrated or not."""
    path = _path()
    ids = _read(path)
    if ids is None:
        from nematodebench.tasks.registry import built_in_tasks

        ids = sorted(built_in_tasks())
        _write(path, ids)
    return ids


def _path() -> Path:
    """One file for each state of the sources, so that two checkouts with one cache do not disturb each other."""
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return preferred_cache_root() / f"tasks_{digest.hexdigest()[:16]}.json"


def _read(path: Path) -> list[str] | None:
    """The ids in a file; None where there is no such file, or somebody spoilt it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, list) and content and all(isinstance(name, str) for name in content) else None


def _write(path: Path, ids: list[str]) -> None:
    """Keeps the ids, whole or not at all; where that is impossible, they are listed anew the next time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps(ids).encode())
