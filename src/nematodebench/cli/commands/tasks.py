"""``nematodebench tasks``: what tasks there are, or one of them in full."""

from pathlib import Path
from typing import Annotated

import typer

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
    from nematodebench.cli.show import print_json, print_table
    from nematodebench.cli.task_page import published_boards, task_page
    from nematodebench.tasks.anchoring import load_anchors
    from nematodebench.tasks.registry import all_tasks, get_task

    if name is None:
        found = all_tasks()
        if json:
            print_json(
                [{"id": task.id, "summary": task.summary, "score_key": task.score_key} for task in found.values()]
            )
        else:
            print_table(["task", "score", "what it asks"], [[t.id, t.score_key, t.summary] for t in found.values()])
        return
    task = get_task(name)
    anchors = load_anchors(task)
    if json:
        print_json({**task.spec(), "spec_hash": task.spec_hash, "anchors": None if anchors is None else vars(anchors)})
        return
    print("\n".join(task_page(task, published_boards(root).get(task.id))))
