"""Searches the best policy that ignores its input, among constant actions and short cycles of them.

The search begins with a grid of constants and with random cycles. In each round it varies the best ones, and the last
round has many runs. Every round has seeds of its own, so that a lucky policy does not stay lucky. Of policies that are
equally good the search takes the simplest.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.scripted.blind_cycle import BlindCycle, BlindCycleConfig
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.run import RunSpec, compile_for, interface
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.tasks.base import Task

__all__ = ["Cycle", "describe", "search"]

Cycle: TypeAlias = tuple[tuple[float, ...], ...]
"""Segments as the brain ``blind_cycle`` takes them: ticks, then the action."""

_RANDOM, _RANDOM_TICKS = (300, 2000), 2e7
"""Random cycles to begin with: at least and at most, and how many ticks they may take together."""
_MAX_SEGMENTS = 6
_GRIDS = {2: (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0), 3: (0.0, 0.1, 0.5, 1.0)}
_ROUNDS = ((1, 16, 0), (2, 8, 4), (2, 8, 8), (2, 8, 8), (2, 8, 8), (2, 8, 8), (3, 6, 8))
"""Of each round: runs of every policy, how many are kept, how many variations of each are tried with it."""
_LAST_RUNS = 16
_EPISODES = 40


class _Proposals:
    """Draws and varies cycles for one task's body."""

    def __init__(self, task: Task, generator: np.random.Generator) -> None:
        self._body = interface(task)
        self._generator = generator
        self._longest = task.world.horizon // 2
        ticks = task.scored_phase.episodes * task.world.horizon * task.world.agents
        self._count = int(np.clip(_RANDOM_TICKS / ticks, *_RANDOM))

    def constants(self) -> list[Cycle]:
        """Every action, or a grid of effector levels."""
        if self._body.choices:
            return [((1.0, float(choice)),) for choice in range(self._body.choices)]
        levels = _GRIDS.get(self._body.effectors, (0.0, 1.0))
        grid = np.stack(np.meshgrid(*[levels] * self._body.effectors), axis=-1).reshape(-1, self._body.effectors)
        return [((1.0, *map(float, row)),) for row in grid]

    def randoms(self) -> list[Cycle]:
        """Draws as many random cycles as can be tried in reasonable time."""
        return [self._random() for _ in range(self._count)]

    def _random(self) -> Cycle:
        """Draws segments of any length up to half an episode, or a movement that is interrupted again and again."""
        if self._generator.random() < 0.3:
            return (self._segment(), (float(self._generator.integers(1, 6)), *self._segment()[1:]))
        return tuple(self._segment() for _ in range(self._generator.integers(2, _MAX_SEGMENTS + 1)))

    def vary(self, cycle: Cycle) -> Cycle:
        """Adds or removes a segment, or changes how long one lasts or what it does."""
        segments, at = list(cycle), int(self._generator.integers(len(cycle)))
        what = self._generator.random()
        if what < 0.15 and len(segments) < _MAX_SEGMENTS:
            segments.insert(at, self._segment())
        elif what < 0.3 and len(segments) > 1:
            del segments[at]
        elif what < 0.65 and len(segments) > 1:
            segments[at] = (self._near_ticks(segments[at][0]), *segments[at][1:])
        else:
            segments[at] = (segments[at][0], *self._near_levels(segments[at][1:]))
        return tuple(segments)

    def _segment(self) -> tuple[float, ...]:
        ticks = float(np.floor(np.exp(self._generator.uniform(0.0, np.log(self._longest + 1.0)))))
        if self._body.choices:
            return (ticks, float(self._generator.integers(self._body.choices)))
        if self._generator.random() < 0.5:
            return (ticks, *(self._level() for _ in range(self._body.effectors)))
        # Effectors often work against each other: nearly equal ones make slow, smooth movements.
        common = np.exp(self._generator.uniform(np.log(0.01), 0.0))
        levels = common * np.exp(self._generator.normal(0.0, 0.2, self._body.effectors))
        return (ticks, *_round(levels))

    def _level(self) -> float:
        """Draws a level that is often an extreme, often small, and otherwise any number."""
        kind = self._generator.random()
        if kind < 0.3:
            return float(self._generator.integers(2))
        low = self._generator.uniform(0.0, 0.2 if kind < 0.6 else 1.0)
        return round(float(low), 3)

    def _near_ticks(self, ticks: float) -> float:
        wanted = ticks * np.exp(self._generator.normal(0.0, 0.3)) + self._generator.integers(-1, 2)
        return float(np.clip(np.rint(wanted), 1, self._longest))

    def _near_levels(self, levels: tuple[float, ...]) -> tuple[float, ...]:
        if self._body.choices:
            return (float(self._generator.integers(self._body.choices)),)
        moved = np.array(levels) * np.exp(self._generator.normal(0.0, 0.2, len(levels)))
        moved += self._generator.normal(0.0, 0.02, len(levels)) * (self._generator.random() < 0.5)
        return _round(moved)


def _round(levels: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(level), 3) for level in np.clip(levels, 0.0, 1.0))


def search(task: Task, seed: int, workers: int) -> Cycle:
    """Searches the best cycle. The same seed gives the same cycle."""
    short = task.untrained() if task.trains_first else task.with_episodes(min(_EPISODES, task.phases[0].episodes))
    compile_for(short, BlindCycle)
    proposals = _Proposals(short, np.random.default_rng(seed))
    constants = proposals.constants()
    pool = constants + proposals.randoms()
    used = 0
    for runs, kept, variations in _ROUNDS:
        pool += [proposals.vary(cycle) for cycle in pool for _ in range(variations)]
        pool = list(dict.fromkeys(_merge(cycle) for cycle in pool))
        scores = _scores(short, pool, [run_seed(seed, used + k) for k in range(runs)], workers)
        used += runs
        ranked = [pool[k] for k in np.argsort(-scores.mean(axis=1), kind="stable")]
        constant = next((cycle for cycle in ranked if len(cycle) == 1), constants[0])
        pool = list(dict.fromkeys([*ranked[:kept], constant]))
    return _simplest(pool, _scores(short, pool, [run_seed(seed, used + k) for k in range(_LAST_RUNS)], workers))


def _simplest(pool: Sequence[Cycle], scores: NDArray[np.float64]) -> Cycle:
    """The cycle of fewest segments among those within two standard errors of the best; the better of equals."""
    means, errors = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    best = int(means.argmax())
    good = [k for k in range(len(pool)) if means[k] >= means[best] - 2.0 * np.hypot(errors[k], errors[best])]
    return pool[min(good, key=lambda k: (len(pool[k]), -means[k]))]


def _merge(cycle: Cycle) -> Cycle:
    """Joins neighbouring segments of the same action; a constant action lasts one tick."""
    merged = [cycle[0]]
    for segment in cycle[1:]:
        if segment[1:] == merged[-1][1:]:
            merged[-1] = (merged[-1][0] + segment[0], *segment[1:])
        else:
            merged.append(segment)
    return tuple(merged) if len(merged) > 1 else ((1.0, *merged[0][1:]),)


def _scores(task: Task, cycles: Sequence[Cycle], seeds: Sequence[int], workers: int) -> NDArray[np.float64]:
    """Scores every cycle (rows) on the runs of these seeds (columns)."""
    specs = [
        RunSpec(task, BlindCycle.name, BlindCycle, BlindCycleConfig(segments=cycle), seed, n * len(seeds) + k)
        for n, cycle in enumerate(cycles)
        for k, seed in enumerate(seeds)
    ]
    results = {result.index: result for result in execute_all(specs, "threads", workers, Watch())}
    failed = [result for result in results.values() if result.failure is not None]
    if failed:
        raise UsageError(f"{len(failed)} runs of the search on {task.id} failed.")
    ordered = [results[index].records for index in range(len(specs))]
    parts = (ordered[n * len(seeds) : (n + 1) * len(seeds)] for n in range(len(cycles)))
    return np.array([[row[task.score_key] for row in task.measure(part).runs] for part in parts], dtype=np.float64)


def describe(task: Task, cycle: Cycle) -> str:
    """Describes a cycle in words."""
    parts = [f"{ticks:g} x ({_action(task, levels)})" for ticks, *levels in cycle]
    return f"constant ({_action(task, cycle[0][1:])})" if len(cycle) == 1 else "cycle of " + ", ".join(parts)


def _action(task: Task, levels: Sequence[float]) -> str:
    names = task.world.actions.names
    if not task.discrete:
        return ", ".join(f"{name} {level:g}" for name, level in zip(names, levels, strict=True))
    choice = int(levels[0])
    return names[choice] if choice < len(names) else f"surplus action {choice}"
