"""The work behind ``nematodebench calibrate``."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nematodebench.calibration import anchors as calibration
from nematodebench.calibration.recipes import read_recipe, recipe_cycle
from nematodebench.cli.show import print_json, print_table
from nematodebench.continual.lines import measure_lines, write_lines
from nematodebench.errors import UsageError
from nematodebench.scoring import ScoreAnchor
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors, load_anchors, normalise, write_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import continual_task
from nematodebench.tasks.registry import all_tasks, get_task

__all__ = ["CalibrationRequest", "calibrate_command"]


@dataclass(frozen=True, kw_only=True)
class CalibrationRequest:
    """What to measure, how often, how many at a time, and what to do with it."""

    names: list[str]
    runs: int
    reference: bool
    blind: bool
    write: bool
    check: bool
    workers: int | None
    recipe: Path | None = None
    again: bool = False
    motionless: bool = False


def calibrate_command(request: CalibrationRequest, *, json: bool) -> bool:
    """Calibrates or checks tasks; returns whether all checks passed."""
    if request.write and request.check:
        raise UsageError("--write and --check exclude each other.")
    if (request.recipe or request.again) and not request.blind:
        raise UsageError("--try and --again are about policies that ignore their input: add --blind.")
    tasks = [get_task(name) for name in request.names] or list(all_tasks().values())
    if request.names and request.motionless and (unscored := [task.id for task in tasks if not task.scoring.has_score]):
        raise UsageError(f"{unscored[0]} has no score, so doing nothing has none there: leave it out.")
    if request.check:
        rows = [row for task in tasks for row in _check_task(task, request)]
    elif request.recipe is not None:
        rows = [_try_recipe(task, request, request.recipe) for task in tasks]
    elif request.motionless:
        rows = [_add_motionless(task, request) for task in tasks if task.scoring.has_score]
    else:
        rows = [_calibrate_task(task, request) for task in tasks]
    if json:
        print_json(rows)
    elif request.check or request.recipe or request.motionless:
        print_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    else:
        print_table(["task", "floor", "null", "ceiling", "reference", "best blind policy"], [_line(r) for r in rows])
    return all(row.get("verdict", "agrees") not in {"OFF", "MISSING", "BEATEN"} for row in rows)


def _number(value: ScoreAnchor | BlindPolicy) -> str:
    return f"{value.value:.4f} ± {value.se:.4f}"


def _verdict(
    task: Task, what: str, stored: ScoreAnchor | BlindPolicy, again: ScoreAnchor | BlindPolicy
) -> dict[str, Any]:
    verdict = "agrees" if calibration.agrees(stored, again) else "OFF"
    return {"task": task.id, "what": what, "stored": _number(stored), "measured": _number(again), "verdict": verdict}


def _check_task(task: Task, request: CalibrationRequest) -> list[dict[str, Any]]:
    """Compares stored anchors with the same measured on other seeds; of an exact floor the null policy is measured."""
    empty = {"task": task.id, "what": "floor", "stored": "-", "measured": "-"}
    if not task.scoring.has_score:
        return [{**empty, "verdict": "no score"}]
    anchors = load_anchors(task)
    if anchors is None:
        return [{**empty, "verdict": "MISSING"}]
    seed, workers = calibration.CHECK_SEED, request.workers
    again = calibration.measure_null(task, request.runs, seed, workers)
    rows = [_verdict(task, "null" if anchors.null else "floor", anchors.null or anchors.floor, again)]
    if request.reference and anchors.reference is not None:
        measured = calibration.measure_reference(task, calibration.REFERENCE_RUNS, seed, workers)
        if measured is not None:
            rows.append(_verdict(task, "reference", anchors.reference, measured))
    if request.blind and anchors.blind is not None:
        policy = calibration.measure_blind(task, anchors.blind.segments, calibration.REFERENCE_RUNS, seed, workers)
        rows.append(_verdict(task, "blind", anchors.blind, policy))
    if request.again and anchors.blind is not None:
        rows.append(_search_again(task, anchors, anchors.blind, request))
    return rows


def _search_again(task: Task, anchors: TaskAnchors, stored: BlindPolicy, request: CalibrationRequest) -> dict[str, Any]:
    """Whether an independent search of the same budget finds something clearly better than what is stored."""
    found = calibration.search_again(task, request.workers)
    beaten = calibration.search_advantage(anchors, found.value) > calibration.SEARCH_TOLERANCE
    row = {"task": task.id, "what": "search", "stored": _number(stored), "measured": _number(found)}
    return {**row, "verdict": "BEATEN" if beaten else "agrees"}


def _try_recipe(task: Task, request: CalibrationRequest, path: Path) -> dict[str, Any]:
    """Plays a recipe and, if it is better than the stored policy, stores it where that is asked for."""
    anchors = load_anchors(task)
    if anchors is None:
        raise UsageError(f"{task.id} has no anchors to beat: run `nematodebench calibrate {task.id} --write` first.")
    recipe = read_recipe(path)
    cycle = recipe_cycle(recipe, task)
    better = calibration.better_blind(anchors, task, cycle, f"recipe {recipe.name!r}, tried by hand", request.workers)
    stored = anchors.blind.segments if anchors.blind else None
    won = better.blind is not None and better.blind.segments == cycle != stored
    if won and request.write:
        write_anchors(task, better)
    tried = better.blind if won else calibration.measure_recipe(task, cycle, request.workers)
    normalised = normalise([tried.value], anchors) if tried else None
    return {
        "task": task.id, "recipe": recipe.name, "stored": _number(anchors.blind) if anchors.blind else "-",
        "tried": _number(tried) if tried else "-", "normalised": f"{normalised.unclamped:z.3f}" if normalised else "-",
        "verdict": _trial_verdict(won, request.write),
    }  # fmt: skip


def _trial_verdict(won: bool, write: bool) -> str:
    if not won:
        return "not better"
    return "better: stored" if write else "better: add --write to store it"


def _add_motionless(task: Task, request: CalibrationRequest) -> dict[str, Any]:
    """Measures what doing nothing scores and puts it beside the stored anchors, which stay as they are."""
    anchors = load_anchors(task)
    if anchors is None:
        raise UsageError(f"{task.id} has no anchors: run `nematodebench calibrate {task.id} --write` first.")
    found = calibration.measure_motionless(task, request.workers)
    if request.write:
        write_anchors(task, replace(anchors, motionless=found))
    normalised = normalise([found.value], anchors)
    share = f"{normalised.unclamped:z.3f}" if normalised else "-"
    return {"task": task.id, "motionless": _number(found), "normalised": share}


def _calibrate_lines(task: Task, request: CalibrationRequest) -> dict[str, Any]:
    """Measures the policies that a continual task is read against; a task without a score has nothing to measure."""
    if task.id == continual_task().id:
        lines = measure_lines()
        if request.write:
            write_lines(task, lines)
    return {"task": task.id}


def _calibrate_task(task: Task, request: CalibrationRequest) -> dict[str, Any]:
    anchors = calibration.calibrate_task(task, request.runs, request.workers)
    if anchors is None:
        return _calibrate_lines(task, request)
    anchors = _complete(anchors, task, request)
    if request.write:
        write_anchors(task, anchors)
    return asdict(anchors)


def _complete(anchors: TaskAnchors, task: Task, request: CalibrationRequest) -> TaskAnchors:
    """Adds reference and blind policy: measured anew if that is asked for, otherwise as they are stored."""
    try:
        stored = load_anchors(task)
    except UsageError:  # of another specification: worth nothing
        stored = None
    if stored is not None:
        reference = anchors.reference or stored.reference
        anchors = replace(anchors, reference=reference, blind=stored.blind, motionless=stored.motionless)
    if request.reference:
        anchors = calibration.with_reference(anchors, task, request.workers)
    if request.blind:
        anchors = calibration.with_blind(anchors, task, request.workers)
    return anchors


def _line(row: dict[str, Any]) -> list[str]:
    def cell(name: str) -> str:
        found = row.get(name)
        return "-" if found is None else f"{found['value']:.4f} ± {found['se']:.4f}"

    if "floor" not in row:
        return [row["task"], *["-"] * 5]
    floor, ceiling = row["floor"], row["ceiling"]
    exact = floor["n"] is None
    blind = cell("blind") if row["blind"] is None else f"{cell('blind')} {row['blind']['policy']}"
    return [
        row["task"], f"{floor['value']:g} (exact)" if exact else cell("floor"), cell("null" if exact else "floor"),
        f"{ceiling['value']:g} ({ceiling['kind']})", cell("reference"), blind,
    ]  # fmt: skip
