"""The episodes of a stored session: read from its table and checked for form, and packed for publication."""

import contextlib
import io
import lzma
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nematodebench.errors import UsageError
from nematodebench.records.episodes import PhaseColumns, episodes_frame, frame_columns, frame_records
from nematodebench.records.packed import MAX_ROWS, PACKED, pack_episodes, packed_phases, unpack_episodes
from nematodebench.records.parquet_size import decoded_size
from nematodebench.records.runs_table import RUNS_FILE
from nematodebench.sessions.session import phase_columns
from nematodebench.submissions.sessions import EPISODES, StoredSession
from nematodebench.submissions.untrusted import MAX_CONFIG
from nematodebench.tasks.base import Task

__all__ = ["Records", "packed_files", "read_episodes", "recorded_task"]

Records = dict[int, dict[str, NDArray[np.float64]]]
_PLACE = {"run": pl.Int32, "phase": pl.String, "episode": pl.Int32}
_MAX_COLUMNS = 200
_MOST_BYTES = 64
"""For each value of a table, when it is decoded: numbers take 8, and texts are short words."""
_KINDS = {pl.Int32, pl.Int64, pl.Float64, pl.Float32, pl.Boolean, pl.String}


def recorded_task(session: StoredSession, task: Task) -> Task:
    """The task with the columns that the session recorded: its world may have learned to record more since then."""
    declared = session.metadata.columns
    if session.packed is None:
        columns = declared or frame_columns(phase_columns(task), _read_frame(session, task))
    else:
        with _readable(session, PACKED):
            phases = packed_phases(session.packed)
        _check_terminations(session, task, phases)
        columns = {phase.name: list(phase.columns) for phase in phases}
    if declared and columns != declared:
        raise UsageError(
            f"{session.metadata.experiment_id}: the table does not have the columns that the record names."
        )
    return task.as_recorded(columns)


def _check_terminations(session: StoredSession, task: Task, phases: Sequence[PhaseColumns]) -> None:
    """Ways to end are stored as numbers: a world may get new ones behind those it had."""
    known = {phase.name: phase.world.terminations for phase in task.phases}
    for phase in phases:
        if known.get(phase.name, ())[: len(phase.terminations)] != phase.terminations:
            name = session.metadata.experiment_id
            raise UsageError(f"{name}: episodes of phase {phase.name!r} ended in ways that {task.id} does not have.")


def read_episodes(session: StoredSession, task: Task) -> Records:
    """Every run's records from the table, checked for form: columns, types, counts, finite numbers.

    Args:
        session: The session.
        task: Its task, as it was recorded.
    """
    name, runs = session.metadata.experiment_id, session.metadata.num_runs
    records = _read_parquet(session, task) if session.packed is None else _read_packed(session, session.packed, task)
    if sorted(records) != list(range(runs)):
        raise UsageError(f"The table of {name} has {len(records)} runs, not runs 0 to {runs - 1}.")
    for run, tables in records.items():
        _check_run(f"{name} run {run}", task, tables)
    return records


def packed_files(session: StoredSession, task: Task) -> dict[str, bytes]:
    """The files of a session as they are published: nothing is lost, and they need less than half of the space."""
    data, recorded = session.metadata, recorded_task(session, task)
    table = session.packed or pack_episodes(phase_columns(recorded), read_episodes(session, recorded))
    return {
        f"{session.record_name}.xz": lzma.compress(session.files[session.record_name], preset=9),
        data.config_file: session.files[data.config_file],
        PACKED: table,
        **{name: content for name, content in session.files.items() if name == RUNS_FILE},
    }


@contextlib.contextmanager
def _readable(session: StoredSession, file: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{session.metadata.experiment_id}/{file}: {error}.") from error


def _most_rows(session: StoredSession, task: Task) -> int:
    return min(MAX_ROWS, session.metadata.num_runs * sum(phase.episodes or phase.ticks for phase in task.phases))


def _read_packed(session: StoredSession, content: bytes, task: Task) -> Records:
    with _readable(session, PACKED):
        records = unpack_episodes(content, _most_rows(session, task))
    if any(set(tables) != {phase.name for phase in task.phases} for tables in records.values()):
        raise UsageError(f"{session.metadata.experiment_id}/{PACKED} has other phases than {task.id}.")
    return records


def _read_parquet(session: StoredSession, task: Task) -> Records:
    name, frame = f"{session.metadata.experiment_id}/{EPISODES}", _read_frame(session, task)
    empty = {phase.name: np.zeros((1, len(phase.columns))) for phase in task.phases}
    expected = episodes_frame(phase_columns(task), {0: empty}).schema
    if frame.schema != expected:
        raise UsageError(f"{name} does not have the columns of {task.id}: {_difference(frame.schema, expected)}.")
    with _readable(session, EPISODES):
        records = frame_records(phase_columns(task), frame)
    if sum(len(rows) for tables in records.values() for rows in tables.values()) != len(frame):
        raise UsageError(f"{name} has rows that belong to no phase of {task.id}.")
    return records


def _read_frame(session: StoredSession, task: Task) -> pl.DataFrame:
    name, most = f"{session.metadata.experiment_id}/{EPISODES}", _most_rows(session, task)
    content = session.files[EPISODES]
    try:
        rows, size = decoded_size(content)
        if rows > most:
            raise UsageError(f"{name} has {rows:,} rows: {task.id} has at most {most:,}.")
        columns = pl.read_parquet_schema(io.BytesIO(content))
        wrong = [column for column, kind in _PLACE.items() if columns.get(column) != kind]
        if wrong or len(columns) > _MAX_COLUMNS:
            what = f"{', '.join(wrong)} missing or of another type" if wrong else f"{len(columns)} columns"
            raise UsageError(f"{name} is not a table of episodes: {what}.")
        if size > most * len(columns) * _MOST_BYTES + MAX_CONFIG:
            raise UsageError(f"{name} has {len(content):,} bytes and would take {size:,} in memory: it is not read.")
        strange = [column for column, kind in columns.items() if kind not in _KINDS]
        if strange:
            raise UsageError(f"{name}: columns {', '.join(map(repr, strange[:5]))} are of a type that is not read.")
        return pl.read_parquet(io.BytesIO(content))
    except UsageError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise UsageError(f"{name} is not a readable Parquet file.") from error


def _difference(found: pl.Schema, expected: pl.Schema) -> str:
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
