"""Makes a table of episode records, one row for each episode, and the same matrices of the table again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nematodebench.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Matrices", "PhaseColumns", "episodes_frame", "frame_columns", "frame_records", "read_frame", "write_frame"]

Matrices = Mapping[str, NDArray[np.float64]]
_PLACE = {"run", "phase", "episode"}
_FLAGS = {"success", "terminated", "truncated"}


@dataclass(frozen=True)
class PhaseColumns:
    """What the records of one phase mean."""

    name: str
    columns: tuple[str, ...]
    terminations: tuple[str, ...]


def _series(name: str, values: NDArray[np.float64], phase: PhaseColumns) -> "pl.Series":
    import polars as pl

    if name in _FLAGS:
        return pl.Series(name, values != 0.0)
    if name == "termination":
        return pl.Series(name, np.array(["", *phase.terminations])[values.astype(np.int64)])
    if name == "steps":
        return pl.Series(name, values.astype(np.int32))
    return pl.Series(name, values)


def _numbered(count: int) -> NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)


def episodes_frame(phases: Sequence[PhaseColumns], runs: Mapping[int, Matrices]) -> "pl.DataFrame":
    """Makes one row for each episode: run, phase, episode, then what the phases record (null where they do not)."""
    import polars as pl

    parts = []
    for phase in phases:
        tables = [runs[run][phase.name] for run in sorted(runs)]
        rows = np.concatenate([np.empty((0, len(phase.columns))), *tables])
        counts = [len(table) for table in tables]
        head = [
            pl.Series("run", np.repeat(np.array(sorted(runs), dtype=np.int32), counts)),
            pl.Series("phase", [phase.name] * len(rows), dtype=pl.String),
            pl.Series("episode", np.concatenate([np.empty(0, np.int32), *map(_numbered, counts)])),
        ]
        body = [_series(name, rows[:, k], phase) for k, name in enumerate(phase.columns)]
        parts.append(pl.DataFrame([*head, *body]))
    if not runs or not parts:
        return pl.DataFrame(schema={"run": pl.Int32, "phase": pl.String, "episode": pl.Int32})
    return pl.concat(parts, how="diagonal")


def read_frame(path: Path) -> "pl.DataFrame":
    """Reads a table; one line where the file is damaged, whatever its reader makes of that."""
    import polars as pl

    try:
        return pl.read_parquet(path)
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UsageError(f"{path} is missing, damaged or no Parquet file.") from error


def write_frame(frame: "pl.DataFrame", target: Path | IO[bytes]) -> None:
    """Writes a small file that has the same bytes for the same rows."""
    frame.write_parquet(target, compression="zstd", compression_level=19, statistics=False, row_group_size=1 << 20)


def frame_columns(phases: Sequence[PhaseColumns], frame: "pl.DataFrame") -> dict[str, list[str]]:
    """What a table records of each phase: the columns that have values there, in the order of today."""
    import polars as pl

    found = {}
    for phase in phases:
        part = frame.filter(pl.col("phase") == phase.name)
        own = [column.name for column in part if column.null_count() < len(part) and column.name not in _PLACE]
        known = [name for name in phase.columns if name in own]
        found[phase.name] = known + [name for name in own if name not in known]
    return found


def frame_records(phases: Sequence[PhaseColumns], frame: "pl.DataFrame") -> dict[int, dict[str, NDArray[np.float64]]]:
    """Makes the matrices that the run loop wrote. ValueError where the table cannot come from such runs."""
    import polars as pl

    runs: dict[int, dict[str, NDArray[np.float64]]] = {}
    for phase in phases:
        part = frame.filter(pl.col("phase") == phase.name)
        columns = [_numbers(part, name, phase) for name in phase.columns]
        table = np.stack(columns, axis=1) if columns else np.empty((len(part), 0))
        run_of, episode_of = part["run"].to_numpy(), part["episode"].to_numpy()
        order = np.argsort(run_of, kind="stable")
        numbers, first = np.unique(run_of[order], return_index=True)
        for run, mine in zip(numbers, np.split(order, first[1:]) if len(part) else [], strict=True):
            if not np.array_equal(episode_of[mine], np.arange(mine.size)):
                raise ValueError(f"the episodes of run {run} in phase {phase.name!r} are not numbered 0, 1, 2, ...")
            runs.setdefault(int(run), {})[phase.name] = np.ascontiguousarray(table[mine])
    return runs


def _numbers(part: "pl.DataFrame", name: str, phase: PhaseColumns) -> NDArray[np.float64]:
    import polars as pl

    if name not in part.columns:
        raise ValueError(f"column {name!r} of phase {phase.name!r} is missing")
    column = part[name]
    if column.null_count():
        raise ValueError(f"column {name!r} of phase {phase.name!r} has {column.null_count()} missing values")
    if name == "termination":
        codes = {text: float(code) for code, text in enumerate(["", *phase.terminations])}
        unknown = set(column.unique()) - set(codes)
        if unknown:
            raise ValueError(f"column 'termination' has unknown values: {sorted(map(str, unknown))}")
        return column.replace_strict(codes, return_dtype=pl.Float64).to_numpy()
    return column.cast(pl.Float64).to_numpy()
