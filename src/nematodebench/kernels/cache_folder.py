"""Where the package keeps what it can make again: compiled code, and the list of task ids. Imports no compiler."""

import atexit
import os
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

__all__ = ["VARIABLE", "cache_root", "preferred_cache_root", "temporary_cache"]

VARIABLE = "NEMATODEBENCH_CACHE_DIR"


def preferred_cache_root() -> Path:
    """The folder named by ``$NEMATODEBENCH_CACHE_DIR``, or the user's cache; it may not exist, or not be writable."""
    given = os.environ.get(VARIABLE)
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
    return temporary_cache(f"{preferred} cannot be written")


def temporary_cache(why: str) -> Path:
    """A folder for compiled code that this process and its children use instead of the preferred one.

    It is removed in the end. ``why`` is told, because everything is compiled anew in every process.
    """
    warnings.warn(
        f"Compiled code is kept in a temporary folder only, because {why}. Name another folder in {VARIABLE}.",
        RuntimeWarning,
        stacklevel=2,
    )
    temporary = Path(tempfile.mkdtemp(prefix="nematodebench-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ[VARIABLE] = str(temporary)
    return temporary
