"""Makes tables of sessions: scores with their intervals, and what they are read against."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from nematodebench import stats
from nematodebench.cli.printing import FROZEN_MARK, print_json, print_table, printable
from nematodebench.records.labels import shown_brain
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.scoring import ScoreAnchor
from nematodebench.sessions.twins import Gain
from nematodebench.stats import StatValue
from nematodebench.tasks.anchoring import BlindPolicy, TaskAnchors
from nematodebench.tasks.base import Task, trained_id

__all__ = [
    "Table", "anchor_rows", "brain_label", "descriptor_lines", "plus_minus", "print_json", "print_table", "printable",
    "session_lines", "stat",
]  # fmt: skip

Table: TypeAlias = tuple[list[str], list[list[str]]]
"""Header and rows."""


def stat(value: StatValue | None) -> str:
    """Mean with half its 95 % interval."""
    return "missing" if value is None else str(value)


def plus_minus(value: float, se: float | None) -> str:
    """A value with half its 95 % interval, if its error is known."""
    return f"{value:z.3f}" if se is None or math.isnan(se) else stats.plus_minus(value, stats.Z95 * se)


def brain_label(brain: str, config: Mapping[str, Any], task: str, continued: bool = False) -> str:
    """The brain, whether its learning was off, and whether it began with what was learned before."""
    return shown_brain(brain, config) + ", continued" * continued + ", learning off" * bool(trained_id(task))


def _label(session: ExperimentMetadata) -> str:
    return brain_label(session.brain, session.brain_config, session.task, session.continued_from is not None)


def session_lines(
    task: Task,
    sessions: Sequence[ExperimentMetadata],
    anchors: TaskAnchors | None = None,
    gains: Sequence[Gain | None] = (),
) -> Table:
    """Compares sessions of one task with its anchors.

    Args:
        task: The task.
        sessions: Of the task, or of its untrained variant.
        anchors: The task's, for the lines that no session records: blind policy, reference, null.
        gains: What each session gained over its twin; empty, or None where it has none.
    """
    if not task.scoring.has_score:
        return ["brain", "runs"], [[_label(s), _runs(s)] for s in sessions]
    columns = task.scoring.columns(sessions[0].metrics, task.gate)
    header = ["brain", "runs", task.score_key.replace("_score", ""), "normalised"]
    header += ["level"] * task.scoring.has_levels + [*columns.values()] + ["chemotaxis"] * bool(task.assay)
    rows = [_session_row(task, session, list(columns)) for session in sessions]
    if any(gains):
        header[4:4] = ["gain", "learning off"]
        for row, gain in zip(rows, gains, strict=True):
            row[4:4] = ["-", "-"] if gain is None else [str(gain), stat(gain.untrained)]
    norm = sessions[0].normalised
    below = [] if norm is None else anchor_rows(norm.floor, norm.ceiling, anchors)
    return header, rows + [row + [""] * (len(header) - len(row)) for row in below]


def descriptor_lines(task: Task, sessions: Sequence[ExperimentMetadata]) -> Table | None:
    """What is reported and never ranked: the task's descriptors and the brains' liveness; None if there is neither."""
    names = task.scoring.descriptors(sessions[0].metrics, task.score_key)
    alive = [_liveness(session) for session in sessions]
    living = list(dict.fromkeys(name for found in alive for name in found))
    if not names and not living:
        return None
    rows = [
        [
            _label(session),
            *(stat(session.metrics.get(name)).removesuffix(" (n = 1)") for name in names),
            *(f"{found[name]:.3g}" if name in found else "-" for name in living),
        ]
        for session, found in zip(sessions, alive, strict=True)
    ]
    return ["brain", *names, *living], rows


def _liveness(session: ExperimentMetadata) -> dict[str, float]:
    """Mean over the finished runs of what the brain says of its state."""
    runs = [run.descriptors for run in session.runs if run.status == "finished" and run.descriptors]
    return {name: sum(run[name] for run in runs) / len(runs) for name in (runs[0] if runs else {})}


def _runs(session: ExperimentMetadata) -> str:
    finished = sum(run.status == "finished" for run in session.runs)
    return str(finished) if finished == session.num_runs else f"{finished} of {session.num_runs}"


def _session_row(task: Task, session: ExperimentMetadata, names: list[str]) -> list[str]:
    norm = session.normalised
    row = [_label(session), _runs(session), stat(session.metrics.get(session.score_key))]
    row.append("-" if norm is None else stats.with_interval(norm.score, norm.ci95, norm.doubt))
    row += [session.level or "-"] * task.scoring.has_levels
    row += [stat(session.metrics.get(name)).removesuffix(" (n = 1)") + _frozen_mark(session, name) for name in names]
    plate = session.chemotaxis
    mark = f" {stats.MARK}" if plate is not None and plate.total < stats.FEW_RUNS else ""
    text = "-" if plate is None else f"{plate.index:.2f} [{plate.ci95[0]:.2f}, {plate.ci95[1]:.2f}]{mark} {plate.level}"
    return row + [text] * bool(task.assay)


def _frozen_mark(session: ExperimentMetadata, name: str) -> str:
    """Marks what cannot mean what its heading says, because nothing was learned."""
    return f" {FROZEN_MARK}" if session.brain_class == "pretrained" and name == "learning_speed" else ""


def anchor_rows(floor: ScoreAnchor, ceiling: ScoreAnchor, anchors: TaskAnchors | None) -> list[list[str]]:
    """What a score stands between: label, runs, value, normalised value."""

    def row(label: str, measured: ScoreAnchor | BlindPolicy) -> list[str]:
        share = (measured.value - floor.value) / (ceiling.value - floor.value)
        return [f"({label})", str(measured.n or "-"), plus_minus(measured.value, measured.se or None), f"{share:z.3f}"]

    rows = [row("floor: null_random" if floor.kind == "null_measured" else "floor: analytic", floor)]
    if anchors is not None:
        found = {
            "null_random": anchors.null, "motionless": anchors.motionless, "best blind policy": anchors.blind,
            "reference": anchors.reference,
        }  # fmt: skip
        rows += [row(label, anchor) for label, anchor in found.items() if anchor is not None]
    return [*rows, row(f"ceiling: {ceiling.kind.removesuffix('_measured')}", ceiling)]
