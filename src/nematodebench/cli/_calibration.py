"""The work behind ``nematodebench calibrate``."""

from dataclasses import asdict

from nematodebench.cli._show import print_json, print_table
from nematodebench.engine.calibration import CHECK_SEED, agrees, calibrate_task, measure_policy, with_reference
from nematodebench.errors import UsageError
from nematodebench.scoring import AnchorKind
from nematodebench.tasks.anchoring import load_anchors, write_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import all_tasks, get_task

__all__ = ["calibrate_all"]

_REFERENCE = "gradient_follower"
_REFERENCE_RUNS = 200


def calibrate_all(
    names: list[str], *, runs: int, write: bool, check: bool, reference: bool, workers: int | None, json: bool
) -> bool:
    """Calibrates or checks tasks; returns whether all checks passed."""
    if write and check:
        raise UsageError("--write and --check exclude each other.")
    tasks = [get_task(name) for name in names] or list(all_tasks().values())
    rows, passed = [], True
    for task in tasks:
        row, good = _checked(task, runs, workers) if check else _measured(task, runs, write, reference, workers)
        rows.append(row)
        passed &= good
    if json:
        print_json(rows)
    else:
        print_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    return passed


def _checked(task: Task, runs: int, workers: int | None) -> tuple[dict[str, object], bool]:
    anchors = load_anchors(task)
    if anchors is None:
        return {"task": task.id, "floor": "missing", "measured": "", "verdict": "MISSING"}, False
    again = measure_policy(task, "null_random", runs, CHECK_SEED, AnchorKind.NULL_MEASURED, workers)
    good = agrees(anchors.floor, again)
    stored = f"{anchors.floor.value:.4f} ± {anchors.floor.se:.4f}"
    measured = f"{again.value:.4f} ± {again.se:.4f}"
    return {"task": task.id, "floor": stored, "measured": measured, "verdict": "agrees" if good else "OFF"}, good


def _measured(
    task: Task, runs: int, write: bool, reference: bool, workers: int | None
) -> tuple[dict[str, object], bool]:
    anchors = calibrate_task(task, runs, workers)
    if reference:
        anchors = with_reference(anchors, task, _REFERENCE, _REFERENCE_RUNS, workers)
    if write:
        write_anchors(anchors)
    content = asdict(anchors)
    row: dict[str, object] = {"task": task.id, "floor": f"{anchors.floor.value:.4f} ± {anchors.floor.se:.4f}"}
    row["ceiling"] = f"{anchors.ceiling.value:g} ({content['ceiling']['kind'].value})"
    row["reference"] = (
        "-" if anchors.reference is None else f"{anchors.reference.value:.4f} ± {anchors.reference.se:.4f}"
    )
    row["provenance"] = anchors.floor.provenance
    return row, True
