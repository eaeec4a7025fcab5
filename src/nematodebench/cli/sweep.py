"""The work behind ``nematodebench sweep``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nematodebench.cli.sessions import execute_plan, most_steps
from nematodebench.cli.show import anchor_rows, print_json, print_table
from nematodebench.engine.seeds import session_seed
from nematodebench.errors import Interrupted
from nematodebench.sessions.scores import RunScores, scores_of
from nematodebench.sessions.sweep import Cell, SweepStore, make_cells, parse_grid
from nematodebench.sessions.twins import gain
from nematodebench.stats import StatValue, with_interval
from nematodebench.tasks.anchoring import TaskAnchors, load_anchors, normalise
from nematodebench.tasks.base import Task

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SweepRequest", "sweep_command"]

_HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class SweepRequest:
    """The options as they were given."""

    tasks: list[str]
    brains: list[str]
    grid: list[str]
    runs: int
    seed: int | None
    output: Path
    twin: bool
    workers: int | None
    executor: str | None
    dry_run: bool


def sweep_command(request: SweepRequest, *, json: bool) -> bool:
    """Runs what is not finished, writes the table, prints it; returns whether no run failed."""
    store = SweepStore(request.output)
    seed = session_seed(store.seed() if request.seed is None else request.seed)
    grid = parse_grid(request.grid)
    cells = make_cells(request.tasks, request.brains, grid, request.runs, seed, request.workers, request.executor)
    twins = [cell.twin() if request.twin else None for cell in cells]
    every = [*cells, *(twin for twin in twins if twin is not None)]
    if request.dry_run:
        _print_plan(every, store, json)
        return True
    store.begin(seed)
    for cell in every:
        if not store.is_finished(cell):
            _run(cell, store, quiet=json)
    frame = store.combine(every)
    summaries = [
        _summary(cell, store.read(cell)) | _gained(store, cell, twin) for cell, twin in zip(cells, twins, strict=True)
    ]
    if json:
        plain = [{**one, "gain": None if one["gain"] is None else one["gain"].plain()} for one in summaries]
        print_json({"table": str(store.table), "seed": seed, "cells": plain})
    else:
        _print_tables(cells, summaries)
        print(f"seed {seed}, {len(frame)} runs in {store.table}")
    return not bool((frame["status"] == "failed").any())


def _run(cell: Cell, store: SweepStore, quiet: bool) -> None:
    try:
        store.write(cell, execute_plan(cell.plan, None, quiet=quiet))
    except Interrupted as stop:
        raise Interrupted("the same command runs the cells that are left") from stop


def _print_plan(cells: Sequence[Cell], store: SweepStore, json: bool) -> None:
    rows = [
        {
            "task": cell.plan.task.id, "brain": cell.plan.brain_name, "parameters": dict(cell.parameters),
            "runs": cell.plan.runs, "steps_at_most": most_steps(cell.plan.task) * cell.plan.runs,
            "finished": store.is_finished(cell),
        }
        for cell in cells
    ]  # fmt: skip
    if json:
        print_json({"seed": cells[0].plan.seed, "cells": rows})
        return
    print_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
    left = [row for row in rows if not row["finished"]]
    steps = sum(most_steps(cell.plan.task) * cell.plan.runs for cell in cells if not store.is_finished(cell))
    print(f"\nseed {cells[0].plan.seed}; {len(left)} of {len(rows)} cells to run, at most {steps:,} steps")


def _summary(cell: Cell, frame: "pl.DataFrame") -> dict[str, Any]:
    """A cell's rows as one: every metric with its interval, the share of runs above half of the way."""
    done = frame.filter(frame["status"] == "finished")
    metrics = list(_metrics(frame).values())
    shown = [name for name in (metrics[0] if metrics else {}) if any(run[name] is not None for run in metrics)]
    scores = _scores(cell, frame)
    norm = normalise(scores.values.tolist(), load_anchors(cell.plan.task), scores.pseudo)
    above = done["normalised"].drop_nulls()
    return {
        "task": cell.plan.task.id, "brain": cell.plan.brain_name, "parameters": dict(cell.parameters),
        "finished": len(done), "failed": len(frame) - len(done),
        "score": scores.summary,
        "normalised": None if norm is None else {
            "score": norm.estimate, "se": norm.se, "ci95": norm.ci95, "doubt": norm.doubt, "ceiling": norm.ceiling_kind,
        },
        "above_half": float((above > _HALF).mean()) if len(above) else None,  # type: ignore[arg-type]
        "metrics": cell.plan.task.scoring.summarise(metrics, {}, shown),
        "liveness": {
            name.removeprefix("liveness."): float(done[name].mean()) for name in done.columns  # type: ignore[arg-type]
            if name.startswith("liveness.") and done[name].count()
        },
    }  # fmt: skip


def _gained(store: SweepStore, cell: Cell, twin: Cell | None) -> dict[str, Any]:
    """What a cell gained over its twin; nothing where it has none."""
    if twin is None:
        return {"gain": None}
    return {"gain": gain(_scores(cell, store.read(cell)), _scores(twin, store.read(twin)))}


def _metrics(frame: "pl.DataFrame") -> dict[int, dict[str, float | None]]:
    """Metrics of the finished runs by seed."""
    done = frame.filter(frame["status"] == "finished")
    names = {name: name.removeprefix("metric.") for name in done.columns if name.startswith("metric.")}
    return {int(row["seed"], 16): {names[name]: row[name] for name in names} for row in done.iter_rows(named=True)}


def _scores(cell: Cell, frame: "pl.DataFrame") -> RunScores:
    return scores_of(cell.plan.task, _metrics(frame))


def _print_tables(cells: Sequence[Cell], summaries: Sequence[dict[str, Any]]) -> None:
    """A table for each task, grouped by the kind of their ceilings: only within a kind are scores comparable."""
    tasks = {cell.plan.task.id: cell.plan.task for cell in cells}
    anchors = {name: load_anchors(task) for name, task in tasks.items()}
    kinds = {name: "none" if found is None else str(found.ceiling.kind) for name, found in anchors.items()}
    for kind in sorted(set(kinds.values())):
        print("tasks without anchors\n" if kind == "none" else f"tasks whose ceiling is {kind}\n")
        for name, task in tasks.items():
            if kinds[name] == kind:
                print(f"{name}, mean ± half the 95 % interval over runs\n")
                print_table(*_lines(task, [s for s in summaries if s["task"] == name], anchors[name]))
                print()
    for summary in summaries:
        if summary["gain"] is not None:
            print(f"{summary['task']}: {summary['gain'].sentence(_label(summary))}")


def _label(summary: dict[str, Any]) -> str:
    setting = " ".join(f"{key}={value}" for key, value in summary["parameters"].items())
    return f"{summary['brain']} {setting}".strip()


def _lines(
    task: Task, summaries: Sequence[dict[str, Any]], anchors: TaskAnchors | None
) -> tuple[list[str], list[list[str]]]:
    score = [task.score_key.replace("_score", ""), "normalised", "runs > .5"] if task.scoring.has_score else []
    hidden = {task.score_key, "reward"}
    shown = list(dict.fromkeys(name for s in summaries for name in s["metrics"] if name not in hidden))
    living = list(dict.fromkeys(name for s in summaries for name in s["liveness"]))
    rows = []
    twins = any(s["gain"] is not None for s in summaries)
    score += ["gain", "learning off"] * twins
    for s in summaries:
        row = [_label(s), _count(s)]
        if task.scoring.has_score:
            norm, half = s["normalised"], s["above_half"]
            row.append(_cell(s["score"]))
            row.append("-" if norm is None else with_interval(norm["score"], norm["ci95"], norm["doubt"]))
            row.append("-" if half is None else f"{half:.2f}")
            row += (["-", "-"] if s["gain"] is None else [str(s["gain"]), _cell(s["gain"].untrained)]) * twins
        row += [_cell(s["metrics"].get(name)) for name in shown]
        row += [f"{s['liveness'][name]:.3g}" if name in s["liveness"] else "-" for name in living]
        rows.append(row)
    named = [f"gate ({task.gate})" if name == "gate" and task.gate else name for name in shown]
    header = ["brain", "runs", *score, *named, *living]
    below = [] if anchors is None else anchor_rows(anchors.floor, anchors.ceiling, anchors)
    return header, rows + [row + [""] * (len(header) - len(row)) for row in below]


def _count(summary: dict[str, Any]) -> str:
    finished, failed = summary["finished"], summary["failed"]
    return f"{finished} of {finished + failed}" if failed else str(finished)


def _cell(value: StatValue | None) -> str:
    return "missing" if value is None else str(value).removesuffix(" (n = 1)")
