"""Tables and numbers as the commands print them: Markdown that reads well in a terminal and pastes into an issue."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from nematodebench.records.schemas import ExperimentMetadata, StatRecord

__all__ = ["print_json", "print_table", "session_lines", "stat"]


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    json.dump(content, sys.stdout, indent=1, default=str)
    sys.stdout.write("\n")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table with aligned columns."""
    widths = [max(len(line[k]) for line in [header, *rows]) for k in range(len(header))]
    for line in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")


def stat(value: StatRecord | None) -> str:
    """Mean with half its 95 % interval."""
    return "missing" if value is None else str(value.value())


def _plus_minus(value: float, se: float | None) -> str:
    return f"{value:.3f}" if se is None or math.isnan(se) else f"{value:.3f} ± {1.96 * se:.3f}"


def session_lines(sessions: Sequence[ExperimentMetadata]) -> tuple[list[str], list[list[str]]]:
    """Header and rows that compare sessions of one task with its floor and ceiling."""
    if sessions[0].score_key == "composite_score":
        shown = {"success_rate": "success", "distance_efficiency": "efficiency", "learning_speed": "learning speed",
                 "stability": "stability"}  # fmt: skip
    else:
        shown = {name: name for name in sessions[0].metrics if name != sessions[0].score_key}
    plate = any(session.chemotaxis for session in sessions)
    levels = any(session.level for session in sessions)
    header = ["brain", "runs", sessions[0].score_key.replace("_score", ""), "normalised"]
    header += ["level"] * levels + [*shown.values()] + ["chemotaxis"] * plate
    rows = [_session_row(session, list(shown), levels, plate) for session in sessions]
    return header, rows + _anchor_rows(sessions[0], len(header))


def _session_row(session: ExperimentMetadata, shown: list[str], levels: bool, plate: bool) -> list[str]:
    finished = sum(run.status == "finished" for run in session.runs)
    runs = str(finished) if finished == session.num_runs else f"{finished} of {session.num_runs}"
    norm = session.normalised
    row = [session.brain, runs, stat(session.metrics.get(session.score_key))]
    row.append("-" if norm is None else _plus_minus(norm.score, norm.se))
    row += [session.level or "-"] * levels
    row += [stat(session.metrics.get(name)).removesuffix(" (n = 1)") for name in shown]
    assay = session.chemotaxis
    row += [
        "-" if assay is None else f"{assay.index:.2f} [{assay.ci95[0]:.2f}, {assay.ci95[1]:.2f}] {assay.level}"
    ] * plate
    return row


def _anchor_rows(session: ExperimentMetadata, width: int) -> list[list[str]]:
    norm = session.normalised
    if norm is None:
        return []
    floor = ["(floor: null_random)" if norm.floor.kind == "null_measured" else "(floor: analytic)"]
    floor += [str(norm.floor.n or "-"), _plus_minus(norm.floor.value, norm.floor.se or None), "0"]
    ceiling = [f"(ceiling: {norm.ceiling.kind.removesuffix('_measured')})", str(norm.ceiling.n or "-")]
    ceiling += [_plus_minus(norm.ceiling.value, norm.ceiling.se or None), "1"]
    return [row + [""] * (width - len(row)) for row in (floor, ceiling)]
