"""Runs a brain through all environments, and beside it the null policy and brains that learn one environment alone.

A run is a run like any other (:mod:`nematodebench.engine.run`); after each environment copies of the brain are tested
on all of them, which changes nothing in the run. Every number is computed from the episode records.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench import scoring
from nematodebench.brains.registry import get_brain
from nematodebench.engine.executors import choose_executor, default_workers
from nematodebench.engine.run import RunResult, resolve_config
from nematodebench.engine.seeds import session_seed
from nematodebench.errors import UsageError
from nematodebench.measures.base import RunRecords
from nematodebench.records.run_files import RunFiles
from nematodebench.scoring import ContinualScore, EnvironmentTerms, ScoreAnchor
from nematodebench.sessions.begun import remember_sources
from nematodebench.sessions.execution import Progress, run_plan
from nematodebench.sessions.plan import Plan, check_body, dump_config
from nematodebench.sessions.recording import brain_source_hash
from nematodebench.sessions.session import Session
from nematodebench.sessions.twins import has_twin
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.base import Task
from nematodebench.tasks.continual import ORDER, continual_task, single_task

__all__ = [
    "NULL_RUNS", "NULL_SEED", "Anchors", "Continual", "Settings", "anchors_of", "continual_plan", "plan_of",
    "rewards_of", "run_continual", "run_scores", "threshold", "without_tests",
]  # fmt: skip

_NULL = "null_random"
NULL_RUNS = 400
NULL_SEED = 4
"""Runs of the null policy and their session seed: the same zero for every brain."""

Anchors = tuple[ScoreAnchor, ScoreAnchor]
"""Floor and ceiling of an environment."""


@dataclass(frozen=True)
class Settings:
    """What a brain has to go through.

    Attributes:
        order: Environments, in the order they are learned.
        episodes: Other numbers of episodes than the environments' own.
        probe_episodes: Episodes of each test of a copy; 0 for no tests, and then no transfer matrix.
        runs: Independent runs.
        seed: Session seed; a fresh one if None.
        workers: Runs at a time; all cores if None.
        executor: How runs are executed; chosen by the kind of brain if None.
        alone: Whether fresh brains also learn each environment alone, for forward transfer.
        twin: Whether the same brain also goes through everything with learning off.
    """

    order: tuple[str, ...] = ORDER
    episodes: Mapping[str, int] = field(default_factory=dict)
    probe_episodes: int = 10
    runs: int = 50
    seed: int | None = None
    workers: int | None = None
    executor: str | None = None
    alone: bool = True
    twin: bool = False


@dataclass(frozen=True)
class Continual:
    """The results: the sessions of the brain, of the null policy, of brains that learn alone, and of a twin."""

    settings: Settings
    anchors: dict[str, Anchors]
    session: Session
    null: Session
    alone: dict[str, Session]
    twin: Session | None = None

    @property
    def sessions(self) -> list[Session]:
        """All sessions."""
        return [self.session, self.null, *self.alone.values(), *([] if self.twin is None else [self.twin])]


def anchors_of(order: Sequence[str]) -> dict[str, Anchors]:
    """Measured floor and ceiling of each environment, from its task."""
    found = {}
    for name in order:
        anchors = load_anchors(single_task(name))
        if anchors is None:
            raise UsageError(f"{name}-v1 has no anchors. Run `nematodebench calibrate {name}-v1 --write`.")
        found[name] = (anchors.floor, anchors.ceiling)
    return found


def continual_plan(brain: str, config: dict[str, Any] | None, settings: Settings) -> Plan:
    """The plan of the session in which the brain goes through all environments."""
    task = continual_task(settings.order, settings.episodes, settings.probe_episodes)
    return plan_of(task, brain, config, session_seed(settings.seed), settings)


def run_continual(
    brain: str,
    config: dict[str, Any] | None,
    settings: Settings,
    progress: Progress | None = None,
    keep: Callable[[str], RunFiles | None] = lambda part: None,
) -> Continual:
    """Runs a brain, the null policy, and the brain on each environment alone, all with the same settings.

    Args:
        brain: Its name.
        config: Its parameters.
        settings: What it goes through.
        progress: Is kept up to date with the brain's own session.
        keep: Says where the runs of a part are kept as they end; those that are there are not executed again.
    """
    anchors, plan = anchors_of(settings.order), continual_plan(brain, config, settings)
    task, seed = without_tests(plan.task), plan.seed
    session = run_plan(plan, progress=progress, runs=keep("brain"))
    # The null policy takes less time than writing its runs down would.
    null = run_plan(plan_of(task, _NULL, None, NULL_SEED, replace(settings, runs=NULL_RUNS)))
    alone = {}
    for phase in task.phases if settings.alone else ():
        single = plan_of(single_task(phase.name).with_episodes(phase.episodes), brain, config, seed, settings)
        alone[phase.name] = run_plan(single, runs=keep(f"alone_{phase.name}"))
    twin = None
    if settings.twin and has_twin(plan):
        twin = run_plan(plan_of(task.untrained(), brain, config, seed, settings), runs=keep("twin"))
    return Continual(settings, anchors, session, null, alone, twin)


def plan_of(task: Task, brain: str, config: dict[str, Any] | None, seed: int, settings: Settings) -> Plan:
    """The plan of a session; only runs, workers and executor of the settings matter."""
    kind = get_brain(brain)
    workers = default_workers() if settings.workers is None else settings.workers
    if workers < 1 or settings.runs < 1:
        raise UsageError(f"workers is {workers} and runs {settings.runs}: give at least 1 each")
    resolved = resolve_config(brain, kind, config)
    executor = choose_executor(kind, settings.executor, workers)
    plan = Plan(
        task=task,
        brain_name=brain,
        brain=kind,
        config=resolved,
        seed=seed,
        runs=settings.runs,
        workers=workers,
        executor=executor,
        config_name="",
        config_text=json.dumps(dump_config(resolved), default=str),
        brain_sha256=brain_source_hash(kind),
    )
    remember_sources(plan)
    check_body(plan)
    return plan


def without_tests(task: Task) -> Task:
    """A continual task without the phases in which copies are tested."""
    return replace(task, phases=tuple(phase for phase in task.phases if phase.learns))


def rewards_of(task: Task, records: RunRecords, name: str) -> NDArray[np.float64]:
    """Episode rewards of one phase of a run."""
    phase = next(phase for phase in task.phases if phase.name == name)
    return records[name][:, phase.columns.index("reward")]


def _terms(task: Task, records: RunRecords, anchors: Mapping[str, Anchors]) -> dict[str, EnvironmentTerms]:
    """What each environment contributes to the scores of a run."""
    return {
        name: scoring.environment_terms(rewards_of(task, records, name), threshold(name, *pair), *pair)
        for name, pair in anchors.items()
    }


def threshold(name: str, floor: ScoreAnchor, ceiling: ScoreAnchor) -> float:
    """The reward from which an episode of an environment is a success."""
    return scoring.success_threshold(floor, ceiling, scoring.THRESHOLD_SHARES[name])


def run_scores(
    task: Task, result: RunResult, anchors: Mapping[str, Anchors], null: Mapping[str, float] | None = None
) -> dict[str, ContinualScore]:
    """A run's scores under every profile.

    Args:
        task: The continual task that it went through.
        result: Its records and, of a brain with an energy account, the descriptor ``energy_spent``.
        anchors: By environment.
        null: The null policy's primary score by profile.
    """
    terms = _terms(task, result.records, anchors)
    efficiency = _efficiency(terms, result.descriptors)
    return {
        profile: scoring.continual_score(terms, profile, efficiency, (null or {}).get(profile))
        for profile in scoring.PROFILES
    }


def _efficiency(terms: Mapping[str, EnvironmentTerms], descriptors: Mapping[str, float]) -> float | None:
    """Normalised reward per share of the energy budget spent; None without an energy account."""
    if "energy_spent" not in descriptors:
        return None
    weights = [scoring.ENVIRONMENT_WEIGHTS[name] for name in terms]
    rewards = [term.anchored_reward or 0.0 for term in terms.values()]
    reward = float(np.average(rewards, weights=weights))
    return scoring.energy_efficiency(reward, descriptors["energy_spent"], descriptors.get("energy_budget", 1.0))
