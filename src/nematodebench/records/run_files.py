"""Runs that have ended, one file each: what a command that was stopped goes on from."""

import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.files import atomic_write
from nematodebench.records.runs import RunFailure, RunResult

__all__ = ["RunFiles"]

_FACTS = ("index", "seed", "record_hash", "memory_hash", "descriptors", "steps", "seconds")


class RunFiles:
    """A folder with ``NNNNN.npz`` for each run that has ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, run: RunResult) -> None:
        """Keeps a run that has ended; its metrics belong to the whole session and come later."""
        buffer = io.BytesIO()
        facts = {name: getattr(run, name) for name in _FACTS} | {"phases": list(run.records)}
        facts["failure"] = None if run.failure is None else asdict(run.failure)
        arrays: dict[str, Any] = {f"phase{k}": rows for k, rows in enumerate(run.records.values())}
        np.savez(buffer, facts=np.array(json.dumps(facts)), **arrays)
        atomic_write(self.folder / f"{run.index:05d}.npz", buffer.getvalue())

    def read(self) -> Iterator[tuple[str, RunResult | None]]:
        """The files so far, in order, with what they hold; None for one that cannot be read."""
        for path in sorted(self.folder.glob("*.npz")):
            yield path.name, _read(path)


def _read(path: Path) -> RunResult | None:
    """A run that was kept; None where the file is damaged, whatever is wrong with it."""
    try:
        with np.load(path, allow_pickle=False) as content:
            facts = json.loads(str(content["facts"]))
            records = {name: content[f"phase{k}"] for k, name in enumerate(facts.pop("phases"))}
        failure = facts.pop("failure")
        run = RunResult(**facts, records=records, failure=None if failure is None else RunFailure(**failure))
    except Exception:
        return None
    return run if type(run.index) is int and type(run.seed) is int and path.stem == f"{run.index:05d}" else None
