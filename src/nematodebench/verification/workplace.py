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
        why = _committed(place) or distrust(place) or ""
    elif place.exists():
        why = "it is no folder"
    if why:
        raise UsageError(f"{folder} is not used to verify in: {why}. Remove it, or name another folder with --work.")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _committed(place: Path) -> str:
    """Why a folder may have come with a commit; empty where it has not.

    Every repository around it is asked from its top: a folder can be made to look like a repository that has no files.
    """
    for top in (place, *place.parents):
        if not (top / ".git").exists():
            continue
        within = place.relative_to(top).as_posix()
        found = git("--literal-pathspecs", "ls-files", "--", within, folder=top)
        if found is None:
            return f"git cannot tell whether a commit of {top} has files of it"
        if found:
            return "git has files of it, from a commit"
    return ""
