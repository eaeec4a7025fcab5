"""``nematodebench tasks``: what tasks there are, or one of them in full."""

import inspect
from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="tasks")(tasks)


def tasks(
    name: Annotated[str | None, typer.Argument(help="a task, to see all of it")] = None,
    json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """Lists the tasks; NAME shows one with its world's specification and anchors."""
    from nematodebench.cli.show import print_json, print_table
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
    print(f"{task.id}: {task.summary}\nscore: {task.score_key} ({task.scoring.name}), spec {task.spec_hash[:12]}\n")
    for phase in task.phases:
        length = f"{phase.episodes} episodes" if phase.episodes else f"{phase.ticks} ticks"
        print(f"phase {phase.name}: {length} in world {phase.world.name}")
        print_table(["parameter", "value"], [[k, str(v)] for k, v in phase.world.spec().items() if k != "world"])
        print()
    print(inspect.getdoc(type(task.world)))
    if anchors is not None:
        print(f"\nfloor {anchors.floor.value:.4f}: {anchors.floor.provenance}")
        print(f"ceiling {anchors.ceiling.value:.4f}: {anchors.ceiling.provenance}")
        if anchors.reference is not None:
            print(f"reference {anchors.reference.value:.4f}: {anchors.reference.provenance}")
        if anchors.blind is not None:
            print(f"best input-blind policy {anchors.blind.value:.4f}: {anchors.blind.policy}")
