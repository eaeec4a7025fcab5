"""Finds out what a user named: a session, a folder of sessions, a sweep, a search or a continual run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.samples import Sample, distinct, sample_of_session, samples_of_sweep
from nematodebench.records.store import find_record

__all__ = ["Sources", "open_sources"]

_MOST_BYTES = 50_000_000


@dataclass
class Sources:
    """What is to be shown.

    Attributes:
        samples: Brains on tasks, from sessions and sweeps.
        searches: The results of searches.
        continual: The reports of continual runs.
    """

    samples: list[Sample] = field(default_factory=list)
    searches: list[dict[str, Any]] = field(default_factory=list)
    continual: list[dict[str, Any]] = field(default_factory=list)

    @property
    def tasks(self) -> list[str]:
        """Ids of the tasks of the samples, in order."""
        return list(dict.fromkeys(sample.task.id for sample in self.samples))

    def of_task(self, task: str) -> list[Sample]:
        """The samples of one task."""
        return [sample for sample in self.samples if sample.task.id == task]


def open_sources(places: Sequence[Path]) -> Sources:
    """Reads everything that was named; a folder of sessions stands for all of them."""
    found = Sources()
    for place in places:
        _open(place, found)
    found.samples = distinct(found.samples)
    return found


def _open(place: Path, found: Sources) -> None:
    if place.is_dir() and (place / "sweep.parquet").is_file():
        found.samples += samples_of_sweep(place)
    elif place.is_dir() and (place / "result.json").is_file():
        found.searches.append({**_json(place / "result.json", "verdict", "a search's result"), "place": str(place)})
    elif place.is_dir() and not find_record(place) and (inner := _sessions_in(place)):
        found.samples += [sample_of_session(folder) for folder in inner]
    elif place.is_file() and _is_continual(place):
        found.continual.append(_json(place, "environments", "a continual run's report"))
    else:
        found.samples.append(sample_of_session(place))


def _sessions_in(place: Path) -> list[Path]:
    """The sessions in a folder; if there are none, those in its folders."""
    folders = sorted(folder for folder in place.iterdir() if folder.is_dir())
    own = [folder for folder in folders if find_record(folder)]
    return own or [inner for folder in folders for inner in sorted(folder.iterdir()) if _is_session(inner)]


def _is_session(place: Path) -> bool:
    return place.is_dir() and find_record(place) is not None


def _is_continual(place: Path) -> bool:
    if place.suffix != ".json" or place.stat().st_size > _MOST_BYTES:
        return False
    try:
        content = json.loads(place.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"environments", "profiles"} <= content.keys()


def _json(file: Path, key: str, what: str) -> dict[str, Any]:
    if file.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{file} is not {what}: it has more than {_MOST_BYTES:,} bytes.")
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not {what}: it is no JSON.") from error
    if not isinstance(content, dict) or key not in content:
        raise UsageError(f"{file} is not {what}: {key!r} is missing.")
    return content
