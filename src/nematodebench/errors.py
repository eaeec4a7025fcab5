"""Errors that users are meant to read: one line names the thing, the reason and the way out."""

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "CallbackError",
    "CompileError",
    "EditedError",
    "Interrupted",
    "StorageError",
    "UsageError",
    "missing_extra",
    "near_names",
    "said",
    "unknown_name",
]


class UsageError(ValueError):
    """Something the user gave cannot be used as it is."""


class CompileError(UsageError):
    """A function of a brain or a world cannot be compiled; the line says where and why."""


class EditedError(UsageError):
    """A source was edited while a command used it; what has ended is kept."""


class CallbackError(UsageError):
    """A callback raised an error, and the session has stopped; ``session`` holds the runs that were finished."""

    session: Any = None


class StorageError(RuntimeError):
    """A result could not be written; what was written before is kept."""


class Interrupted(Exception):  # noqa: N818  (the user's wish, not an error)
    """The user has stopped a command; ``way_on`` is the command that goes on with it, empty where nothing was kept."""

    def __init__(self, way_on: str = "") -> None:
        self.way_on = way_on
        super().__init__(way_on)


def said(error: BaseException) -> str:
    """What an error says; one of a user may fail at that too."""
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"  # as Python's tracebacks call it


_FEW = 8
"""An error lists at most so many names; for more it refers to the command that lists them."""


_EXTRAS = {
    "altair": "report", "cmaes": "search", "h5py": "minari", "imageio_ffmpeg": "video", "jinja2": "report",
    "markupsafe": "report", "matplotlib": "search", "minari": "minari", "nir": "nir",
    "onnxruntime": "onnx", "optuna": "search",
    "pettingzoo": "swarm", "ray": "ray", "stable_baselines3": "sb3", "torch": "torch", "vl_convert": "report",
}  # fmt: skip


def missing_extra(error: ImportError) -> str:
    """What to install for a library that is not there; empty where no extra of this package brings it."""
    extra = _EXTRAS.get(str(error.name or "").partition(".")[0])
    return "" if extra is None else f"Install it with: pip install 'nematodebench[{extra}]'"


def near_names(name: str, known: Iterable[str]) -> str:
    """A question for the names that are nearest to one that does not exist; empty where none is near."""
    names = sorted(known)
    if not name:
        return ""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    near = near or [candidate for candidate in names if candidate.lower() == name.lower()]
    near = near or [candidate for candidate in names if candidate.startswith(name)][:3]
    return f"Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """An error for a name that does not exist, with the nearest ones that do."""
    names = sorted(known)
    listed = f"There are: {', '.join(names)}." if len(names) <= _FEW else f"See `nematodebench {kind}s`."
    hint = near_names(name, names) or listed
    return UsageError(f"{kind.capitalize()} {name!r} does not exist. {hint}")
