"""Where a result comes from, in lines that a reader understands."""

from nematodebench.records.basic_schemas import Provenance

__all__ = ["commit_words", "made_with", "version_words"]


def commit_words(commit: str | None, dirty: bool | None) -> str:
    """A commit in words."""
    return f"{commit or 'unknown'}{' with local changes' if dirty else ''}"


def version_words(made: Provenance) -> str:
    """The versions that decide bits."""
    return f"Python {made.python}, NumPy {made.numpy}, Numba {made.numba}, llvmlite {made.llvmlite}"


def made_with(made: Provenance, own_brain: bool) -> list[tuple[str, str]]:
    """Code, environment and machine, each with a name.

    Args:
        made: What is recorded.
        own_brain: Whether the brain is from outside the package, and so has a commit of its own.
    """
    lines = [
        ("package", made.package_version),
        ("commit of the package", commit_words(made.git_commit, made.git_dirty)),
    ]
    if own_brain:
        lines.append(("commit of the brain", commit_words(made.brain_commit, made.brain_dirty)))
    return [
        *lines, ("source hash", made.source_hash), ("versions", version_words(made)), ("lock file", _lock(made)),
        ("machine", f"{made.cpu}, {made.platform}"),
    ]  # fmt: skip


def _lock(made: Provenance) -> str:
    if made.lock_sha256 is None:
        return "unknown"
    return f"{made.lock_sha256[:16]}, {'followed' if made.lock_followed else 'other versions are installed'}"
