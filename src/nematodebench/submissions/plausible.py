"""What episodes can be at all: every bound follows from what the task and its worlds declare."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nematodebench.tasks.base import Phase
from nematodebench.worlds.ranges import Range, ranges_of

__all__ = ["implausible"]

_ROUNDING = 1e-9
_FLAGS = ("terminated", "truncated")


def implausible(phase: Phase, runs: Sequence[NDArray[np.float64]]) -> str | None:
    """The first thing in the episodes of a phase that cannot have happened in its world; None if there is none.

    Args:
        phase: The phase, as it was recorded.
        runs: The episodes of runs 0, 1, 2, ...
    """
    rows = np.concatenate(runs) if runs else np.empty((0, len(phase.columns)))
    columns = dict(zip(phase.columns, rows.T, strict=True))
    steps = columns["steps"]
    ranges = {"steps": Range(1.0, phase.world.horizon, whole=True)}
    ranges |= {name: Range(0.0, 1.0, whole=True) for name in _FLAGS} | dict(ranges_of(phase.world))
    for name, declared in ranges.items():
        found = _outside(columns[name], steps, declared) if name in columns else None
        if found is not None:
            return f"{_place(phase, runs, found[0])}: {name} is {columns[name][found[0]]:g}, {found[1]}"
    found = _ends(phase, columns, np.cumsum([len(run) for run in runs], dtype=np.int64) - 1)
    return None if found is None else f"{_place(phase, runs, found[0])}: {found[1]}"


def _place(phase: Phase, runs: Sequence[NDArray[np.float64]], row: int) -> str:
    ends = np.cumsum([len(run) for run in runs])
    run = int(np.searchsorted(ends, row, side="right"))
    return f"run {run} episode {row - int(ends[run]) + len(runs[run])} of phase {phase.name!r}"


def _outside(values: NDArray[np.float64], steps: NDArray[np.float64], declared: Range) -> tuple[int, str] | None:
    """The first value outside of a range, and in what."""
    rules = [
        (values < declared.low - _ROUNDING, f"which is less than {declared.low:g}"),
        (values > declared.high + _ROUNDING, f"which is more than {declared.high:g}"),
    ]
    if math.isfinite(declared.per_step):
        most = declared.per_step * steps
        rules.append((values > most + _ROUNDING, f"which is more than {declared.per_step:g} a step"))
    if declared.whole:
        rules.append((values != np.floor(values), "which is not a whole number"))
    return _first(rules)


def _ends(phase: Phase, columns: Mapping[str, NDArray[np.float64]], last: NDArray[np.int64]) -> tuple[int, str] | None:
    """An episode goes on until it is terminated or its time is over; both at once only in its last possible step."""
    terminated, truncated = columns["terminated"], columns["truncated"]
    early = columns["steps"] < phase.world.horizon
    cut = (truncated > 0) & early
    if phase.ticks:
        cut[last] = False  # the budget of experience cuts the last one of a run short
    return _first(
        (
            ((terminated == 0) & (truncated == 0), "it ends without an end"),
            ((terminated > 0) & (truncated > 0) & early, "it is terminated and truncated at once"),
            (cut, f"it is truncated before its {phase.world.horizon} steps are over"),
        )
    )


def _first(rules: Sequence[tuple[NDArray[np.bool_], str]]) -> tuple[int, str] | None:
    """The first row that breaks one of the rules, and what is said of it."""
    for wrong, why in rules:
        if wrong.any():
            return int(np.flatnonzero(wrong)[0]), why
    return None
