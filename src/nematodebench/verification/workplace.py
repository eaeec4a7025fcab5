"""The folder that a verification works in. What is finished there is believed, so nobody else may have put it there."""

from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.kernels.safe_start import distrust
from nematodebench.records.git import git

__all__ = ["own_folder"]


def own_folder(folder: Path) -> Path:
    """Makes a folder for finished runs, or takes the one that is there; its absolute path.

    Raises:
        UsageError: Somebody else may have prepared it: it is a link, git has it from a commit, or others may write to
            it. A challenge, outcomes and fresh sessions that lie there would count as the verifier's own.
    """
    place = folder.absolute()
    why = ""
    if place.is_symlink() or place.parent.is_symlink():
        why = "it is a symbolic link, or in one"
    elif place.is_dir():
        why = "git has files of it, from a commit" if git("ls-files", folder=place) else distrust(place) or ""
    elif place.exists():
        why = "it is no folder"
    if why:
        raise UsageError(f"{folder} is not used to verify in: {why}. Remove it, or name another folder with --work.")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place
