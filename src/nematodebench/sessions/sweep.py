"""Sweeps run several brains with several settings on several tasks under paired seeds, into one tidy table.

A cell is one brain with one setting on one task. All cells have the session seed of the sweep, so run k of every cell
meets the same worlds. A finished cell is one file named by everything its rows depend on, so that a sweep that is
started again runs only the cells that changed or are missing.
"""

import hashlib
import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nematodebench.errors import StorageError, UsageError
from nematodebench.files import atomic_write, clean_leftovers
from nematodebench.records.episodes import read_frame, write_frame
from nematodebench.sessions.begun import decided_by
from nematodebench.sessions.config import parse_assignments, session_config
from nematodebench.sessions.plan import Plan, dump_config, make_plan
from nematodebench.sessions.session import Session
from nematodebench.sessions.twins import has_twin, twin_plan
from nematodebench.tasks.anchoring import load_anchors, normalise

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Cell", "SweepStore", "make_cells", "parse_grid"]

Grid = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Cell:
    """One brain with one setting on one task."""

    plan: Plan
    parameters: Mapping[str, Any]
    """What the grid set."""

    def twin(self) -> "Cell | None":
        """The same cell with learning off; None for a brain that never learns."""
        return replace(self, plan=twin_plan(self.plan)) if has_twin(self.plan) else None

    @cached_property
    def key(self) -> str:
        """A name that changes with everything the cell's rows depend on."""
        plan, anchors = self.plan, load_anchors(self.plan.task)
        scale = None if anchors is None else (anchors.floor.value, anchors.ceiling.value)
        facts = [
            plan.task.spec_hash, plan.brain_name, dump_config(plan.config), plan.seed, plan.runs, dict(self.parameters),
            scale, decided_by(plan),
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """``learning_rate=1e-3,1e-4`` or ``mlp_ppo.hidden=[32],[64,64]`` as lists of values."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        key, separator, values = text.partition("=")
        if not separator or not key or not values:
            raise UsageError(f"{text!r} is not of the form key=value,value.")
        if key in grid:
            raise UsageError(f"The grid has {key!r} twice.")
        grid.update(parse_assignments([f"{key}=[{values}]"]))
    return grid


def _grid_of(brain: str, brains: Sequence[str], grid: Grid) -> dict[str, Sequence[Any]]:
    """The part of the grid that is about one brain: plain keys, and those with the brain's name before a dot."""
    own: dict[str, Sequence[Any]] = {}
    for key, values in grid.items():
        owner, dot, name = key.rpartition(".")
        if dot and owner not in brains:
            raise UsageError(f"The grid names {key!r}, but {owner!r} is none of the brains {', '.join(brains)}.")
        if not dot or owner == brain:
            own[name] = values
    return own


def make_cells(
    tasks: Sequence[str],
    brains: Sequence[str],
    grid: Grid,
    runs: int,
    seed: int,
    workers: int | None,
    executor: str | None = None,
) -> list[Cell]:
    """Makes a cell for every combination and checks each before the first run."""
    if not tasks or not brains:
        raise UsageError("A sweep needs at least one task and one brain.")
    cells = []
    for task, brain in itertools.product(tasks, brains):
        own = _grid_of(brain, brains, grid)
        for values in itertools.product(*own.values()):
            parameters = dict(zip(own, values, strict=True))
            given = session_config({"task": task, "brain": brain, "config": parameters, "runs": runs, "seed": seed})
            cells.append(Cell(make_plan(given, workers=workers, executor=executor), parameters))
    return cells


def _rows(cell: Cell, session: Session) -> list[dict[str, Any]]:
    """Makes one row for each run. A failed run has no numbers."""
    task = cell.plan.task
    anchors = load_anchors(task)
    head = {
        "task": task.id, "brain": cell.plan.brain_name, "session_seed": cell.plan.seed,
        "config": json.dumps(dump_config(cell.plan.config), sort_keys=True),
    }  # fmt: skip
    head |= {f"parameter.{k}": json.dumps(v) if isinstance(v, list | dict) else v for k, v in cell.parameters.items()}
    rows = []
    for run in session.runs:
        score = run.metrics.get(task.score_key)
        norm = None if score is None else normalise([score], anchors)
        row = {**head, "run": run.index, "seed": f"{run.seed:016x}"}
        row["status"] = "failed" if run.failure else "finished"
        row |= {"score": score, "normalised": None if norm is None else norm.unclamped, "steps": run.steps}
        row |= {f"metric.{name}": value for name, value in run.metrics.items()}
        row |= {f"liveness.{name}": value for name, value in run.descriptors.items()}
        rows.append(row)
    return rows


class SweepStore:
    """A sweep's folder: ``cells/<key>.parquet`` as they end, ``sweep.json`` (its seed), ``sweep.parquet`` (all).

    Beside each cell lies the hash of its file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def table(self) -> Path:
        """Where the rows of all cells are."""
        return self.folder / "sweep.parquet"

    def seed(self) -> int | None:
        """The seed the sweep was begun with."""
        path = self.folder / "sweep.json"
        if not path.is_file():
            return None
        try:
            content = json.loads(path.read_bytes())
            seed, check = content["seed"], content.get("sha256", None)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path} is damaged: say with --seed which seed the sweep was begun with.") from error
        if not isinstance(seed, int) or check not in {None, _sha256(str(seed).encode())}:
            raise UsageError(f"{path} is damaged: say with --seed which seed the sweep was begun with.")
        return seed

    def begin(self, seed: int) -> None:
        """Makes the folder and keeps the seed."""
        for folder in (self.folder, self.folder / "cells"):
            clean_leftovers(folder)
        content = {"seed": seed, "sha256": _sha256(str(seed).encode())}
        self._write(self.folder / "sweep.json", json.dumps(content).encode())

    def _path(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.key}.parquet"

    def is_finished(self, cell: Cell) -> bool:
        """Whether the cell needs no more work; one with failed runs, or whose file is damaged, is run again."""
        return self._is_whole(self._path(cell)) and not bool((self.read(cell)["status"] == "failed").any())

    def _is_whole(self, path: Path) -> bool:
        """Whether a cell's file holds what was written: a Parquet file with a wrong number in it can still be read."""
        check = path.with_suffix(".sha256")
        return path.is_file() and check.is_file() and check.read_bytes() == _sha256(path.read_bytes()).encode()

    def read(self, cell: Cell) -> "pl.DataFrame":
        """The cell's rows."""
        return read_frame(self._path(cell))

    def write(self, cell: Cell, session: Session) -> None:
        """Keeps a cell that has ended."""
        import polars as pl

        path, content = self._path(cell), _parquet(pl.DataFrame(_rows(cell, session), infer_schema_length=None))
        self._write_whole(path, content)

    def _write_whole(self, path: Path, content: bytes) -> None:
        self._write(path, content)
        self._write(path.with_suffix(".sha256"), _sha256(content).encode())

    def combined(self) -> "pl.DataFrame":
        """The tidy table as :meth:`combine` wrote it; tables of older versions have no hash beside them."""
        if self.table.with_suffix(".sha256").is_file() and not self._is_whole(self.table):
            raise UsageError(f"{self.table} was edited or damaged: the same `nematodebench sweep` writes it again.")
        return read_frame(self.table)

    def combine(self, cells: Sequence[Cell]) -> "pl.DataFrame":
        """Writes the tidy table of these cells and returns it."""
        import polars as pl

        frame = pl.concat([self.read(cell) for cell in cells], how="diagonal_relaxed")
        self._write_whole(self.table, _parquet(frame))
        return frame

    def _write(self, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, content)
        except OSError as error:
            raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _parquet(frame: "pl.DataFrame") -> bytes:
    buffer = io.BytesIO()
    write_frame(frame, buffer)
    return buffer.getvalue()
