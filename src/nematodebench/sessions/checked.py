"""Stored sessions that are believed only as far as their episodes bear them out."""

import math
from collections.abc import Mapping
from pathlib import Path

from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.run import record_hash
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.notices import tell
from nematodebench.records.packed import PACKED
from nematodebench.records.provenance import source_hash
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import load_experiment, stored_columns
from nematodebench.sessions.loading import stored_records
from nematodebench.sessions.rerun import folder_of, task_of
from nematodebench.sessions.session import phase_columns

__all__ = ["load_checked"]

_CLOSE = 1e-9
"""Relative difference that versions of the formulas may have."""


def load_checked(path: Path) -> ExperimentMetadata:
    """A stored session whose numbers follow from its episodes; an error that names what does not."""
    record, folder = load_experiment(path), folder_of(path)
    if not any((folder / name).is_file() for name in (PACKED, record.episodes_file)):
        tell(f"{record.experiment_id} has no episodes beside it: its numbers are shown as they are stored.")
        return record
    wrong = _wrong(record, path, folder)
    if wrong:
        raise UsageError(f"{record.experiment_id} was edited or damaged: its episodes do not give {wrong}.")
    return record


def _wrong(record: ExperimentMetadata, path: Path, folder: Path) -> str:
    """What does not follow from the episodes; empty where all does."""
    if [run.run for run in record.runs] != list(range(record.num_runs)):
        return f"{record.num_runs} runs"
    if strange := [run.run for run in record.runs if run.seed != run_seed(record.session_seed, run.run)]:
        return f"the seed of run {strange[0]}"
    task, same_code = task_of(record), record.provenance.source_hash == source_hash()
    task = task.as_recorded(record.columns or stored_columns(path, phase_columns(task)))
    episodes, finished = stored_records(folder, phase_columns(task)), [r for r in record.runs if r.status == "finished"]
    for run in finished:
        rows = episodes.get(run.run)
        if rows is None or record_hash(task, dict(rows)) != run.record_hash:
            return f"the hash of run {run.run}"
    with standard_floats():
        measured = task.measure([episodes[run.run] for run in finished]) if finished else None
    for run, row in zip(finished, [] if measured is None else measured.runs, strict=True):
        if name := _different(run.metrics, row, same_code):
            return f"{name} of run {run.run}"
    means = {name: value.mean for name, value in record.metrics.items()}
    computed = {} if measured is None else {name: one.mean for name, one in measured.session.items()}
    if name := _different(means, computed, same_code):
        return f"the mean of {name}"
    score = record.metrics.get(record.score_key)
    level = None if score is None else task.scoring.level(score.mean)
    return f"the level {record.level!r}" if same_code and level != record.level else ""


def _different(stored: Mapping[str, float | None], computed: Mapping[str, float | None], same_code: bool) -> str:
    """The first number that is another one; those that only one side knows are of another version of the code."""
    if same_code and set(stored) != set(computed):
        return min(set(stored) ^ set(computed))
    for name in stored:
        if name in computed and not _same(stored[name], computed[name]):
            return name
    return ""


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
