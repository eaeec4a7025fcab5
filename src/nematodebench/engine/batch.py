"""Batched Python brains: one object acts and learns for many independent runs, whose worlds step in one compiled call.

A brain's class may name a second class in ``batched``, which does for many runs what the brain does for one. It is
built from the same spaces and config with a seed for every lane, and has:

| method | when it is called |
|---|---|
| ``begin_batch(lanes)`` | the given lanes (a mask) begin an episode |
| ``act_batch(observations, lanes)`` | before a step; returns actions, of which only those of the mask count |
| ``learn_batch(transitions)`` | after a step; lanes outside of the mask must stay as they are |
| ``memory_of(lane)`` | optional, at the end: the bytes that ``memory()`` of the plain brain returns |

The number of lanes is fixed (``lanes`` of the class), and lanes that no run needs are idle, so that a library sees the
same shapes whoever else is in the batch. **The plain class is what a run is**: before a batch is used, a trial compares
its bits with those of the plain class, and if they differ, every run goes by itself.
"""

import copy
import hashlib
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import without_learning
from nematodebench.engine import loop
from nematodebench.engine.agents import PROBE_STREAM
from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.lanes import FINISHED, RUNNING, Lane, Lanes
from nematodebench.engine.limits import time_limit
from nematodebench.engine.python_brain import global_generators_kept, seed_everything, spaces_of
from nematodebench.engine.run import RunSpec, execute, interface, record_hash
from nematodebench.engine.seeds import brain_seed
from nematodebench.engine.watching import Watch
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import Outcome
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["LANES", "Group", "Transitions", "batch_size", "execute_batch", "in_groups"]

Group: TypeAlias = tuple[RunSpec, ...]
"""Runs that are executed side by side."""
LANES = 64
"""Lanes of a batched class that does not say how many it has."""
_TRIAL_TICKS = 400
_EPISODE = Lane.singles["episode"]
_LOOK = 32
"""Ticks after which somebody who asks the runs to stop is heard: a few milliseconds."""


class Transitions(NamedTuple):
    """What one step brought to every lane: rows of arrays. Rows outside of ``lanes`` mean nothing."""

    lanes: NDArray[np.bool_]
    observation: NDArray[np.float32]
    action: Any
    reward: NDArray[np.float64]
    next_observation: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class _StoppedError(Exception):
    """Somebody asked the runs to stop."""


def _lanes_of(brain: Any) -> int:
    return int(getattr(brain.batched, "lanes", getattr(brain, "lanes", LANES)))


def batch_size(spec: RunSpec) -> int:
    """How many runs go side by side: 1 for a brain that is not batched. Every agent of a run takes a lane.

    A run whose brain is kept on its way, or begins with a saved one, goes by itself: a batch has no brain of one run.
    """
    if getattr(spec.brain, "batched", None) is None or spec.start is not None or spec.keeping is not None:
        return 1
    return max(1, _lanes_of(spec.brain) // spec.task.world.agents)


def in_groups(specs: Sequence[RunSpec]) -> list[Group]:
    """The runs in groups of the same size as far as possible, none larger than a batch."""
    count = -(-len(specs) // batch_size(specs[0]))
    return [tuple(specs[n * len(specs) // count : (n + 1) * len(specs) // count]) for n in range(count)]


class _Batch:
    """The lanes of some runs with their brains. A lane of the world is a run; it has a row for each agent."""

    def __init__(self, specs: Sequence[RunSpec], watch: Watch | None) -> None:
        first, self._watch = specs[0], watch
        brain: Any = first.brain
        self.task, self.agents = first.task, first.task.world.agents
        self.copies, self.body = batch_size(first), interface(first.task)
        self.learning = self.task.learning
        config = first.config if self.learning else without_learning(brain, first.config)
        self.seeds = np.zeros(self.copies, dtype=np.uint64)
        self.seeds[: len(specs)] = [spec.seed for spec in specs]
        own = [brain_seed(spec.seed) for spec in specs] + [0] * (self.copies - len(specs))
        rows = [(seed + agent) % 2**64 for seed in own for agent in range(self.agents)]
        rows += [0] * (_lanes_of(first.brain) - len(rows))
        seed_everything(0)  # single-threaded and deterministic; a batch draws from the seeds of its lanes alone
        self.brain: Any = brain.batched(*spaces_of(self.body), config, tuple(rows))
        self.rows = len(rows)
        self.idle = set(range(len(specs), self.copies))
        self._controls = np.zeros((len(specs), loop.Control.count()), dtype=np.int64)
        self.controls = [loop.Control(words) for words in self._controls]
        pairs = zip(specs, self.controls, strict=True)
        self.views = [] if watch is None else [watch.view(spec.index, spec.seed, control) for spec, control in pairs]

    def run(self, phase: Phase, firsts: Sequence[int]) -> Lanes:
        """Takes the runs that have not failed through a phase; ``firsts`` are the numbers of their first episodes."""
        arrays, body = WorldArrays(phase.world, self.copies), self.body
        plan_words = np.zeros(loop.Plan.count(), dtype=np.int64)
        plan = loop.Plan(plan_words)
        plan.episodes, plan.ticks, plan.choices = phase.episodes, phase.ticks, body.choices
        action = np.zeros((self.copies, self.agents, body.action_width), dtype=np.float32)
        obs = np.zeros((self.copies, self.agents, body.inputs), dtype=np.float32)
        records = np.empty((self.copies, phase.episodes or phase.ticks, len(phase.columns)))
        memory = (arrays.params, arrays.states, arrays.rng, action, obs, arrays.outs)
        lanes = Lanes(phase.world.reset, phase.world.step, plan_words, self.seeds, records, memory)
        for n in range(self.copies):
            lane = lanes.lane(n)
            lane.first_episode = firsts[n]
            lane.status = FINISHED if n in self.idle else lane.status
        for n, view in enumerate(self.views):
            view.show(phase.name, records[n], lanes.words[n, _EPISODE : _EPISODE + 1])
        if phase.learns:
            self._go(lanes, self.brain, self.learning)
        else:
            with global_generators_kept():
                self._go(lanes, copy.deepcopy(self.brain), learning=False)
        self.idle |= {n for n in range(self.copies) if lanes.lane(n).status < 0}
        return lanes

    def _mask(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows of the given lanes, not to be written to; the rows that no lane has are never in it."""
        mask = chosen
        if self.rows != self.copies:
            mask = np.zeros(self.rows, dtype=np.bool_)
            mask[: self.copies * self.agents] = np.repeat(chosen, self.agents)
        mask.setflags(write=False)
        return mask

    def _go(self, lanes: Lanes, brain: Any, learning: bool) -> None:
        status, began, ticks = (lanes.words[:, Lane.singles[name]] for name in ("status", "began", "ticks"))
        runs = len(self._controls)
        stop, steps = (self._controls[:, loop.Control.singles[name]] for name in ("stop", "steps_done"))
        before = steps.copy()
        never = self._mask(np.zeros(self.copies, dtype=np.bool_))
        first = len(Outcome.singles)
        paid = lanes.outs[:, first : first + self.agents]
        look = 0
        while lanes.begin():
            active = self._mask(status == RUNNING)
            if began.any():
                brain.begin_batch(self._mask(began != 0))
            following = self._rows(lanes.obs)
            ended = 0
            while not ended:
                observations = following
                answers = brain.act_batch(observations, active)
                self._put(answers, lanes.action)
                ended = lanes.step()
                look += 1
                if look % _LOOK == 0 and stop.any():
                    raise _StoppedError
                following = self._rows(lanes.obs)
                if learning:
                    able, flags = active, (never, never)
                    if ended:
                        able = active & ~self._mask(status == loop.ILLEGAL_ACTION)
                        flags = self._flag(lanes, "terminated"), self._flag(lanes, "truncated")
                    rewards = self._rows(paid)
                    brain.learn_batch(Transitions(able, observations, answers, rewards, following, *flags))
            steps[:] = before + ticks[:runs]
            if self._watch is not None and self._watch.here:
                self._watch.look()

    def _put(self, answers: Any, action: NDArray[np.float32]) -> None:
        if type(answers) is np.ndarray and answers.shape == (action.size,) == (self.rows,):
            action.reshape(-1)[:] = answers
            return
        values = np.asarray(answers, dtype=np.float64)
        if values.size != self.rows * action.shape[2]:
            numbers = f"{values.size} numbers for {self.rows} lanes"
            raise ValueError(f"act_batch returned {numbers}, the body takes {action.shape[2]} a lane")
        action[:] = values.ravel()[: action.size].reshape(action.shape)

    def _flag(self, lanes: Lanes, name: str) -> NDArray[np.bool_]:
        return self._mask(lanes.outs[:, Outcome.singles[name]] != 0.0)

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """A copy of ``[lane, agent]``, with a row for each agent of each lane, and zeros in rows without a lane."""
        if self.copies == self.rows:
            return values[:, 0].copy()
        used = self.copies * self.agents
        rows = np.zeros((self.rows, *values.shape[2:]), dtype=values.dtype)
        rows[:used] = values.reshape(used, *values.shape[2:])
        return rows

    def memory_hash(self, n: int) -> str | None:
        """As the plain brain's; None where the batch does not tell it."""
        told = getattr(self.brain, "memory_of", None)
        if told is None:
            return None
        return hashlib.sha256(b"".join(told(n * self.agents + agent) for agent in range(self.agents))).hexdigest()


@standard_floats()
def _execute_together(specs: Sequence[RunSpec], watch: Watch | None = None) -> list[RunResult]:
    """All phases of the runs; one that fails is executed by itself for the words that say why."""
    started = time.perf_counter()
    batch = _Batch(specs, watch)
    try:
        with time_limit(None if specs[0].limit is None else specs[0].limit * len(specs), batch.controls):
            return _through_phases(specs, batch, watch, started)
    finally:
        for view in batch.views:
            view.over = True


def _through_phases(specs: Sequence[RunSpec], batch: _Batch, watch: Watch | None, started: float) -> list[RunResult]:
    records: list[dict[str, NDArray[np.float64]]] = [{} for _ in specs]
    firsts, steps = [0] * batch.copies, [0] * batch.copies
    for phase in batch.task.phases:
        lanes = batch.run(phase, firsts if phase.learns else [PROBE_STREAM] * batch.copies)
        for n in range(len(specs)):
            lane = lanes.lane(n)
            records[n][phase.name] = lanes.records[n, : lane.episode].copy()
            firsts[n] += lane.episode if phase.learns else 0
            steps[n] += lane.ticks if phase.learns else 0
    seconds = (time.perf_counter() - started) / len(specs)
    results = []
    for n, spec in enumerate(specs):
        if n in batch.idle:
            results.append(execute(spec, watch))
        else:
            hashes = record_hash(spec.task, records[n]), batch.memory_hash(n)
            results.append(RunResult(spec.index, spec.seed, records[n], *hashes, steps=steps[n], seconds=seconds))
    return results


def _trial_task(spec: RunSpec) -> Task:
    """The first steps of every phase: as many as the brain asks for, so that it has learned in them."""
    asked: Any = getattr(spec.brain, "trial_ticks", lambda _config: 0)
    ticks = max(_TRIAL_TICKS, int(asked(spec.config)))
    return replace(spec.task, phases=tuple(replace(phase, episodes=0, ticks=ticks) for phase in spec.task.phases))


_TRIED: dict[tuple[Any, str, str], str] = {}


def _difference(spec: RunSpec) -> str:
    """Where a run has other bits than the plain class, in any lane or with others beside it; empty where it has not."""
    key = (spec.brain, spec.task.spec_hash, repr(spec.config))
    if key not in _TRIED:
        first = replace(spec, task=_trial_task(spec), index=0)
        among = [replace(first, seed=(spec.seed + n) % 2**64, index=n) for n in range(batch_size(spec))]
        everywhere = _execute_together([first] * len(among))
        mixed = _execute_together(among)
        wanted, last = execute(first), execute(among[-1])
        pairs = [*((result, wanted) for result in everywhere), (mixed[0], wanted), (mixed[-1], last)]
        lanes = [*range(len(among)), 0, len(among) - 1]
        found = (_first_difference(*pair, lane) for pair, lane in zip(pairs, lanes, strict=True))
        _TRIED[key] = next((text for text in found if text), "")
    return _TRIED[key]


def _first_difference(ours: RunResult, plain: RunResult, lane: int) -> str:
    if _bits(ours) == _bits(plain):
        return ""
    for phase, records in plain.records.items():
        there = ours.records.get(phase, records[:0])
        both = min(len(records), len(there))
        ours_bits, bits = (np.ascontiguousarray(rows[:both]).view(np.uint64) for rows in (there, records))
        unlike = np.flatnonzero((ours_bits != bits).any(axis=1))
        if unlike.size or len(records) != len(there):
            return f"lane {lane}, from episode {unlike[0] if unlike.size else both} of phase {phase!r} on"
    return f"lane {lane}, the same episodes but another memory"


def _bits(result: RunResult) -> tuple[str, str | None, str]:
    return result.record_hash, result.memory_hash, "" if result.failure is None else result.failure.message


def execute_batch(specs: Sequence[RunSpec], watch: Watch | None = None) -> Iterator[RunResult]:
    """Executes runs of one brain on one task side by side, or one after another where a batch cannot be trusted.

    Args:
        specs: The runs, at most as many as :func:`batch_size` says.
        watch: As for :func:`~nematodebench.engine.run.execute`.
    """
    if len(specs) > 1 and (watch is None or watch.on_step is None):
        together = _if_trusted(specs, watch)
        if together is not None:
            yield from together
            return
    for spec in specs:
        yield execute(spec, watch)


def _if_trusted(specs: Sequence[RunSpec], watch: Watch | None) -> list[RunResult] | None:
    name = specs[0].brain_name
    try:
        unlike = _difference(specs[0])
        if not unlike:
            return _execute_together(specs, watch)
        why = f"has other bits than its plain class ({unlike})"
    except _StoppedError:
        if watch is None or not watch.stopped:
            return None  # together they took longer than they may: each by itself shows which of them did
        return [RunResult(s.index, s.seed, failure=RunFailure("the run was interrupted")) for s in specs]
    except UsageError:
        raise
    except Exception as error:
        why = f"raised {type(error).__name__}: {error}"
    warnings.warn(f"Brain {name!r}: its batch {why}. Its runs go one by one.", stacklevel=2)
    return None
