"""What the page of a brain says beside its scores: what it costs, and what its mechanisms add."""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain, is_built_in, is_compiled
from nematodebench.browser.arrays import learned_arrays
from nematodebench.engine.spec import interface
from nematodebench.errors import UsageError
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.site.cells import dot
from nematodebench.stats import plus_minus
from nematodebench.tasks.registry import get_task

__all__ = ["ABLATIONS", "ablation_tables", "efficiency_row"]

ABLATIONS = Path("docs", "brains", "ablations")
"""Where a repository keeps what ``nematodebench ablate BRAIN --json`` printed."""
_MOST_BYTES = 5_000_000
_FLOAT, _WORD = 4, 8
"""Bytes of a number of a brain's memory, and of one of its counters."""


def efficiency_row(task: str, brain: str, config: dict[str, Any], sessions: Sequence[ExperimentMetadata]) -> list[str]:
    """What a brain needs on a task: numbers of its state, memory, and the time that its recorded sessions took."""
    numbers, memory = _size(task, brain, config)
    rates = [one.timing.steps_per_second / one.timing.workers for one in sessions if one.timing.steps_per_second > 0]
    rate = statistics.median(rates) if rates else None
    steps = [run.steps for one in sessions for run in one.runs if run.steps]
    seconds = None if rate is None or not steps else statistics.fmean(steps) / rate
    return [
        "–" if numbers is None else f"{numbers:,}",
        "–" if memory is None else f"{memory / 1024:,.1f} KB",
        "–" if rate is None else f"{1e6 / rate:,.2f} ms",
        "–" if seconds is None else f"{seconds:,.2f} s",
    ]


def _size(task: str, brain: str, config: dict[str, Any]) -> tuple[int | None, int | None]:
    """How many numbers a compiled brain carries on, and the bytes of its memory; None for any other."""
    if not is_built_in(brain) or not is_compiled(kind := get_brain(brain)):
        return None, None
    try:
        layout = kind.layout(resolve_config(brain, kind, dict(config)), interface(get_task(task)))
    except UsageError:  # a config that this version does not know any more
        return None, None
    numbers = sum(math.prod(one["shape"]) for one in learned_arrays(kind.memory, layout))
    return numbers, _FLOAT * layout.memory + _WORD * len(layout.ints)


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
    return plus_minus(float(value["mean"]), (high - low) / 2)
