"""Finds tasks by id. Every module of this package that has a tuple ``TASKS`` contributes; there is no other list.

A world of :mod:`nematodebench.worlds` that no task uses yet is offered as a task of its own, ``<name>-v0``.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from nematodebench.errors import UsageError, unknown_name
from nematodebench.imports import class_wanted, import_class
from nematodebench.measures.anchored import ANCHORED
from nematodebench.tasks.base import Phase, Task, trained_id
from nematodebench.worlds.base import World

__all__ = ["all_tasks", "built_in_tasks", "get_task", "list_tasks", "register_task", "register_world"]

_PACKAGE = "nematodebench.tasks"
_WORLDS = "nematodebench.worlds"
_ALIASES: dict[str, str] = {}
_REGISTERED: dict[str, Task] = {}


@cache
def built_in_tasks() -> dict[str, Task]:
    """The tasks of this package, by id. A module without ``TASKS`` is a helper."""
    found: dict[str, Task] = {}
    package: Any = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        content = importlib.import_module(f"{_PACKAGE}.{module.name}")
        found.update({task.id: task for task in getattr(content, "TASKS", ())})
        _ALIASES.update(getattr(content, "ALIASES", {}))
    return {**_worlds_without_task(found), **found}


def _worlds_without_task(tasks: dict[str, Task]) -> dict[str, Task]:
    """The worlds of this library that none of the tasks uses, each as version 0 of a task of its own."""
    used = {phase.world.name for task in tasks.values() for phase in task.phases}
    package: Any = importlib.import_module(_WORLDS)
    for module in pkgutil.walk_packages(package.__path__, f"{_WORLDS}."):
        importlib.import_module(module.name)
    new = [kind for kind in _descendants(World) if kind.__module__.startswith(_WORLDS) and "name" in vars(kind)]
    return {task.id: task for task in (world_task(kind()) for kind in new if kind.name not in used)}


def _descendants(kind: type[World]) -> list[type[World]]:
    return [found for child in kind.__subclasses__() for found in (child, *_descendants(child))]


@cache
def _installed_tasks() -> dict[str, Task]:
    """The tasks of worlds that other packages offer."""
    tasks = [world_task(point.load()) for point in entry_points(group="nematodebench.worlds")]
    return {task.id: task for task in tasks}


def all_tasks() -> dict[str, Task]:
    """Every task there is, by id. A world of another package cannot take the place of a built-in task."""
    built_in = built_in_tasks()
    others = {name: task for name, task in _installed_tasks().items() if name not in built_in}
    return {**built_in, **others, **_REGISTERED}


def list_tasks() -> list[str]:
    """Ids of all tasks."""
    return list(all_tasks())


def get_task(name: str) -> Task:
    """The task of this id; an alias or an id without its version (meaning the latest) will do.

    ``pong_untrained-v1`` is ``pong-v1`` with learning off; ``file.py:Class`` is a world of your own.
    """
    if not isinstance(name, str):
        raise UsageError(f"A task is given by its id, like 'foraging_small-v2'; this is a {type(name).__name__}.")
    tasks = all_tasks()
    name = _ALIASES.get(name, name)
    if name in tasks:
        return tasks[name]
    trained = trained_id(name)
    if trained in tasks:
        return tasks[trained].untrained()
    versions = [task for task in tasks.values() if task.category == name]
    if versions:
        return max(versions, key=lambda task: task.version)
    if ":" in name:
        return _task_of_class(name)
    if name.endswith(".py"):
        raise UsageError(class_wanted(name))
    raise unknown_name("task", name, [*tasks, *_ALIASES])


def _task_of_class(name: str) -> Task:
    """A world of a file or module of one's own, as version 0 of a task; this process finds it by its id too."""
    kind = import_class("World", name)
    if not inspect.isclass(kind) or not issubclass(kind, World):
        raise UsageError(f"{name} is not a world. The task comes first: nematodebench run TASK {name}.")
    task = world_task(kind())
    if task.id in built_in_tasks():
        raise UsageError(f"{name} is called {kind.name!r}, and there is a task {task.id!r}. Choose another name.")
    _REGISTERED[task.id] = task
    return task


def register_task(task: Task) -> Task:
    """Adds a task for this process."""
    if task.id in all_tasks():
        raise UsageError(f"Task {task.id!r} exists already. Give a changed task a new version.")
    _REGISTERED[task.id] = task
    return task


def world_task(world: World, episodes: int = 100, score_key: str = "reward") -> Task:
    """A world from outside as a task of its own, version 0: scored by the mean of one metric, without anchors."""
    if score_key not in {"reward", *world.metrics}:
        raise UsageError(
            f"World {world.name!r} has no metric {score_key!r}: it has {', '.join(world.metrics) or 'none'}."
        )
    phase = Phase("train", world, episodes=episodes)
    return Task(
        f"{world.name}-v0", f"world {world.name}, not yet part of a task", (phase,), "train", ANCHORED, score_key
    )


def register_world(world: World, episodes: int = 100, score_key: str = "reward") -> Task:
    """Makes a world of your own runnable in this process, as task ``<name>-v0``."""
    return register_task(world_task(world, episodes, score_key))
