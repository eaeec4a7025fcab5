"""What a session was begun with: it goes on only with the same code, brain, libraries and config."""

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from nematodebench.brains.registry import BrainType
from nematodebench.edits import remember
from nematodebench.engine.isolation.host import Foreign
from nematodebench.errors import UsageError
from nematodebench.own_files import imported_names, own_files
from nematodebench.records.provenance import source_hash
from nematodebench.sessions.recording import brain_file

__all__ = ["begun_with", "changed_since", "decided_by", "refuse_changes", "remember_sources"]


class Begun(Protocol):
    """What decides runs, as far as it is asked for here: a plan, or what a search improves."""

    @property
    def brain(self) -> BrainType | Foreign:
        """The brain."""

    @property
    def config_text(self) -> str:
        """The text of its config."""


def begun_with(plan: Begun) -> dict[str, Any]:
    """Hashes and versions of everything that decides the runs of a plan."""
    return {
        "source": source_hash(),
        "config": _sha256(plan.config_text.encode()),
        "brain": {name: _digest(path) for name, path in _own_files(plan).items()},
        "libraries": {"python": platform.python_version(), **_libraries(plan)},
    }


def remember_sources(plan: Begun) -> None:
    """Remembers the sources of a brain from outside as those that the command uses."""
    if not isinstance(plan.brain, Foreign):
        remember(_own_files(plan).values())


def refuse_changes(what: str, stored: Any, plan: Begun) -> None:
    """Refuses to go on with what was begun with something else."""
    changed = changed_since(stored if isinstance(stored, dict) else {}, plan)
    if changed:
        raise UsageError(
            f"{what} was begun with something else: {', '.join(changed)} changed since. Runs of two states must not be "
            "mixed: put it back as it was, or start anew."
        )


def changed_since(stored: dict[str, Any], plan: Begun) -> list[str]:
    """What is not as it was when the session began, in words; empty where all of it is."""
    now = begun_with(plan)
    found = ["the code of this package"] if stored.get("source") != now["source"] else []
    found += ["its config file"] if stored.get("config") != now["config"] else []
    found += [f"the brain's file {name}" for name in _changed_files(dict(stored.get("brain", {})), plan)]
    for name, version in stored.get("libraries", {}).items():
        here = platform.python_version() if name == "python" else _version(name)
        found += [f"{name} ({version} then, {here or 'missing'} now)"] if here != version else []
    return found


def _changed_files(before: dict[str, str], plan: Begun) -> list[str]:
    """Files of the brain that are not as they were, whether they are imported by now or not."""
    own = brain_file(plan.brain)
    folder = Path.cwd() if own is None else own.parent
    names = sorted({*before, *([] if own is None else [own.name])})
    places = {name: folder / name for name in names}
    return [name for name, path in places.items() if not path.is_file() or _digest(path) != before.get(name)]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _own_files(plan: Begun, loaded: bool = True) -> dict[str, Path]:
    """The files of a brain from outside, and those that a config names, by name; mostly none for ours."""
    return own_files(brain_file(plan.brain), plan.config_text, loaded)


def _libraries(plan: Begun, loaded: bool = True) -> dict[str, str]:
    """Versions of what computes: the libraries of the compiled core, and for Python brains all that are used."""
    names = {"numpy", "numba", "llvmlite"}
    own = _own_files(plan, loaded)
    if own:
        used = imported_names(own) | ({name.partition(".")[0] for name in sys.modules} if loaded else set())
        for module, distributions in _distributions().items():
            names |= set(distributions) if module in used else set()
    return {name: version for name in sorted(names) if (version := _version(name)) is not None}


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Which distributions bring a module; finding out reads the lists of files of all that are installed."""
    return importlib.metadata.packages_distributions()


def decided_by(plan: Begun) -> dict[str, Any]:
    """What decides runs, as far as sources tell: the same in every process, whatever it has loaded, and anywhere."""
    return {
        "package": source_hash(),
        "brain_files": sorted(_digest(path) for path in _own_files(plan, loaded=False).values()),
        "libraries": {"python": platform.python_version(), **_libraries(plan, loaded=False)},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
