"""What a foreign brain is, and how it is run."""

from dataclasses import dataclass, field
from pathlib import Path

from nematodebench.engine.isolation import sandbox

__all__ = ["Foreign"]


@dataclass(frozen=True)
class Foreign:
    """A brain that is not part of this installation, and how it is run.

    Attributes:
        where: ``module:Class``, or ``path/to/file.py:Class``.
        readable: Its own files and folders; nothing else of the user's is visible to it.
        limits: What it may use in one run.
        seconds: How long a run may take.
        cache: Folder for the brain's compiled code, in an archive that only the brain's processes open.
        trusted: Whether it runs in a process of its own without a sandbox.
    """

    where: str
    readable: tuple[Path, ...] = ()
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)
    seconds: float = 3600.0
    cache: Path | None = None
    trusted: bool = False
