"""What a report says of a continual run: scores by environment and profile, transfer, and its runs to execute again."""

from collections.abc import Mapping
from typing import Any

from nematodebench.errors import UsageError
from nematodebench.figures.transfer import transfer_matrix
from nematodebench.site.cells import stored_stat
from nematodebench.site.origins import continual_origin
from nematodebench.site.replay import Offer, OfferedRun, replay_of
from nematodebench.site.sections import section_of
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import continual_task

__all__ = ["continual_section"]


def continual_section(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a report says of one brain that went through several environments, with a run to execute again."""
    rows = [
        {"cells": [name, str(one["episodes"]), stored_stat(one["reward"]), f"{one['floor']:.2f}",
                   f"{one['ceiling']:.2f}", stored_stat(one["success"])], "dot": None}
        for name, one in report["environments"].items()
    ]  # fmt: skip
    profiles = [
        {"cells": [name, *(stored_stat(one[key]) for key in ("weighted", "adjusted", "primary", "null_primary")),
                   f"{one['anchored']['unclamped']:z.3f}"], "dot": None}
        for name, one in report["profiles"].items()
    ]  # fmt: skip
    tables = [
        {"name": "environments", "header": ["environment", "episodes", "reward", "floor", "ceiling", "success"],
         "rows": rows, "dots": False, "lines": []},
        {"name": "profiles", "header": ["profile", "weighted", "adjusted", "primary", "null's primary", "anchored"],
         "rows": profiles, "dots": False, "lines": []},
    ]  # fmt: skip
    lead = f"One brain goes through {len(rows)} environments; {report['runs']} runs, seed {report['seed']}."
    figures = [transfer_matrix(report)] if report.get("transfer") else []
    replay = _replay(report)
    return section_of(
        f"{report['brain']}, continual", lead, tables=tables, figures=figures, notes=list(report["notes"]),
        facts=continual_origin(report), replays=[] if replay is None else [{**replay, "label": report["brain"]}],
    )  # fmt: skip


def _replay(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """The runs of the file for a page to execute; None for a file of an older version, which has no hashes."""
    try:
        offer, task = _offer(report), _task(report)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError):
        return None
    key = f"continual-{report['brain']}-{report['seed']}"
    return replay_of(key, task, str(report["brain"]), report["config"], [offer])


def _offer(report: Mapping[str, Any]) -> Offer:
    profile = report["profile"]
    runs = [
        OfferedRun(int(one["run"]), int(one["seed"]), float(one["primary"][profile]), str(one["record_hash"]),
                   one["memory_hash"])
        for one in report["executed"]
    ]  # fmt: skip
    return Offer("", int(report["seed"]), f"{profile} primary", tuple(runs))


def _task(report: Mapping[str, Any]) -> Task:
    """The task that the runs went through: its environments with their episodes, and the tests between them."""
    lengths = {name: int(one["episodes"]) for name, one in report["environments"].items()}
    return continual_task(tuple(lengths), lengths, int(report["test_episodes"]))
