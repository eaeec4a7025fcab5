"""Makes sure that only this user's own code is compiled and loaded, before anything is.

Compiled code is kept on disk, loaded and executed, so its folder is used only if nobody else can write to it. Numba
takes settings from the folder it is started in, so nothing is compiled in a folder that has any.
"""

import os
import stat
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.kernels.cache_folder import preferred_cache_root, temporary_cache

__all__ = ["distrust", "refuse_compiler_settings", "use_own_cache"]

_COMPILER_SETTINGS = ".numba_config.yaml"


def distrust(folder: Path) -> str | None:
    """Why code in an existing folder may be somebody else's; None where only this user can have put it there."""
    if not hasattr(os, "getuid"):
        return None
    found = folder.stat()
    if found.st_uid != os.getuid():
        return f"it belongs to user {found.st_uid}, not to {os.getuid()}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    for parent in folder.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"everybody may replace it, because everybody may write to {parent}"
    return None


def use_own_cache() -> None:
    """Takes another folder for compiled code, for this process and its children, where the usual one is not safe.

    A new folder is closed to others from the start.
    """
    folder = preferred_cache_root()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = distrust(folder)
    except OSError:
        return  # it cannot be written either, and a temporary one is used anyway
    if why is not None:
        temporary_cache(f"{folder} is not safe: {why}")


def refuse_compiler_settings(folder: Path) -> None:
    """Stops where a folder holds settings of the compiler."""
    path = folder / _COMPILER_SETTINGS
    if path.exists() or path.is_symlink():
        raise UsageError(
            f"{path} would change how code is compiled and which code is loaded. Remove it, or start in another folder."
        )
