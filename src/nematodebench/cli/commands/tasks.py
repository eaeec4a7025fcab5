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
    earlier: Annotated[bool, typer.Option("--all", help="list earlier versions too")] = False,
    json: Annotated[bool, typer.Option("--json", help="for machines; lists all versions")] = False,
) -> None:
    """Lists the tasks; NAME shows one: what it measures, what its scores are read against, its body and worlds."""
    if name is None:
        _print_list(earlier=earlier, json=json)
        return
    from nematodebench.cli.printing import print_json, print_page
    from nematodebench.cli.task_page import published_boards, task_page
    from nematodebench.tasks.anchoring import load_anchors
    from nematodebench.tasks.registry import get_task

    task = get_task(name)
    anchors = load_anchors(task)
    if json:
        print_json({**task.spec(), "spec_hash": task.spec_hash, "anchors": None if anchors is None else vars(anchors)})
        return
    published = (root / "benchmarks").is_dir()
    print_page(task_page(task, published_boards(root).get(task.id), published=published))


def _print_list(*, earlier: bool, json: bool) -> None:
    """The newest version of every task, with ``earlier`` or as JSON every version."""
    from nematodebench.cli.printing import print_json, print_table
    from nematodebench.tasks.listing import newest_versions

    lines = _all_lines()
    newest = newest_versions(line.id for line in lines)
    if json:
        print_json([{**line._asdict(), "newest": line.id in newest} for line in lines])
        return
    shown = lines if earlier else [line for line in lines if line.id in newest]
    print_table(["task", "score", "what it asks"], shown)
    if len(shown) < len(lines):
        print(f"\n{len(lines) - len(shown)} earlier versions stay runnable: nematodebench tasks --all lists them")


def _all_lines() -> "list[TaskLine]":
    """Every task; worlds and compiler are imported only where another package offers worlds."""
    from nematodebench.tasks.listing import TaskLine, task_lines

    if not entry_points(group="nematodebench.worlds"):
        return task_lines()
    from nematodebench.tasks.registry import all_tasks

    return [TaskLine(task.id, task.score_key, task.summary) for task in all_tasks().values()]
