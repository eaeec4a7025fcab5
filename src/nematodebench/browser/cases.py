"""A case: everything that a page needs to execute the runs of one task, brain and config, as plain JSON.

A run of it is then a seed: that of the run, or a session's seed and the run's number, from which the page derives it.
Long tables of worlds stand apart, named by their hash, so that the cases of a page share them:

>>> from nematodebench.browser.cases import case, tables
>>> one = case("foraging_small-v1", "mlp_ppo")
>>> sorted(tables("foraging_small-v1")) == [world["params"] for world in one["worlds"]]
True
"""

import base64
import gzip
import hashlib
import json
from functools import cache
from typing import Any

import numpy as np

from nematodebench.brains.configs import resolve_config
from nematodebench.brains.registry import get_brain, is_built_in, is_compiled, without_learning
from nematodebench.browser.arrays import fields_of, learned_arrays
from nematodebench.browser.extract import NOTHING, WORLD_FUNCTIONS, function_key
from nematodebench.browser.sources import BUILT
from nematodebench.engine.spec import interface
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import Outcome
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.base import World

__all__ = ["FORMAT", "can_execute", "case", "run_of", "tables"]

FORMAT = 1


@cache
def _built() -> frozenset[str]:
    """The kernels that the modules have."""
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    return frozenset(manifest["kernels"])


def can_execute(task: Task | str, brain: str) -> str:
    """Empty if a page can execute this brain on this task; otherwise the reason why not, in words."""
    if not is_built_in(brain):
        return f"brain {brain!r} is not part of NematodeBench"
    kind = get_brain(brain)
    if not is_compiled(kind):
        return f"brain {brain!r} is written in Python and has no compiled functions"
    task = get_task(task) if isinstance(task, str) else task
    for world in task.worlds:
        if function_key(world.reset) not in _built() or function_key(world.step) not in _built():
            return f"world {world.name!r} is not part of NematodeBench"
    return ""


def _packed(values: np.ndarray[Any, Any]) -> str:
    """Numbers as text: their bytes, compressed, in base64."""
    return base64.b64encode(gzip.compress(values.astype(values.dtype.newbyteorder("<")).tobytes(), 9, mtime=0)).decode()


def _table_key(world: World) -> str:
    return hashlib.sha256(world.packed.astype("<f8").tobytes()).hexdigest()[:16]


def tables(task: Task | str) -> dict[str, str]:
    """The packed parameters of a task's worlds by the names that its cases use."""
    task = get_task(task) if isinstance(task, str) else task
    return {_table_key(world): _packed(world.packed) for world in task.worlds}


def _world(world: World) -> dict[str, Any]:
    params = world.memory.params(world.packed)
    functions = {kind: getattr(world, kind, None) for kind in WORLD_FUNCTIONS}
    found = {kind: function_key(function) for kind, function in functions.items() if function is not None}
    return {
        "name": world.name,
        "params": _table_key(world),
        "state": world.memory.state.count(params),
        "out": len(Outcome.singles) + world.agents + len(world.metrics),
        **{kind: key for kind, key in found.items() if key in _built()},
        "picture": world.picture().data(),
        "metrics": list(world.metrics),
        "terminations": list(world.terminations),
    }


def _phase(phase: Phase, worlds: list[World]) -> dict[str, Any]:
    return {
        "name": phase.name,
        "world": worlds.index(phase.world),
        "episodes": phase.episodes,
        "ticks": phase.ticks,
        "learns": phase.learns,
        "columns": list(phase.columns),
    }


def _brain(name: str, config: Any, task: Task) -> dict[str, Any]:
    kind, body = get_brain(name), interface(task)
    used = config if task.learning else without_learning(kind, config)
    layout = kind.layout(used, body)
    return {
        "name": name,
        "config": config.model_dump(mode="json"),
        "init": function_key(kind.init),
        "begin_episode": function_key(kind.begin_episode),
        "act": function_key(kind.act),
        "learn": function_key(kind.learn) if task.learning else NOTHING,
        "hyper": layout.hyper.tolist(),
        "ints": layout.ints.tolist(),
        "memory": layout.memory,
        "fields": list(fields_of(kind.memory, layout)),
        "learned": list(learned_arrays(kind.memory, layout)),
    }


def case(task: Task | str, brain: str, config: Any = None) -> dict[str, Any]:
    """What a page needs to execute any run of a brain on a task.

    Args:
        task: The task, or its id.
        brain: The name of a compiled brain of this package.
        config: Its parameters as a mapping or a config; None for the defaults.

    Raises:
        UsageError: The modules cannot execute it; the message says why.
    """
    task = get_task(task) if isinstance(task, str) else task
    if why := can_execute(task, brain):
        raise UsageError(f"A page cannot execute {brain} on {task.id}: {why}.")
    kind, body = get_brain(brain), interface(task)
    resolved = config if isinstance(config, kind.config) else resolve_config(brain, kind, dict(config or {}))
    worlds = list(dict.fromkeys(phase.world for phase in task.phases))
    return {
        "format": FORMAT,
        "task": task.id,
        "scored": task.scored,
        "agents": task.world.agents,
        "inputs": body.inputs,
        "sensors": list(body.sensors),
        "choices": body.choices,
        "choice_names": list(body.choice_names),
        "effectors": [] if body.choices else list(task.world.actions.names),
        "action_width": body.action_width,
        "brain": _brain(brain, resolved, task),
        "worlds": [_world(world) for world in worlds],
        "phases": [_phase(phase, worlds) for phase in task.phases],
    }


def run_of(result: Any, session: int | None = None) -> dict[str, Any]:
    """What a page compares a run with: seed, number and both hashes of a run that was executed here."""
    return {
        "run": result.index,
        "session": session,
        "seed": str(result.seed),
        "record_hash": result.record_hash,
        "memory_hash": result.memory_hash,
    }
