"""Plays many input-blind policies at once: one compiled loop over policies, runs, episodes and ticks.

It plays what the brain ``blind_cycle`` would play in the same runs, without a brain, an executor or a session.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.run import interface
from nematodebench.kernels.abi import WORLD, Outcome, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, U64, first_class, kernel
from nematodebench.kernels.rng import STREAM_WORLD, set_stream
from nematodebench.tasks.base import Task
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["Cycle", "Rollouts", "Tables"]

Cycle: TypeAlias = tuple[tuple[float, ...], ...]
"""Segments as the brain ``blind_cycle`` takes them: ticks, then the action."""

Tables: TypeAlias = tuple[I64, F64, F64M]
"""Where each policy's segments begin, how long each segment lasts, and what is done in it."""

_EPISODES, _TRIALS, _TICKS = 10, 20, 2000
_CHUNK = 64


@kernel(cached=True)
def _play(
    reset: WorldFunction,
    step: WorldFunction,
    params: F64,
    state: F64,
    rng: U64,
    action: F32M,
    obs: F32M,
    out: F64,
    starts: I64,
    lengths: F64,
    levels: F64M,
    seeds: U64,
    episodes: int,
    records: F64M,
) -> int:
    """Fills one row of records for each episode of each run of each policy; returns the ticks that were played."""
    outcome, agents, row, played = Outcome(out), obs.shape[0], 0, 0
    metrics = records.shape[1] - 4
    for policy in range(starts.size - 1):
        for run in range(seeds.size):
            for episode in range(episodes):
                set_stream(rng, seeds[run], STREAM_WORLD, episode, 0)
                obs[:] = np.float32(0.0)
                reset(params, state, rng, action, obs, out)
                segment, tick, steps, total = starts[policy], 0, 0, 0.0
                done = False
                while not done:
                    for agent in range(agents):
                        for n in range(levels.shape[1]):
                            action[agent, n] = np.float32(levels[segment, n])
                    tick += 1
                    if tick >= lengths[segment]:
                        tick, segment = 0, segment + 1
                        if segment >= starts[policy + 1]:
                            segment = starts[policy]
                    step(params, state, rng, action, obs, out)
                    steps += 1
                    for agent in range(agents):
                        total += outcome.reward[agent]
                    done = outcome.terminated != 0.0 or outcome.truncated != 0.0
                records[row, 0], records[row, 1] = total / agents, steps
                records[row, 2], records[row, 3] = outcome.terminated, outcome.truncated
                for n in range(metrics):
                    records[row, 4 + n] = outcome.reward[agents + n]
                row += 1
                played += steps
    return played


_W, _f64, _u64 = types.FunctionType(WORLD), types.float64[::1], types.uint64[::1]
_f32m, _f64m = types.float32[:, ::1], types.float64[:, ::1]
_SIGNATURE = types.int64(
    _W, _W, _f64, _f64, _u64, _f32m, _f32m, _f64, types.int64[::1], _f64, _f64m, _u64, types.int64, _f64m
)


def _tables(cycles: Sequence[Cycle], width: int) -> Tables:
    starts = np.cumsum([0, *(len(cycle) for cycle in cycles)], dtype=np.int64)
    rows = np.zeros((int(starts[-1]), 1 + width))
    for at, segment in enumerate(segment for cycle in cycles for segment in cycle):
        rows[at, : len(segment)] = segment
    return starts, np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1:])


class Rollouts:
    """Scores input-blind policies on short runs of a task and counts what that cost.

    Attributes:
        task: The task without its training, with runs of few episodes.
        episodes: Episodes played so far.
        ticks: Ticks played so far.
        policies: Policies scored so far, each counted every time.
    """

    def __init__(self, task: Task, workers: int = 1) -> None:
        if task.trains_first:
            short = task.untrained()
            most = _TRIALS if short.phases[0].episodes > 1 else 1  # in an assay every run is one worm
            episodes = int(np.clip(_TICKS // task.world.horizon, 1, most))
            phases = (replace(short.phases[0], episodes=episodes),)
        else:
            short = task.with_episodes(min(_EPISODES, task.phases[0].episodes))
            phases = (short.scored_phase,)
        self.body = interface(task)
        self.task = replace(short, phases=phases, assay="")
        self.episodes = self.ticks = self.policies = 0
        self._workers = workers
        arrays = WorldArrays(self.task.world)
        arrays.compile()
        first_class(_play, _SIGNATURE)

    @property
    def run_episodes(self) -> int:
        """Episodes of one run."""
        return self.task.scored_phase.episodes

    def scores(self, cycles: Sequence[Cycle], seeds: Sequence[int]) -> NDArray[np.float64]:
        """The score of every policy (rows) in the runs of these seeds (columns).

        What a session's runs share (the stability of the composite) is that of all of them together: it shifts all
        scores alike.
        """
        chunks = [cycles[first : first + _CHUNK] for first in range(0, len(cycles), _CHUNK)]
        words = np.array(seeds, dtype=np.uint64)
        with ThreadPoolExecutor(self._workers) as pool:
            records = np.concatenate(list(pool.map(lambda chunk: self._records(chunk, words), chunks)))
        runs = records.reshape(len(cycles) * len(seeds), self.run_episodes, -1)
        self.policies += len(cycles)
        self.episodes += runs.shape[0] * runs.shape[1]
        self.ticks += int(records[:, 1].sum())
        name = self.task.scored
        rows = self.task.measure([{name: run} for run in runs]).runs
        found = np.array([row[self.task.score_key] for row in rows], dtype=np.float64)
        return found.reshape(len(cycles), len(seeds))

    @standard_floats()
    def _records(self, cycles: Sequence[Cycle], seeds: U64) -> F64M:
        phase, body = self.task.scored_phase, self.body
        arrays = WorldArrays(phase.world)
        records = np.zeros((len(cycles) * seeds.size * phase.episodes, len(phase.columns)))
        obs = np.zeros((phase.world.agents, body.inputs), dtype=np.float32)
        action = np.zeros((phase.world.agents, body.action_width), dtype=np.float32)
        first_class(_play, _SIGNATURE)(
            phase.world.reset, phase.world.step, arrays.params, arrays.states[0], arrays.rng[0], action, obs,
            arrays.outs[0], *_tables(cycles, body.action_width), seeds, phase.episodes, records,
        )  # fmt: skip
        return records
