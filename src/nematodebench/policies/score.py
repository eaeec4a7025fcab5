"""Scores frozen policies: the runs, anchors and intervals are those of a session, and nothing is learned in it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nematodebench.brains.registry import importable_elsewhere, name_of
from nematodebench.errors import UsageError
from nematodebench.policies.frozen import FrozenPolicy, frozen_function
from nematodebench.policies.reading import is_spiking, source_hash
from nematodebench.sessions.config import session_config
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import Plan, make_plan
from nematodebench.sessions.session import Session
from nematodebench.tasks.registry import get_task

__all__ = ["ScoreOptions", "score", "score_plan"]


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """How a policy is scored; :func:`score` says what each of them is."""

    runs: int = 50
    episodes: int | None = None
    seed: int | None = None
    sample: bool = False
    dt: float | None = None
    steps: int | None = None
    workers: int | None = None
    executor: str | None = None


def score_plan(policy: str | os.PathLike[str] | Callable[[Any], Any], task: str, options: ScoreOptions) -> Plan:
    """The session that scores a policy; what is wrong with the policy is found here, before anything runs."""
    name, config = _brain_of(policy, options)
    found = get_task(task)
    given = session_config({
        "task": found.untrained().id if found.learning else found.id, "brain": name, "config": config,
        "runs": options.runs, "episodes": options.episodes, "seed": options.seed,
    })  # fmt: skip
    return make_plan(given, workers=options.workers, executor=options.executor)


def score(
    policy: str | os.PathLike[str] | Callable[[Any], Any],
    task: str,
    runs: int = 50,
    episodes: int | None = None,
    seed: int | None = None,
    *,
    sample: bool = False,
    dt: float | None = None,
    steps: int | None = None,
    workers: int | None = None,
) -> Session:
    """Measures a policy that was trained elsewhere on a task, with learning off.

    Args:
        policy: A function from an observation to an action, ``module:function``, ``file.py:function``, or a file: a
            stable-baselines3 zip, ONNX, TorchScript, or a NIR graph.
        task: Id of the task, like ``foraging_small-v2``.
        runs: Independent runs.
        episodes: Episodes a run, if not the task's own number.
        seed: Session seed; a fresh one if not given.
        sample: Draw actions from the policy's probabilities; otherwise the most probable action is taken.
        dt: Of a NIR graph, the seconds of a step.
        steps: Of a NIR graph, its steps for each tick of the world.
        workers: Runs at a time; all cores if not given.
    """
    options = ScoreOptions(
        runs=runs, episodes=episodes, seed=seed, sample=sample, dt=dt, steps=steps, workers=workers
    )  # fmt: skip
    return run_plan(score_plan(policy, task, options))


def _brain_of(policy: Any, options: ScoreOptions) -> tuple[str, dict[str, Any]]:
    """The name and the config of the brain that a policy becomes."""
    source = os.fspath(policy) if isinstance(policy, str | os.PathLike) else _importable_as(policy)
    chosen = {"dt": options.dt, "steps": options.steps}
    given = {key: value for key, value in chosen.items() if value is not None}
    if source is None:
        if given or options.sample:
            raise UsageError("A function returns the action itself: leave out sample, dt and steps.")
        return name_of(frozen_function(policy)), {}
    if given and not is_spiking(source):
        raise UsageError(f"{source} is no NIR graph: leave out dt and steps, which are of spiking networks.")
    return name_of(FrozenPolicy), {
        "policy": source, "sha256": source_hash(source), "sample": options.sample, **given,
    }  # fmt: skip


def _importable_as(policy: Any) -> str | None:
    """``module:function`` where another process can import it by that; None for what exists in this one alone."""
    if not callable(policy):
        raise UsageError(
            f"A policy is a file, the name of a function, or a callable; this is a {type(policy).__name__}."
        )
    if isinstance(policy, type):
        raise UsageError(f"{policy.__qualname__} is a class, and a policy is a function. A class is a brain: nb.run.")
    module, name = getattr(policy, "__module__", None), getattr(policy, "__qualname__", "")
    if module in {None, "__main__"} or not str(name).isidentifier() or not importable_elsewhere(policy):
        return None
    return f"{module}:{name}"
