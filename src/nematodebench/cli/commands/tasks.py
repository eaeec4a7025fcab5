"""``nematodebench tasks``: what tasks there are, or one of them in full."""

from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nematodebench.tasks.listing import TaskLine

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="tasks")(tasks)


def tasks(
    name: Annotated[str | None, typer.Argument(help="a task, to see all of it")] = None,
    root: Annotated[Path, typer.Option(help="repository whose published submissions tell the resolution")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Lists the tasks; NAME shows one: what it measures, what its scores are read against, its body and worlds."""
    from nematodebench.cli.printing import print_json, print_table

    if name is None:
        lines = _all_lines()
        if json:
            print_json([{"id": line.id, "summary": line.summary, "score_key": line.score_key} for line in lines])
        else:
            print_table(["task", "score", "what it asks"], lines)
        return
    from nematodebench.cli.task_page import published_boards, task_page
    from nematodebench.tasks.anchoring import load_anchors
    from nematodebench.tasks.registry import get_task

    task = get_task(name)
    anchors = load_anchors(task)
    if json:
        print_json({**task.spec(), "spec_hash": task.spec_hash, "anchors": None if anchors is None else vars(anchors)})
        return
    published = (root / "benchmarks").is_dir()
    print("\n".join(task_page(task, published_boards(root).get(task.id), published=published)))


def _all_lines() -> "list[TaskLine]":
    """Every task; worlds and compiler are imported only where another package offers worlds."""
    from nematodebench.tasks.listing import TaskLine, task_lines

    if not entry_points(group="nematodebench.worlds"):
        return task_lines()
    from nematodebench.tasks.registry import all_tasks

    return [TaskLine(task.id, task.score_key, task.summary) for task in all_tasks().values()]
