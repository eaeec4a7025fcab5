"""Reads a session from disk for checking: its record, its config, its episodes."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.episodes import episodes_frame, frame_records
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.submission_schema import SessionReference
from nematodebench.sessions.session import phase_columns
from nematodebench.submissions.untrusted import MAX_CONFIG, MAX_JSON, MAX_PARQUET, parse_record, problems, read_file
from nematodebench.tasks.base import Task

__all__ = ["ARTIFACTS", "EPISODES", "Records", "StoredSession", "artifact_path", "open_session", "read_episodes"]

Records = dict[int, dict[str, NDArray[np.float64]]]
_MAX_ROWS = 5_000_000
EPISODES = "episodes.parquet"
ARTIFACTS = "artifacts/experiments"


@dataclass(frozen=True)
class StoredSession:
    """The files of one session as they were read, and what its record says."""

    folder: Path
    metadata: ExperimentMetadata
    files: dict[str, bytes]

    def sha256(self, name: str) -> str:
        """Hash of one of the files."""
        return hashlib.sha256(self.files[name]).hexdigest()

    @property
    def record_name(self) -> str:
        """Name of the file with the record."""
        return f"{self.metadata.experiment_id}.json"

    def reference(self) -> SessionReference:
        """How a submission refers to the session."""
        data = self.metadata
        return SessionReference(
            experiment_id=data.experiment_id,
            file_path=artifact_path(data.experiment_id),
            session_seed=data.session_seed,
            num_runs=data.num_runs,
            run_seeds=[run.seed for run in data.runs],
            metadata_sha256=self.sha256(self.record_name),
            episodes_sha256=self.sha256(EPISODES),
            config_sha256=self.sha256(data.config_file),
        )


def artifact_path(experiment_id: str) -> str:
    """Where the record of a submitted session lies."""
    return f"{ARTIFACTS}/{experiment_id}/{experiment_id}.json"


def open_session(folder: Path) -> StoredSession:
    """Reads a session's folder: its record, its config, its episodes, and nothing beside them."""
    name = folder.name
    try:
        record = read_file(folder.parent, f"{name}/{name}.json", MAX_JSON)
        metadata = parse_record(ExperimentMetadata, record, f"{name}.json")
    except ValidationError as error:
        raise UsageError(f"{name}.json is not a session's record: {'; '.join(problems(error))}.") from error
    if metadata.experiment_id != name:
        raise UsageError(f"{name}.json is the record of {metadata.experiment_id!r}, not of {name}.")
    _check_names(metadata)
    stray = {file.name for file in folder.iterdir()} - {f"{name}.json", metadata.config_file, EPISODES}
    if stray:
        raise UsageError(f"{name} holds files that are not part of a session: {', '.join(sorted(map(repr, stray)))}.")
    config = read_file(folder.parent, f"{name}/{metadata.config_file}", MAX_CONFIG)
    episodes = read_file(folder.parent, f"{name}/{EPISODES}", MAX_PARQUET)
    return StoredSession(folder, metadata, {f"{name}.json": record, metadata.config_file: config, EPISODES: episodes})


def _check_names(metadata: ExperimentMetadata) -> None:
    config = metadata.config_file
    if "/" in config or "\\" in config or config.startswith(".") or not config.endswith((".yml", ".yaml")):
        raise UsageError(f"{metadata.experiment_id}: config_file {config!r} is not the name of a YAML file.")
    if metadata.episodes_file != EPISODES:
        raise UsageError(f"{metadata.experiment_id}: episodes_file must be {EPISODES!r}.")


def read_episodes(session: StoredSession, task: Task) -> Records:
    """Reads every run's records from the table and checks columns, types, counts and finite numbers."""
    name, phases = session.metadata.experiment_id, phase_columns(task)
    frame = _read_table(session, task)
    try:
        records = frame_records(phases, frame)
    except ValueError as error:
        raise UsageError(f"{name}/{EPISODES}: {error}.") from error
    if sorted(records) != list(range(session.metadata.num_runs)):
        raise UsageError(f"{name}/{EPISODES} has {len(records)} runs, not runs 0 to {session.metadata.num_runs - 1}.")
    for run, tables in records.items():
        _check_run(f"{name} run {run}", task, tables)
    if sum(len(rows) for tables in records.values() for rows in tables.values()) != len(frame):
        raise UsageError(f"{name}/{EPISODES} has rows that belong to no phase of {task.id}.")
    return records


def _read_table(session: StoredSession, task: Task) -> pl.DataFrame:
    name, limit = (
        session.metadata.experiment_id,
        session.metadata.num_runs * sum(p.episodes or p.ticks for p in task.phases),
    )
    empty = {phase.name: np.zeros((1, len(phase.columns))) for phase in task.phases}
    expected = episodes_frame(phase_columns(task), {0: empty}).schema
    try:
        found = pl.read_parquet_schema(io.BytesIO(session.files[EPISODES]))
        if found != dict(expected):
            raise UsageError(
                f"{name}/{EPISODES} does not have the columns of {task.id}: {_difference(found, expected)}."
            )
        rows = int(pl.scan_parquet(io.BytesIO(session.files[EPISODES])).select(pl.len()).collect().item())
        if rows > min(limit, _MAX_ROWS):
            raise UsageError(f"{name}/{EPISODES} has {rows:,} rows: {task.id} has at most {min(limit, _MAX_ROWS):,}.")
        return pl.read_parquet(io.BytesIO(session.files[EPISODES]))
    except UsageError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise UsageError(f"{name}/{EPISODES} is not a readable Parquet file.") from error


def _difference(found: dict[str, pl.DataType], expected: pl.Schema) -> str:
    lines = [f"{name!r} is missing" for name in expected if name not in found]
    lines += [f"{name!r} is too much" for name in found if name not in expected]
    lines += [f"{k!r} is {found[k]}, not {expected[k]}" for k in expected if k in found and found[k] != expected[k]]
    return ", ".join(lines) or "their order is another"


def _check_run(name: str, task: Task, tables: dict[str, NDArray[np.float64]]) -> None:
    for phase in task.phases:
        rows = tables.get(phase.name)
        if rows is None or (phase.episodes and len(rows) != phase.episodes):
            count = 0 if rows is None else len(rows)
            raise UsageError(f"{name} has {count} episodes in phase {phase.name!r}, not {phase.episodes}.")
        if not np.isfinite(rows).all():
            column = phase.columns[int(np.argwhere(~np.isfinite(rows))[0][1])]
            raise UsageError(f"{name}: column {column!r} of phase {phase.name!r} holds a value that is not a number.")
