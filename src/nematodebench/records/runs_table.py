"""The runs of a long session as a table in a file of its own, because a text of a million runs is no text any more.

Short sessions list their runs in the record, where people can read them. The table holds the same, value by value: one
row for each run, a column for each metric and descriptor. The record has the hash of the table's file.
"""

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.parquet_size import decoded_size
from nematodebench.records.schemas import ExperimentMetadata, RunRecord, RunShape, RunsTable

__all__ = ["MOST_RUNS", "RUNS_FILE", "RUNS_IN_RECORD", "apart", "whole"]

RUNS_FILE = "runs.parquet"
RUNS_IN_RECORD = 10_000
"""So many runs are listed in the record itself: up to here it has some megabytes and is read in a second."""
MOST_RUNS = 1_000_000
_MOST_COLUMNS = 1_000
_VALUE, _TEXTS = 16, 20_000
"""Bytes that a value takes in memory at most, and the texts of a run: two hashes, or why it failed."""
_PLAIN = ("run", "seed", "status", "record_hash", "memory_hash", "steps")
_LIST = TypeAdapter(list[RunRecord])


def apart(metadata: ExperimentMetadata) -> tuple[ExperimentMetadata, bytes | None]:
    """The record as it is written, and the table of its runs; None where the record lists them itself."""
    if len(metadata.runs) <= RUNS_IN_RECORD:
        return metadata, None
    content, shapes = _written(metadata.runs)
    about = RunsTable(sha256=hashlib.sha256(content).hexdigest(), shapes=shapes)
    return metadata.model_copy(update={"runs": [], "runs_table": about}), content


def whole(metadata: ExperimentMetadata, read: Callable[[], bytes]) -> ExperimentMetadata:
    """The record with all its runs; ``read`` gives the content of the table's file.

    Raises:
        UsageError: The table is not the one that belongs to the record.
    """
    about, name = metadata.runs_table, metadata.experiment_id
    if about is None:
        return metadata
    if metadata.runs:
        raise UsageError(f"{name} lists runs and names a table of runs: it has to be one of the two.")
    content = read()
    if hashlib.sha256(content).hexdigest() != about.sha256:
        raise UsageError(f"{name}/{RUNS_FILE} is not the file that belongs to the record.")
    try:
        runs = _read(content, about.shapes, metadata.num_runs)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{name}/{RUNS_FILE} is not a table of runs: {place}: {first['msg']}.") from error
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise UsageError(f"{name}/{RUNS_FILE} is not a table of runs: {error}.") from error
    return metadata.model_copy(update={"runs": runs, "runs_table": None})


def _written(runs: Sequence[RunRecord]) -> tuple[bytes, list[RunShape]]:
    import polars as pl

    shapes = list(dict.fromkeys((tuple(run.metrics), tuple(run.descriptors)) for run in runs))
    number = {shape: k for k, shape in enumerate(shapes)}
    columns: dict[str, Any] = {name: [getattr(run, name) for run in runs] for name in _PLAIN}
    columns["shape"] = [number[tuple(run.metrics), tuple(run.descriptors)] for run in runs]
    columns["failure"] = [None if run.failure is None else json.dumps(asdict(run.failure)) for run in runs]
    kinds: dict[str, Any] = {"run": pl.Int64, "seed": pl.UInt64, "status": pl.String, "record_hash": pl.String,
             "memory_hash": pl.String, "steps": pl.Int64, "shape": pl.Int64, "failure": pl.String}  # fmt: skip
    for kind, k in (("metrics", 0), ("descriptors", 1)):
        for name in dict.fromkeys(name for shape in shapes for name in shape[k]):
            columns[f"{kind}.{name}"] = [getattr(run, kind).get(name) for run in runs]
            kinds[f"{kind}.{name}"] = pl.Float64
    buffer = io.BytesIO()
    pl.DataFrame(columns, schema=kinds).write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue(), [RunShape(metrics=list(one), descriptors=list(two)) for one, two in shapes]


def _read(content: bytes, shapes: Sequence[RunShape], count: int) -> list[RunRecord]:
    import polars as pl

    rows, size = decoded_size(content)
    if rows != count or rows > MOST_RUNS:
        raise ValueError(f"it has {rows:,} rows for {count:,} runs, of which there may be {MOST_RUNS:,}")
    try:
        names = pl.read_parquet_schema(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError("it is not a readable Parquet file") from error
    if len(names) > _MOST_COLUMNS or size > rows * (len(names) * _VALUE + _TEXTS) + (1 << 20):
        raise ValueError("it would take more memory than its runs need")
    try:
        table = pl.read_parquet(io.BytesIO(content)).to_dict(as_series=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError("it is not a readable Parquet file") from error
    wanted = {*_PLAIN, "shape", "failure"}
    wanted |= {f"metrics.{name}" for shape in shapes for name in shape.metrics}
    wanted |= {f"descriptors.{name}" for shape in shapes for name in shape.descriptors}
    if set(table) != wanted:
        raise ValueError(f"its columns are not those of the runs: {', '.join(sorted(wanted ^ set(table))[:3])}")
    if any(not 0 <= k < len(shapes) for k in table["shape"]):
        raise ValueError("a run has a shape that the record does not name")
    return _LIST.validate_python([_run(table, k, shapes[table["shape"][k]]) for k in range(rows)], strict=False)


def _run(table: dict[str, list[Any]], k: int, shape: RunShape) -> dict[str, Any]:
    failure = table["failure"][k]
    return {
        **{name: table[name][k] for name in _PLAIN},
        "metrics": {name: table[f"metrics.{name}"][k] for name in shape.metrics},
        "descriptors": {name: table[f"descriptors.{name}"][k] for name in shape.descriptors},
        "failure": None if failure is None else json.loads(failure),
    }
