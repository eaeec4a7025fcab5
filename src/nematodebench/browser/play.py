"""What a page needs so that a newcomer trains a brain in it: cases of several tasks and brains, and their sliders.

A slider belongs to a parameter whose value stands, unchanged, in the constants of the brain's memory: the page puts
another number there. Which parameters these are is tried out, so that none is offered that does something else too.
"""

import math
from typing import Any

import numpy as np

from nematodebench.brains.registry import BrainType, get_brain
from nematodebench.browser.cases import can_execute, case, tables
from nematodebench.engine.spec import interface
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import get_task

__all__ = ["BRAINS", "TASKS", "blind_case", "play_data", "sliders"]

TASKS = ("foraging_small-v2", "predator_small-v2", "wall-v2", "pong-v2", "cartpole-v2", "tracking-v1")
BRAINS = ("mlp_ppo", "mlp_reinforce", "mlp_dqn", "q_table", "spiking_rstdp", "echo_state", "sorn")


def sliders(brain: BrainType, task: Task) -> list[dict[str, Any]]:
    """The parameters of a brain that a page can change, with place, range, default and description."""
    properties = brain.config.model_json_schema().get("properties", {})
    found = []
    for name, told in properties.items():
        space = told.get("search") or {}
        low, high = space.get("low", told.get("minimum")), space.get("high", told.get("maximum"))
        if told.get("type") != "number" or low is None or high is None:
            continue
        places = _places(brain, task, name, float(low), float(high))
        if places:
            found.append(
                {
                    "name": name,
                    "text": told.get("description", name),
                    "low": float(low),
                    "high": float(high),
                    "log": bool(space.get("log")) and low > 0,
                    "value": float(told["default"]),
                    "places": places,
                }
            )
    return found


def _places(brain: BrainType, task: Task, name: str, low: float, high: float) -> list[int]:
    """Where a parameter's value stands in the constants; nothing if it changes anything else as well."""
    body, layouts = interface(task), []
    values = (low, high, math.sqrt(low * high) if low > 0 else (low + high) / 3)
    for value in values:
        try:
            layouts.append(brain.layout(brain.config(**{name: value}), body))
        except ValueError:
            return []
    first = layouts[0]
    if any(not np.array_equal(first.ints, one.ints) or first.memory != one.memory for one in layouts):
        return []
    changed = np.flatnonzero(layouts[0].hyper != layouts[1].hyper)
    if any((one.hyper[changed] != value).any() for one, value in zip(layouts, values, strict=True)):
        return []
    return [int(place) for place in changed]


def blind_case(task: Task | str) -> dict[str, Any] | None:
    """The case of the best policy that ignores its input; None for a task whose best one is not known."""
    task = get_task(task) if isinstance(task, str) else task
    anchors = load_anchors(task)
    if anchors is None or anchors.blind is None:
        return None
    return case(task, "blind_cycle", {"segments": anchors.blind.segments})


def play_data(
    tasks: tuple[str, ...] = TASKS, brains: tuple[str, ...] = BRAINS
) -> tuple[dict[str, Any], dict[str, str]]:
    """What ``<nb-play>`` takes, and the tables of its cases."""
    data: dict[str, Any] = {"tasks": {}, "sliders": {}}
    shared: dict[str, str] = {}
    for name in tasks:
        task = get_task(name)
        shared |= tables(task)
        data["tasks"][task.id] = {
            "summary": task.summary,
            "null": case(task, "null_random"),
            "blind": blind_case(task),
            "brains": {brain: case(task, brain) for brain in brains if not can_execute(task, brain)},
        }
        for brain in brains:
            data["sliders"][f"{task.id}/{brain}"] = sliders(get_brain(brain), task)
    return data, shared
