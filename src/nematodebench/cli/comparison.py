"""The work behind ``nematodebench compare``."""

import math
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import find_record, load_experiment
from nematodebench.sessions.rerun import same_task
from nematodebench.stats import Comparison, compare, holm

__all__ = ["compare_sessions"]


def _sessions(place: Path) -> dict[str, ExperimentMetadata]:
    """The sessions at a place, by task."""
    if place.is_file() or find_record(place):
        folders = [place]
    else:
        folders = sorted(folder for folder in place.glob("*") if find_record(folder))
    if not folders:
        raise UsageError(f"There is no stored session at {place}.")
    found: dict[str, ExperimentMetadata] = {}
    for folder in folders:
        record = load_experiment(folder)
        if record.task in found:
            raise UsageError(f"{place} holds several sessions of {record.task}. Name the one to compare.")
        found[record.task] = record
    return found


def _compare(a: ExperimentMetadata, b: ExperimentMetadata) -> Comparison:
    if not same_task(a, b):
        raise UsageError(f"The sessions ran {a.task} in different specifications: their scores mean different things.")
    sides = []
    for record in (a, b):
        runs = [run for run in record.runs if run.metrics.get(record.score_key) is not None]
        if not runs:
            raise UsageError(f"{record.experiment_id} has no scored runs to compare.")
        sides.append(([run.metrics[record.score_key] for run in runs], [run.seed for run in runs]))
    (x, seeds_x), (y, seeds_y) = sides
    return compare([float(v or 0.0) for v in x], [float(v or 0.0) for v in y], seeds_x, seeds_y)


def compare_sessions(first: Path, second: Path) -> list[dict[str, object]]:
    """Compares two places task by task; gives one row for each task that both have."""
    ours, theirs = _sessions(first), _sessions(second)
    tasks = [task for task in ours if task in theirs]
    if not tasks:
        raise UsageError(f"{first} and {second} have no task in common.")
    results = [_compare(ours[task], theirs[task]) for task in tasks]
    known = [result.p_value for result in results if not math.isnan(result.p_value)]
    adjusted = iter(holm(known)) if known else iter(())
    rows: list[dict[str, object]] = []
    for task, result in zip(tasks, results, strict=True):
        p_value = math.nan if math.isnan(result.p_value) else float(next(adjusted))
        rows.append({
            "task": task, "A": ours[task].brain, "B": theirs[task].brain,
            "runs": f"{result.n_x}, {result.n_y}" + (f" ({result.pairs} paired)" if result.pairs else " (unpaired)"),
            "difference": f"{result.difference:+.4f}", "interval": f"[{result.ci95[0]:+.4f}, {result.ci95[1]:+.4f}]",
            "P(A > B)": f"{result.probability_of_improvement:.3f}", "p (Holm)": f"{p_value:.2g}",
            "verdict": _verdict(result, p_value),
        })  # fmt: skip
    return rows


def _verdict(result: Comparison, p_value: float) -> str:
    if math.isnan(p_value):
        return "one run tells nothing"
    if p_value >= 0.05:
        return "no difference shown"
    return "A is better" if result.difference > 0 else "B is better"
