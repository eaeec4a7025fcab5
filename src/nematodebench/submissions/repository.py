"""Asks git about the repository in which a submission is made."""

from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.records.git import git

__all__ = ["RESULTS", "changed_files", "ignores", "is_tracked", "repository_root", "state_folder", "tracked_configs"]

RESULTS = ("experiments/", "artifacts/", "benchmarks/")
"""Folders of results: changes in them are what a submission is made of, not changes of the code."""


def repository_root(folder: Path) -> Path | None:
    """The top of the git repository that holds a folder; None outside of one."""
    top = git("rev-parse", "--show-toplevel", folder=folder)
    return Path(top) if top else None


def state_folder(root: Path) -> Path:
    """A place for locks and journals that is never committed: inside git's own folder."""
    found = git("rev-parse", "--absolute-git-dir", folder=root)
    if not found:
        raise UsageError(f"{root} is not a git repository: run `git init` and commit, or use --draft.")
    folder = Path(found) / "nematodebench"
    folder.mkdir(exist_ok=True)
    return folder


def changed_files(root: Path) -> list[str] | None:
    """Tracked files that differ from the last commit, results aside; None where there is no commit."""
    words = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--name-only", "-z", "HEAD")
    listing = git(*words, folder=root)
    if listing is None:
        return None
    return [name for name in listing.split("\0") if name and not name.startswith(RESULTS)]


def tracked_configs(root: Path) -> list[str]:
    """The config files under configs/ that git knows."""
    listing = git("ls-files", "-z", "--", "configs", folder=root) or ""
    return [name for name in listing.split("\0") if name.endswith((".yml", ".yaml"))]


def ignores(root: Path, relative: str) -> bool:
    """Whether git would leave files of a folder out of commits."""
    return git("check-ignore", "-q", "--no-index", f"{relative}/session", folder=root) is not None


def is_tracked(root: Path, relative: str) -> bool:
    """Whether git knows a file."""
    return git("--literal-pathspecs", "ls-files", "--error-unmatch", "--", relative, folder=root) is not None
