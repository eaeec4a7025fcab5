"""What the page of a brain says beside its scores: what it costs, and what its mechanisms add."""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.site.cells import dot, interval

__all__ = ["ABLATIONS", "EFFICIENCY", "ablation_tables", "efficiency_row", "measured_costs"]

EFFICIENCY = Path("docs", "brains", "efficiency.json")
"""Where a repository keeps what its entries were measured to cost, by submission (``scripts/efficiency.py``)."""

ABLATIONS = Path("docs", "brains", "ablations")
"""Where a repository keeps what ``nematodebench ablate BRAIN --json`` printed."""
_MOST_BYTES = 5_000_000


def measured_costs(root: Path) -> dict[str, dict[str, float | None]]:
    """What entries cost, by submission; empty where nobody has measured it."""
    path = root / EFFICIENCY
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def efficiency_row(cost: Mapping[str, float | None], sessions: Sequence[ExperimentMetadata]) -> list[str]:
    """What a brain costs on a task, as it was measured, and how long its recorded runs took; dashes for the unknown."""
    rates = [one.timing.steps_per_second / one.timing.workers for one in sessions if one.timing.steps_per_second > 0]
    steps = [run.steps for one in sessions for run in one.runs if run.steps]
    seconds = statistics.fmean(steps) / statistics.median(rates) if rates and steps else None

    def shown(name: str, form: str, scale: float = 1.0) -> str:
        value = cost.get(name)
        return "–" if not isinstance(value, int | float) else form.format(value * scale)

    return [
        shown("parameters", "{:,.0f}"), shown("effective_macs", "{:,.0f}"), shown("effective_acs", "{:,.0f}"),
        shown("activation_sparsity", "{:.0f} %", 100.0), shown("footprint", "{:,.0f} KB", 1 / 1024),
        shown("milliseconds", "{:,.2f} ms"), "–" if seconds is None else f"{seconds:,.2f} s",
    ]  # fmt: skip


def ablation_tables(root: Path, brain: str) -> list[dict[str, Any]]:
    """The stored ablations of a brain, task by task; what cannot be read is not there."""
    found = []
    for path in sorted((root / ABLATIONS).glob("*.json")):
        if path.stat().st_size > _MOST_BYTES:
            continue
        try:
            content = json.loads(path.read_bytes())
            if content["brain"] == brain:
                found.append(_ablations(content))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return found


def _ablations(content: dict[str, Any]) -> dict[str, Any]:
    """One task's ablations, the one that costs most first, as dots with whiskers on an axis that has 0 on it."""
    rows = content["ablations"]
    ends = [0.0, *(float(end) for row in rows for end in row["ci95"])]
    low, high = min(ends), max(ends)
    span = high - low or 1.0

    def place(value: float) -> float:
        return (value - low) / span

    full = content["full"]
    return {
        "task": str(content["task"]), "runs": int(content["runs"]), "seed": int(content["seed"]),
        "command": f"nematodebench ablate {content['brain']} --task {content['task']} --runs {int(content['runs'])} "
                   f"--seed {int(content['seed'])}",
        "full": _stat(full), "low": f"{low:+.2f}", "high": f"{high:+.2f}",
        "lines": [{"role": "edge", "at": dot(place(0.0), None)["at"]}],
        "rows": [
            {"name": f"{row['name']} = {row['off']}", "score": _stat(row["score"]),
             "dot": dot(place(float(row["difference"])), (place(float(row["ci95"][0])), place(float(row["ci95"][1])))),
             "difference": f"{float(row['difference']):+.3f}", "value": round(float(row["difference"]), 6),
             "interval": "[{:+.3f}, {:+.3f}]".format(*map(float, row["ci95"])), "p": f"{float(row['p_holm']):.2g}"}
            for row in rows
        ],
    }  # fmt: skip


def _stat(value: dict[str, Any]) -> str:
    low, high = map(float, value["ci95"])
    return interval(float(value["mean"]), (low, high))
