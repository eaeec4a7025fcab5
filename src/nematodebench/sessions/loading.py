"""Stored sessions, read back into the object that ``nb.run`` returns."""

from pathlib import Path

from nematodebench.brains.registry import is_here
from nematodebench.engine.executors import choose_executor, default_workers
from nematodebench.engine.spec import Keeping, RunSpec
from nematodebench.errors import UsageError
from nematodebench.records.episodes import Matrices, PhaseColumns, frame_records, read_frame
from nematodebench.records.packed import PACKED, unpack_episodes
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.records.schemas import ExperimentMetadata, RunRecord
from nematodebench.records.store import ExperimentStore, load_experiment, stored_columns, stored_start
from nematodebench.sessions.plan import Plan
from nematodebench.sessions.rerun import folder_of, spec_of
from nematodebench.sessions.session import Session, phase_columns

__all__ = ["load_session", "stored_records"]


def load_session(path: Path | str, trust_code: bool = False) -> Session:
    """A stored session with its episodes, metrics and runs, and with the brains of its runs.

    Args:
        path: The session's folder, or its record.
        trust_code: Whether a brain from outside this package may be imported.
    """
    place = Path(path)
    metadata, folder = load_experiment(place), folder_of(place)
    if not trust_code and not is_here(metadata.brain):
        raise UsageError(
            f"Brain {metadata.brain!r} is code from outside this package: nb.load_session({str(path)!r}, "
            "trust_code=True) imports it."
        )
    start = stored_start(folder, metadata.continued_from)
    spec = spec_of(metadata, metadata.runs[0], trust_code=True, start=start)
    columns = phase_columns(spec.task)
    recorded = metadata.columns or stored_columns(place, columns)
    if phase_columns(spec.task.as_recorded(recorded)) != columns:
        raise UsageError(
            f"{metadata.experiment_id} was recorded with other columns: `nematodebench rerun` executes it."
        )
    records = stored_records(folder, columns)
    results = [_result(run, records.get(run.run, {})) for run in metadata.runs]
    timing = metadata.timing
    return Session(
        _plan(metadata, folder, spec), results, timing.created, timing.finished, timing.wall_seconds,
        metadata.experiment_id,
    )  # fmt: skip


def _plan(metadata: ExperimentMetadata, folder: Path, spec: RunSpec) -> Plan:
    kept, workers = ExperimentStore(folder.parent, folder.name).checkpoints, default_workers(spec.brain)
    return Plan(
        task=spec.task,
        brain_name=metadata.brain,
        brain=spec.brain,
        config=spec.config,
        seed=metadata.session_seed,
        runs=metadata.num_runs,
        workers=workers,
        executor=choose_executor(spec.brain, None, workers),
        config_name=metadata.config_file,
        config_text=(folder / metadata.config_file).read_text(encoding="utf-8"),
        start=spec.start,
        keeping=Keeping(kept, 1) if kept.is_dir() else None,
        brain_sha256=metadata.brain_source_hash,
    )


def stored_records(folder: Path, columns: list[PhaseColumns]) -> dict[int, Matrices]:
    """The episodes of every run of a stored session, by run; no brain is imported for it."""
    import polars as pl

    try:
        if (folder / PACKED).is_file():
            return dict(unpack_episodes((folder / PACKED).read_bytes()))
        return dict(frame_records(columns, read_frame(folder / "episodes.parquet")))
    except UsageError:
        raise
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        first = str(error).partition("\n")[0]
        raise UsageError(f"The episodes of {folder.name} cannot be read: {first}.") from error


def _result(run: RunRecord, records: Matrices) -> RunResult:
    missing = RunFailure("the run is missing") if run.status == "missing" else None
    return RunResult(
        run.run, run.seed, dict(records), run.record_hash, run.memory_hash, run.descriptors, run.steps,
        failure=run.failure or missing,
    )  # fmt: skip
