"""The work behind ``nematodebench report`` in a terminal."""

from collections.abc import Sequence
from pathlib import Path

from nematodebench.cli import sessions
from nematodebench.cli.show import print_json, print_table, printable
from nematodebench.errors import UsageError
from nematodebench.sessions.checked import load_checked
from nematodebench.sessions.rerun import task_of
from nematodebench.sessions.scores import with_todays_intervals
from nematodebench.sessions.twins import pair_twins
from nematodebench.tasks.base import trained_id

__all__ = ["print_report"]


def print_report(experiments: Sequence[Path], *, runs: bool, json: bool) -> bool:
    """Prints the table of stored sessions; returns whether every run of them finished."""
    records = [load_checked(path) for path in experiments]
    tasks = sorted({trained_id(record.task) or record.task for record in records})
    if len(tasks) > 1:
        raise UsageError(f"The sessions belong to different tasks: {', '.join(tasks)}. Report one task at a time.")
    if json:
        print_json([record.model_dump(mode="json") for record in records])
    else:
        pairs = pair_twins([with_todays_intervals(record) for record in records])
        # Sessions of different lengths are no rivals: each length has a table of its own.
        for length in dict.fromkeys(task_of(record) for record, _ in pairs):
            sessions.print_tables(length, [pair for pair in pairs if task_of(pair[0]) == length])
        for record in records if runs else []:
            print(f"\n{printable(record.experiment_id)}, session seed {record.session_seed}\n")
            rows = [
                [str(run.run), str(run.seed), run.status, _score(run.metrics, record.score_key)] for run in record.runs
            ]
            print_table(["run", "seed", "status", record.score_key], rows)
    return all(run.status == "finished" for record in records for run in record.runs)


def _score(metrics: dict[str, float | None], key: str) -> str:
    value = metrics.get(key)
    return "missing" if value is None else f"{value:.4f}"
