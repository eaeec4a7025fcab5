"""The lock file: exact versions of the environment that verified results are made with."""

import hashlib
import importlib.metadata
import re
from functools import cache
from pathlib import Path

__all__ = ["LOCK", "follows_lock", "lock_sha256", "unlike_the_lock"]

LOCK = "requirements.lock"
_PACKAGE = Path(__file__).resolve().parents[1]
_PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.MULTILINE)


@cache
def _content() -> bytes | None:
    """The lock file: a wheel has it in the package, a clone of the repository at its top."""
    places = [_PACKAGE / LOCK, *([_PACKAGE.parents[1] / LOCK] if _PACKAGE.parent.name == "src" else [])]
    return next((place.read_bytes() for place in places if place.is_file()), None)


def lock_sha256() -> str | None:
    """The hash of the lock file; None where there is none."""
    content = _content()
    return None if content is None else hashlib.sha256(content).hexdigest()


@cache
def unlike_the_lock() -> tuple[str, ...]:
    """What is installed in another version than the lock file says, or is missing."""
    return tuple(
        f"{name} {here or 'missing'} ({wanted} in the lock file)"
        for name, wanted in _PINNED.findall((_content() or b"").decode())
        if (here := _version(name)) != wanted
    )


def follows_lock() -> bool | None:
    """Whether everything has the version that the lock file says; None where there is no lock file."""
    return None if _content() is None else not unlike_the_lock()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
