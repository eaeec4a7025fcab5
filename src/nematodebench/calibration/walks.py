"""Plans input-blind walks: a beam search over actions, in many copies of a world at once.

A walk is a fixed sequence of actions, one a tick. Every kept walk is continued by every action, in copies of worlds
that began with seeds of their own, and the walks with the highest mean reward so far are kept. So a plan uses all that
can be known without senses: where food may still lie, and where the walk has passed since. Of walks that have led to
the same states one is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from nematodebench.calibration.rollouts import Cycle
from nematodebench.engine.float_state import standard_floats
from nematodebench.kernels.abi import WORLD, Outcome, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, U64, first_class, kernel
from nematodebench.worlds.arrays import WorldArrays
from nematodebench.worlds.base import World

__all__ = ["Plan", "plan_size", "plan_walks"]

_WORLDS_A_WALK = 16
"""Worlds for each kept walk: with fewer the luckiest walks are kept, with more too few are."""
_MOST_NUMBERS = 1 << 25
"""Numbers of state that the kept walks may have, all together."""


@kernel(cached=True)
def _branch(
    step: WorldFunction,
    params: F64,
    action: F32M,
    obs: F32M,
    out: F64,
    states: F64M,
    rngs: U64,
    over: I64,
    parents: I64,
    actions: I64,
    new_states: F64M,
    new_rngs: U64,
    new_over: I64,
    gains: F64,
    marks: F64,
) -> int:
    """Continues parents by an action each, in all their worlds; returns the ticks that were played.

    ``gains`` becomes the mean reward, ``marks`` a number that is equal for equal states. Where there is room for one
    world only (``new_over``), every branch is written over the one before it: it is tried, and not kept.
    """
    outcome, agents, worlds, played = Outcome(out), obs.shape[0], over.shape[1], 0
    keep = 1 if new_over.size > 1 else 0
    for k in range(parents.size):
        gain, mark = 0.0, 0.0
        for w in range(worlds):
            old, row, column = parents[k], k * keep, w * keep
            state, rng = new_states[row, column], new_rngs[row, column]
            for n in range(state.size):
                state[n] = states[old, w, n]
            for n in range(rng.size):
                rng[n] = rngs[old, w, n]
            ended = over[old, w]
            if ended == 0:
                for agent in range(agents):
                    action[agent, 0] = np.float32(actions[k])
                step(params, state, rng, action, obs, out)
                for agent in range(agents):
                    gain += outcome.reward[agent]
                ended = 1 if outcome.terminated != 0.0 or outcome.truncated != 0.0 else 0
                played += 1
            new_over[row, column] = ended
            for n in range(state.size):
                mark += state[n] * (1.0 + ((w * 7919 + n * 104729) % 8191) / 8191.0)
        gains[k], marks[k] = gain / (worlds * agents), mark
    return played


_f64, _f32m, _i64 = types.float64[::1], types.float32[:, ::1], types.int64[::1]
_f64c, _u64c, _i64m = types.float64[:, :, ::1], types.uint64[:, :, ::1], types.int64[:, ::1]
_SIGNATURE = types.int64(
    types.FunctionType(WORLD), _f64, _f32m, _f32m, _f64, _f64c, _u64c, _i64m, _i64, _i64, _f64c, _u64c, _i64m, _f64,
    _f64,
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """Walks, the best one first, with the ticks that were played to find them."""

    walks: list[Cycle]
    ticks: int


@dataclass
class _Copies:
    """Worlds of every kept walk."""

    states: F64M
    rngs: U64
    over: I64

    @classmethod
    def room(cls, like: WorldArrays, walks: int, worlds: int) -> "_Copies":
        """Room for so many walks in so many worlds each."""
        return cls(
            np.zeros((walks, worlds, like.states.shape[1])),
            np.zeros((walks, worlds, like.rng.shape[1]), np.uint64),
            np.zeros((walks, worlds), np.int64),
        )

    @property
    def arrays(self) -> tuple[F64M, U64, I64]:
        """As the kernel takes them."""
        return self.states, self.rngs, self.over


def plan_size(world: World, ticks: int) -> tuple[int, int]:
    """How many walks are kept, and in how many worlds each, if a plan may play so many ticks."""
    arrays = WorldArrays(world)
    played = world.horizon * (arrays.choices + 1) * _WORLDS_A_WALK
    numbers = (arrays.states.shape[1] + arrays.rng.shape[1]) * _WORLDS_A_WALK
    width = max(2, int(np.sqrt(min(ticks / played, _MOST_NUMBERS / numbers))))
    return width, width * _WORLDS_A_WALK


@standard_floats()
def plan_walks(world: World, seeds: Sequence[int], width: int) -> Plan:
    """Plans walks in worlds that begin with these seeds, and keeps ``width`` of them at every tick."""
    worlds = len(seeds)
    arrays = WorldArrays(world, worlds)
    arrays.compile()
    branch = first_class(_branch, _SIGNATURE)
    for copy, seed in enumerate(seeds):
        arrays.begin(seed, 0, copy)
    shared = (world.step, arrays.params, arrays.action[0], arrays.obs[0], arrays.outs[0])
    now, following, tried = (_Copies.room(arrays, *size) for size in ((width, worlds), (width, worlds), (1, 1)))
    now.states[0], now.rngs[0] = arrays.states, arrays.rng
    walks: list[tuple[int, ...]] = [()]
    totals, ticks = np.zeros(1), 0
    while not now.over[: len(walks)].all():
        parents = np.repeat(np.arange(len(walks)), arrays.choices)
        actions = np.tile(np.arange(arrays.choices), len(walks))
        gains, marks = np.zeros(parents.size), np.zeros(parents.size)
        ticks += branch(*shared, *now.arrays, parents, actions, *tried.arrays, gains, marks)
        kept = _best(totals[parents] + gains, marks, width)
        totals, parents, actions = (totals[parents] + gains)[kept], parents[kept], actions[kept]
        ticks += branch(*shared, *now.arrays, parents, actions, *following.arrays, gains, marks)
        walks = [(*walks[parent], int(choice)) for parent, choice in zip(parents, actions, strict=True)]
        now, following = following, now
    return Plan([_cycle(walk) for walk in walks], ticks)


def _best(totals: NDArray[np.float64], marks: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Places of the highest totals, of equal totals with equal marks the first alone."""
    _, first = np.unique(np.round(np.stack([totals, marks], axis=1), 9), axis=0, return_index=True)
    return first[np.argsort(-totals[first], kind="stable")][:count]


def _cycle(walk: tuple[int, ...]) -> Cycle:
    return tuple((1.0, float(choice)) for choice in walk)
