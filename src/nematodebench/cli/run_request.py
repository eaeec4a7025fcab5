"""The options of ``run``, and which of them mean nothing together."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.stats import SMALLEST_EFFECT

__all__ = ["RunRequest", "refuse_together"]


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """The options of ``run`` as they were given."""

    task: str | None
    brains: list[str]
    config: Path | None
    runs: int | None
    episodes: int | None
    seed: int | None
    sessions: int
    assign: list[str]
    twin: bool
    workers: int | None
    executor: str | None
    track: bool
    output: Path
    resume: str | None
    dry_run: bool
    until: str | None = None
    max_runs: int | None = None
    smallest_effect: float = SMALLEST_EFFECT
    debug: bool = False
    checkpoint: int | None = None
    begin_with: Path | None = None
    log: list[str] = field(default_factory=list)
    timeout: float | None = None


_NAMES = {
    "task": "TASK", "brains": "BRAIN", "config": "--config", "runs": "--runs", "episodes": "--episodes",
    "seed": "--seed", "sessions": "--sessions", "assign": "--set", "twin": "--twin", "executor": "--executor",
    "dry_run": "--dry-run", "until": "--until", "max_runs": "--max-runs", "debug": "--debug",
    "checkpoint": "--checkpoint", "begin_with": "--from", "log": "--log", "timeout": "--timeout", "json": "--json",
}  # fmt: skip
_NOTHING_TO = {
    "resume": ("--resume goes on with a session as it was begun", set(_NAMES) - {"log", "json"}),
    "debug": ("--debug executes one run and stores nothing", {"dry_run", "until", "checkpoint", "log", "json"}),
    "dry_run": ("--dry-run runs nothing", {"until", "log"}),
    "until": (
        "--until decided finds the number of runs itself, and keeps no brains",
        {"runs", "sessions", "twin", "checkpoint", "log"},
    ),
}
"""What means nothing to an option, and why."""


def refuse_together(request: RunRequest, *, json: bool) -> None:
    """Refuses options that would be ignored beside others."""
    values = {**vars(request), "json": json}
    given = [name for name in _NAMES if _is_given(values[name]) and (name, values[name]) != ("sessions", 1)]
    for option, (why, ignored) in _NOTHING_TO.items():
        found = [_NAMES[name] for name in given if name in ignored]
        if getattr(request, option) and found:
            raise UsageError(f"{why}: leave out {', '.join(found)}.")
    if request.max_runs is not None and request.until is None:
        raise UsageError("--max-runs is the most runs of --until decided: leave it out.")


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != []
