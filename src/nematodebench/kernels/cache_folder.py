"""Where the package keeps what it can make again: compiled code, and the list of task ids. Imports no compiler."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["cache_root", "preferred_cache_root"]


def preferred_cache_root() -> Path:
    """The folder named by ``$NEMATODEBENCH_CACHE_DIR``, or the user's cache; it may not exist, or not be writable."""
    given = os.environ.get("NEMATODEBENCH_CACHE_DIR")
    return Path(given) if given else _user_cache() / "nematodebench"


def _user_cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # a user without a home: nothing can be written there
        return Path(os.devnull)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_root() -> Path:
    """Where compiled code is kept: the preferred folder, or a temporary one where that cannot be written."""
    preferred = preferred_cache_root()
    if _writable(preferred):
        return preferred
    temporary = Path(tempfile.mkdtemp(prefix="nematodebench-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return temporary
