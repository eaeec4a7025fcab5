"""Which commits a result comes from: that of the package, and that of a brain from outside of it.

The folder that a command is started in says nothing about either.
"""

import importlib.metadata
import json
from functools import cache
from pathlib import Path

from nematodebench.records.git import git

__all__ = ["Commit", "brain_commit", "package_commit"]

Commit = tuple[str | None, bool | None]
"""The commit, and whether there were changes that are in no commit; None where that is unknown."""
_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def package_commit() -> Commit:
    """The package's own commit. It is looked for once: what is imported does not change any more."""
    return _commit_of(_PACKAGE / "__init__.py") if _is_tracked(_PACKAGE / "__init__.py") else (_installed(), None)


def brain_commit(file: Path) -> Commit:
    """The commit of the repository that a brain's file lies in. A file that is in no commit is a change."""
    tracked = _is_tracked(file)
    if not tracked and "site-packages" in file.parts:
        return None, None  # the repository around it is that of somebody who installed the brain
    commit, dirty = _commit_of(file)
    return commit, dirty if tracked or commit is None else True


def _is_tracked(file: Path) -> bool:
    """Whether git has the file: a package that was installed below a repository is no part of it."""
    return bool(git("ls-files", "--error-unmatch", "--", file.name, folder=file.parent))


def _commit_of(file: Path) -> Commit:
    commit = git("rev-parse", "HEAD", folder=file.parent)
    status = git("status", "--porcelain", "--ignore-submodules=all", folder=file.parent)
    return commit, None if commit is None or status is None else bool(status)


def _installed() -> str | None:
    """The commit that the package was installed from, where the installer kept it."""
    try:
        kept = importlib.metadata.distribution("nematodebench").read_text("direct_url.json")
        commit = json.loads(kept or "{}").get("vcs_info", {}).get("commit_id")
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return None
    return commit if isinstance(commit, str) and commit.isalnum() else None
