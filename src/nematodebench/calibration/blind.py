"""Searches the best policy that ignores its input, with a stated budget.

The search begins with families of policies that can be listed (:mod:`nematodebench.calibration.proposals`) and with
random ones, and halves them until few are left. Where a body chooses among actions, walks are planned besides
(:mod:`nematodebench.calibration.walks`). Then it varies the best ones, generation after generation. It does that
several times, each time but the first from other random policies. Every round has seeds of its own, and what was kept
is played again on them, so that a lucky policy does not stay lucky. The best of all are compared in many more runs; of
policies that are equally good the search takes the simplest. Whoever publishes the result measures it on other seeds.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nematodebench.calibration.proposals import Proposals, merged
from nematodebench.calibration.rollouts import Cycle, Rollouts
from nematodebench.calibration.walks import plan_size, plan_walks
from nematodebench.engine.seeds import run_seed
from nematodebench.tasks.base import Task

__all__ = ["Cycle", "Found", "describe", "search", "search_budget", "shortened"]

_TICKS, _EPISODES = 8e7, (8000, 400_000)
"""What a search may play: ticks if its episodes last as long as they can, and episodes at least and at most."""
_OPENING, _RESTART_OPENING, _FINAL = 0.3, 0.04, 0.1
"""Shares of the budget: the families, the beginning of every restart, the last comparison. Evolution has the rest."""
_PLANNING = 0.15
"""Share of the budget for planned walks, where there are any; so much less is left to evolution."""
_RESTARTS = 4
_PARENTS, _CHILDREN, _RUNS, _KEPT = 6, 24, 2, 12
_FINALISTS = 4
_SHOWN_SEGMENTS = 8


@dataclass(frozen=True)
class Found:
    """A policy with what the search for it cost."""

    cycle: Cycle
    seed: int
    policies: int
    episodes: int
    ticks: int

    @property
    def budget(self) -> str:
        """The search in one line."""
        return (
            f"search with seed {self.seed}: {self.policies:,} policies played, {self.episodes:,} episodes, "
            f"{self.ticks:,} ticks, {_RESTARTS} restarts"
        )


@dataclass
class _Pool:
    """Policies with all the scores they ever had in this search."""

    rollouts: Rollouts
    seeds: Iterator[int]
    played: dict[Cycle, list[float]] = field(default_factory=dict)

    def play(self, cycles: Sequence[Cycle], runs: int) -> None:
        """Plays policies in runs that nobody played before."""
        seeds = list(itertools.islice(self.seeds, runs))
        for cycle, scores in zip(cycles, self.rollouts.scores(cycles, seeds), strict=True):
            self.played.setdefault(cycle, []).extend(scores.tolist())

    def best(self, cycles: Sequence[Cycle], count: int) -> list[Cycle]:
        """The policies with the highest means; few runs count for less."""
        means = np.array([np.mean(self.played[cycle]) for cycle in cycles])
        runs = np.array([len(self.played[cycle]) for cycle in cycles])
        noise = float(np.median([np.std(self.played[cycle]) for cycle in cycles]))
        order = np.argsort(-(means - 0.5 * noise / np.sqrt(runs)), kind="stable")
        return [cycles[k] for k in order[:count]]


def search_budget(task: Task) -> int:
    """Episodes that a search may play. Agents that see one another cost as many times more."""
    return int(np.clip(_TICKS / task.world.horizon, *_EPISODES) / task.world.agents**2)


def search(task: Task, seed: int, workers: int, budget: int = 0) -> Found:
    """Searches the best cycle. The same seed and budget (in episodes) give the same cycle."""
    rollouts = Rollouts(task, workers)
    proposals = Proposals(rollouts.body, task.world.horizon, np.random.default_rng(seed))
    pool = _Pool(rollouts, (run_seed(seed, k) for k in itertools.count()))
    budget = budget or search_budget(task)
    share = (1.0 - _FINAL) * budget
    planned = _plan(pool, _PLANNING * share) if rollouts.body.choices else []
    finalists = planned[:_FINALISTS]
    varied = 1.0 - _OPENING - (_RESTARTS - 1) * _RESTART_OPENING - (_PLANNING if planned else 0.0)
    for restart in range(_RESTARTS):
        size = int((_OPENING if restart == 0 else _RESTART_OPENING) * budget / rollouts.run_episodes / 2.0)
        begin = proposals.opening(size, listed=restart == 0)
        kept = _halve(pool, [*planned, *begin] if restart == 0 else begin)
        finalists += _evolve(pool, proposals, kept, rollouts.episodes + varied * share / _RESTARTS)[:_FINALISTS]
    constants = pool.best([cycle for cycle in proposals.constants() if cycle in pool.played], 1)
    finalists = list(dict.fromkeys([*finalists, *constants]))
    runs = max(8, int(_FINAL * budget / rollouts.run_episodes / len(finalists)))
    scores = rollouts.scores(finalists, list(itertools.islice(pool.seeds, runs)))
    return Found(_simplest(finalists, scores), seed, rollouts.policies, rollouts.episodes, rollouts.ticks)


def _plan(pool: _Pool, episodes: float) -> list[Cycle]:
    """Walks that are planned with so many episodes' ticks."""
    rollouts, world = pool.rollouts, pool.rollouts.task.world
    width, worlds = plan_size(world, int(episodes * world.horizon))
    plan = plan_walks(world, list(itertools.islice(pool.seeds, worlds)), width)
    rollouts.ticks += plan.ticks
    rollouts.episodes += plan.ticks // world.horizon
    return list(dict.fromkeys(merged(walk) for walk in plan.walks))


def _halve(pool: _Pool, cycles: list[Cycle]) -> list[Cycle]:
    """Plays all, then the better third again, until a generation's worth is left."""
    runs = 1
    while True:
        pool.play(cycles, runs)
        if len(cycles) <= 2 * _KEPT:
            return pool.best(cycles, _KEPT)
        cycles, runs = pool.best(cycles, max(2 * _KEPT, len(cycles) // 3)), min(runs + 1, 4)


def _evolve(pool: _Pool, proposals: Proposals, kept: list[Cycle], until: float) -> list[Cycle]:
    """Varies the best until the episodes are used up; what is kept is played again with its variations."""
    while pool.rollouts.episodes < until:
        parents = pool.best(kept, _PARENTS)
        children = [proposals.vary(parents[k % len(parents)]) for k in range(_CHILDREN)]
        generation = list(dict.fromkeys([*kept, *children]))
        pool.play(generation, _RUNS)
        kept = pool.best(generation, _KEPT)
    return kept


def _simplest(pool: Sequence[Cycle], scores: NDArray[np.float64]) -> Cycle:
    """The cycle of fewest segments among those within two standard errors of the best; the better of equals."""
    means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    best = int(means.argmax())
    good = [k for k in range(len(pool)) if means[k] >= means[best] - 2.0 * np.hypot(errors[k], errors[best])]
    return pool[min(good, key=lambda k: (len(pool[k]), -means[k]))]


def describe(task: Task, cycle: Cycle) -> str:
    """Describes a cycle in words."""
    if len(cycle) == 1:
        return f"constant ({_action(task, cycle[0][1:])})"
    shown = ", ".join(f"{ticks:g} x ({_action(task, levels)})" for ticks, *levels in cycle[:_SHOWN_SEGMENTS])
    more = f", ... ({len(cycle)} segments, {sum(segment[0] for segment in cycle):g} ticks)"
    return f"cycle of {shown}{more if shortened(cycle) else ''}"


def shortened(cycle: Cycle) -> bool:
    """Whether a cycle is too long to be described as a whole."""
    return len(cycle) > _SHOWN_SEGMENTS


def _action(task: Task, levels: Sequence[float]) -> str:
    names = task.world.actions.names
    if not task.discrete:
        return ", ".join(f"{name} {level:g}" for name, level in zip(names, levels, strict=False))
    choice = int(levels[0]) if levels else 0
    return names[choice] if choice < len(names) else f"surplus action {choice}"
