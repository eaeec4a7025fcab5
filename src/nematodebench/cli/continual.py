"""The work behind ``nematodebench continual``."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nematodebench.cli.printing import json_text
from nematodebench.cli.progress import show_progress
from nematodebench.cli.resuming import asked_before, keeping, say_damaged
from nematodebench.cli.sessions import tell_failed
from nematodebench.cli.show import print_json, print_table
from nematodebench.cli.tables import available_width, csv_output, fit
from nematodebench.continual.report import ContinualReport, TransferReport, summarise
from nematodebench.continual.runs import Settings, continual_plan, run_continual
from nematodebench.engine.seeds import session_seed
from nematodebench.errors import StorageError, UsageError
from nematodebench.files import write_file
from nematodebench.scoring import PROFILES, anchored_primary
from nematodebench.sessions.config import parse_assignments
from nematodebench.sessions.execution import Progress
from nematodebench.stats import MARK, StatValue, with_interval
from nematodebench.tasks.continual import ORDER

__all__ = ["ContinualRequest", "continual_command", "episodes_of", "sparkline"]

_BARS = "▁▂▃▄▅▆▇█"
_LEGEND = (
    "success: share of episodes with at least the reward of `success from`; learning: reward by episode",
    "anchored: (primary - null's) / (1 - null's), so chance is 0 and perfect is 1",
)
_TRANSFER_LEGEND = (
    "forgetting: success just after learning minus success at the end; backward transfer: what earlier ones gained",
    "forward transfer: success while learning, against fresh brains that learn one environment alone",
)


@dataclass(frozen=True, kw_only=True)
class ContinualRequest:
    """The options as they were given."""

    brain: str
    order: str
    episodes: str
    profile: str
    runs: int
    seed: int | None
    assign: list[str]
    test_episodes: int
    alone: bool
    twin: bool
    workers: int | None
    executor: str | None
    output: Path | None = None
    resume: str | None = None


def continual_command(request: ContinualRequest, *, json: bool) -> bool:
    """Runs a brain through the environments and prints the report; returns whether every run finished."""
    request, work = asked_before(request, "continual")
    if not request.brain:
        raise UsageError("Say which brain: nematodebench continual BRAIN. `nematodebench brains` lists them.")
    if request.profile not in PROFILES:
        raise UsageError(f"Profile {request.profile!r} does not exist. Choose {' or '.join(PROFILES)}.")
    request = replace(request, seed=session_seed(request.seed))
    order = tuple(name.strip() for name in request.order.split(",")) if request.order else ORDER
    settings = Settings(
        order=order,
        episodes=episodes_of(request.episodes, order),
        probe_episodes=request.test_episodes,
        runs=request.runs,
        seed=request.seed,
        workers=request.workers,
        executor=request.executor,
        alone=request.alone,
        twin=request.twin,
    )
    progress, config = Progress(), parse_assignments(request.assign)
    with keeping(request, "continual", work, continual_plan(request.brain, config, settings)) as keep:
        with show_progress(progress, f"continual {request.brain}", json):
            result = run_continual(request.brain, config, settings, progress, keep)
        report = summarise(result)
        content = {"profile": request.profile, **asdict(report)}
        if request.output is not None:
            _write(Path(request.output), content)
    say_damaged(progress.damaged)
    if json:
        print_json(content)
    else:
        _print(report, request.profile)
    for session in result.sessions:
        tell_failed(session)
    return not any(session.failed_runs for session in result.sessions)


def _write(path: Path, content: dict[str, Any]) -> None:
    try:
        write_file(path, (json_text(content) + "\n").encode())
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error


def episodes_of(text: str, order: Sequence[str]) -> dict[str, int]:
    """Episodes by environment from ``30`` or ``navigation=30,gridworld=50``."""
    if not text:
        return {}
    pairs = [(name, text) for name in order] if text.strip().lstrip("-").isdigit() else _pairs(text)
    try:
        return {name: int(number) for name, number in pairs}
    except ValueError as error:
        raise UsageError(f"--episodes {text!r}: give a whole number, or environment=number pairs.") from error


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",")]
    return [(name.strip(), number) for name, _, number in parts]


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """Draws values as small bars between two anchors."""
    span = len(_BARS) / (high - low)
    return "".join(_BARS[min(len(_BARS) - 1, max(0, math.floor((value - low) * span)))] for value in values)


def _print(report: ContinualReport, profile: str) -> None:
    print(f"continual: {report.brain}, {report.runs} runs, seed {report.seed}, mean ± half the 95 % interval\n")
    rows = [
        [
            name, str(found.scores[profile]), str(found.success), str(found.reward),
            sparkline(found.curve, found.floor, found.ceiling), f"{found.floor:.2f} .. {found.ceiling:.2f}",
            f"{found.threshold:.2f}", str(found.episodes),
        ]
        for name, found in report.environments.items()
    ]  # fmt: skip
    print_table(
        ["environment", profile, "success", "reward", "learning", "floor .. ceiling", "success from", "episodes"], rows
    )
    print()
    lines = [
        [
            name, str(found.primary), str(found.null_primary),
            with_interval(found.anchored.unclamped, found.anchored.ci95, found.anchored.doubt),
            str(found.weighted), str(found.adjusted),
        ]
        for name, found in report.profiles.items()
    ]  # fmt: skip
    print_table(["profile", "primary", "null's primary", "anchored", "weighted", "adjusted"], lines)
    _print_policies(report)
    if report.transfer is not None:
        _print_transfer(report.transfer, list(report.environments))
    print()
    for note in [*_LEGEND, *(_TRANSFER_LEGEND if report.transfer else ()), *report.notes]:
        print(f"  {note}")


def _print_policies(report: ContinualReport) -> None:
    """The brain, its twin that never learns, and policies that ignore their input: primary and anchored scores."""
    profiles = report.profiles
    primaries = {report.brain: {name: found.primary.mean for name, found in profiles.items()}}
    if report.gains:
        primaries[f"{report.brain}, learning off"] = {name: g.untrained.mean for name, g in report.gains.items()}
    primaries["(null_random)"] = {name: found.null_primary.mean for name, found in profiles.items()}
    for line in report.lines:
        primaries[f"({line.name}: {line.policy})"] = {name: line.scores[name].primary for name in profiles}
    rows = [
        [label, *(cell for name, value in found.items() for cell in _against(value, profiles[name].null_primary.mean))]
        for label, found in primaries.items()
    ]
    print()
    print_table(["policy", *(cell for name in profiles for cell in (name, "anchored"))], rows)
    if report.gains:
        print()
    for name, found in report.gains.items():
        print(f"{name}: {found.sentence(report.brain)}")


def _against(primary: float, null: float) -> tuple[str, str]:
    return f"{primary:z.3f}", f"{anchored_primary(primary, null):z.3f}"


def _print_transfer(found: TransferReport, order: list[str]) -> None:
    print("\nsuccess on (column) after learning (row)\n")
    header = ["after", *order]
    rows = [[name, *map(_short, row)] for name, row in zip(order, found.matrix, strict=True)]
    rows.append(["forgetting", *(_short(found.forgetting_by_task[name]) for name in order)])
    # A matrix without some of its columns is none: where they have no room, their intervals go first.
    *_, hidden = fit(header, rows, available_width())
    if hidden and csv_output() is None:
        rows = [[cell.split(" ")[0] if k else cell for k, cell in enumerate(row)] for row in rows]
    print_table(header, rows)
    if hidden and csv_output() is None:
        print("\nThere is no room for the intervals: --wide shows them.")
    print(f"\nforgetting {found.forgetting}, backward transfer {found.backward}, ", end="")
    print(f"forward transfer {found.forward if found.forward is not None else 'not measured'}")


def _short(value: StatValue) -> str:
    low, high = value.ci95
    if not value.has_interval:
        return f"{value.mean:.2f}"
    mark = f" {MARK}" if value.doubt else ""
    if value.kind == "wilson":
        return f"{value.mean:.2f} [{low:.2f}, {high:.2f}]{mark}"
    return f"{value.mean:.2f} ± {(high - low) / 2:.2f}{mark}"
