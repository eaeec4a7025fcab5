"""The work behind ``nematodebench compare``."""

import math
from pathlib import Path

from nematodebench.cli.show import print_table, printable
from nematodebench.cli.tables import csv_output
from nematodebench.errors import UsageError
from nematodebench.records.labels import shown_brain
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.records.store import find_record
from nematodebench.sessions.checked import load_checked
from nematodebench.sessions.rerun import same_task
from nematodebench.sessions.scores import compare_scores, scores_of_record
from nematodebench.stats import MARK, SMALLEST_EFFECT, Comparison, Verdict, holm, verdict

__all__ = ["compare_sessions", "comparison_row", "print_comparisons", "smallest_effect"]


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
        record = load_checked(folder)
        if record.task in found:
            raise UsageError(f"{place} holds several sessions of {record.task}. Name the one to compare.")
        found[record.task] = record
    return found


def _compare(a: ExperimentMetadata, b: ExperimentMetadata) -> Comparison:
    if not same_task(a, b):
        raise UsageError(f"The sessions ran {a.task} in different specifications: their scores mean different things.")
    sides = [scores_of_record(record) for record in (a, b)]
    for record, side in zip((a, b), sides, strict=True):
        if not side.seeds:
            raise UsageError(f"{record.experiment_id} has no scored runs to compare.")
    return compare_scores(*sides)


def compare_sessions(first: Path, second: Path, smallest: float = SMALLEST_EFFECT) -> list[dict[str, object]]:
    """Compares two places task by task; gives one row for each task that both have.

    Args:
        first: A stored session, or a folder of sessions.
        second: What to compare it with.
        smallest: The smallest difference of a normalised score that matters.
    """
    ours, theirs = _sessions(first), _sessions(second)
    tasks = [task for task in ours if task in theirs]
    if not tasks:
        raise UsageError(
            f"{first} and {second} have no task in common: the one is of {', '.join(ours)}, the other of "
            f"{', '.join(theirs)}. Compare sessions of one task."
        )
    results = [_compare(ours[task], theirs[task]) for task in tasks]
    known = [result.p_value for result in results if _has_p_value(result)]
    adjusted = iter(holm(known)) if known else iter(())
    rows: list[dict[str, object]] = []
    for task, result in zip(tasks, results, strict=True):
        p_value = float(next(adjusted)) if _has_p_value(result) else None
        found = verdict(result, smallest_effect(ours[task], smallest), p_value)
        rows.append(
            {"task": task, "A": _shown(ours[task]), "B": _shown(theirs[task]), **comparison_row(result, found, p_value)}
        )
    return rows


def print_comparisons(rows: list[dict[str, object]]) -> None:
    """Prints the rows of a comparison. Two brains that are the same in all of them are named once, above the table."""
    brains = {(row["A"], row["B"]) for row in rows}
    print("A - B, mean and 95 % interval over runs; P(A > B) is the chance that a run of A beats a run of B\n")
    if len(brains) == 1 and csv_output() is None:
        ((first, second),) = brains
        print(f"A: {printable(str(first))}\nB: {printable(str(second))}\n")
        rows = [{key: value for key, value in row.items() if key not in {"A", "B"}} for row in rows]
    print_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])


def _shown(record: ExperimentMetadata) -> str:
    return shown_brain(record.brain, record.brain_config)


def smallest_effect(record: ExperimentMetadata, smallest: float) -> float:
    """A difference of the normalised score in units of the score; the same number for a task without anchors."""
    norm = record.normalised
    return smallest if norm is None else smallest * (norm.ceiling.value - norm.floor.value)


def comparison_row(result: Comparison, found: Verdict, p_value: float | None) -> dict[str, object]:
    """A comparison in words and numbers.

    Args:
        result: A against B.
        found: What is said of it.
        p_value: Adjusted over all comparisons; None where a t test cannot be made.
    """
    low, high = result.improvement_ci95
    chance = f"{result.probability_of_improvement:.3f}"
    return {
        "verdict": _verdict(found),
        "difference": f"{result.difference:+.4f}",
        "interval": _interval(result),
        "P(A > B)": chance if math.isnan(low) else f"{chance} [{low:.3f}, {high:.3f}]{_mark(result.improvement_doubt)}",
        "p (Holm)": "-" if p_value is None else f"{p_value:.2g}",
        "runs": f"{result.n_x}, {result.n_y}" + (f" ({result.pairs} paired)" if result.pairs else " (unpaired)"),
    }


def _has_p_value(result: Comparison) -> bool:
    """Constants, a single run and two runs have none that is worth printing."""
    return result.can_tell and result.se > 0.0


def _interval(result: Comparison) -> str:
    low, high = result.ci95
    if math.isnan(low):
        return "unknown"
    return "constant" if result.se == 0.0 else f"[{low:+.4f}, {high:+.4f}]{_mark(result.doubt)}"


def _mark(doubt: str) -> str:
    return f" {MARK}" if doubt else ""


def _verdict(found: Verdict) -> str:
    what = f"A is {found.outcome}" if found.outcome in {"better", "worse"} else found.outcome
    return f"{what}: {found.reason}" if found.reason else what
