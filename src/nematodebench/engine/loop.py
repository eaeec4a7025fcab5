"""The one run loop: a brain lives through one phase of a task, episode after episode.

It is compiled once for all worlds and brains, which it takes as first-class functions. A brain written in Python goes
through the very same source (``run_phase.py_func``) with Python functions in the place of the compiled ones.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types

from nematodebench.kernels.abi import BRAIN, WORLD, BrainFunction, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, U64, first_class, kernel
from nematodebench.kernels.rng import STREAM_EXPLORATION, STREAM_WORLD, set_stream

__all__ = [
    "AT_EPISODE", "AT_STEP", "BAD_REWARD", "CANCELLED", "CHOICES", "EPISODES", "FIRST_EPISODE", "ILLEGAL_ACTION",
    "STEPS_DONE", "STOP", "TICKS", "compiled_run_phase", "plain_run_phase", "run_phase",
    "write_record",
]  # fmt: skip

CANCELLED, ILLEGAL_ACTION, BAD_REWARD = -1, -2, -3
EPISODES, TICKS, FIRST_EPISODE, CHOICES = 0, 1, 2, 3
"""Words of ``plan``: episodes to live or 0, ticks to live or 0, number of the first episode, choices or 0."""
STOP, STEPS_DONE, AT_EPISODE, AT_STEP = 0, 1, 2, 3
"""Words of ``control``: set from outside to stop, steps so far, and where a run was when it failed."""


@kernel(cached=True)
def _legal(action: F32M, choices: int) -> bool:
    """A whole number below ``choices``, or (choices 0) effectors in [0, 1]; NaN is neither."""
    for agent in range(action.shape[0]):
        if choices > 0:
            value = action[agent, 0]
            if not (value >= 0.0 and value < choices and value == np.floor(value)):
                return False
        else:
            for n in range(action.shape[1]):
                if not (action[agent, n] >= 0.0 and action[agent, n] <= 1.0):
                    return False
    return True


@kernel(cached=True)
def _over(plan: I64, episode: int, ticks: int) -> bool:
    """Whether the phase's episodes, or its ticks of experience, are used up."""
    return bool(ticks >= plan[TICKS] if plan[TICKS] > 0 else episode >= plan[EPISODES])


@kernel(cached=True)
def write_record(record: F64, out: F64, rewards: int, reward: float, steps: int) -> None:
    """As ``nematodebench.tasks.base.Phase.columns`` names them; the reward is the mean over agents."""
    record[0] = reward / rewards
    record[1] = steps
    record[2], record[3] = out[0], out[1]
    for n in range(4, record.size):
        record[n] = out[rewards - 2 + n]


@kernel(cached=True)
def run_phase(
    world_reset: WorldFunction,
    world_step: WorldFunction,
    brain_begin: BrainFunction,
    brain_act: BrainFunction,
    brain_learn: BrainFunction,
    params: F64,
    state: F64,
    world_rng: U64,
    action: F32M,
    obs: F32M,
    out: F64,
    hyper: F64,
    ints: I64,
    mem: F32M,
    brain_rng: U64,
    brain_out: F64M,
    seed: np.uint64,
    plan: I64,
    control: I64,
    records: F64M,
) -> int:
    """Lives through the phase; returns its episodes, or a negative code. Rows of ints, mem, ... are agents."""
    agents = obs.shape[0]
    episode, ticks = 0, 0
    while not _over(plan, episode, ticks):
        stream = plan[FIRST_EPISODE] + episode
        set_stream(world_rng, seed, STREAM_WORLD, stream, 0)
        world_reset(params, state, world_rng, action, obs, out)
        for a in range(agents):
            set_stream(brain_rng[a], seed, STREAM_EXPLORATION, stream, a)
            brain_begin(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
        steps, total, done = 0, 0.0, False
        while not done:
            for a in range(agents):
                brain_act(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
            if not _legal(action, plan[CHOICES]):
                control[AT_EPISODE], control[AT_STEP] = episode, steps
                return ILLEGAL_ACTION
            world_step(params, state, world_rng, action, obs, out)
            steps += 1
            ticks += 1
            if plan[TICKS] > 0 and ticks >= plan[TICKS] and out[0] == 0.0:
                out[1] = 1.0  # the budget cuts the last life short: truncated, so that learners can bootstrap
            for a in range(agents):
                brain_out[a, 0], brain_out[a, 1], brain_out[a, 2] = out[0], out[1], out[2 + a]
                total += out[2 + a]
                brain_learn(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
            done = out[0] != 0.0 or out[1] != 0.0
        if not np.isfinite(total):
            control[AT_EPISODE], control[AT_STEP] = episode, steps
            return BAD_REWARD
        write_record(records[episode], out, agents, total, steps)
        episode += 1
        control[STEPS_DONE] += steps
        if control[STOP] != 0:
            return CANCELLED
    return episode


_f64, _i64, _u64 = types.float64[::1], types.int64[::1], types.uint64[::1]
_f32m, _f64m, _i64m, _u64m = types.float32[:, ::1], types.float64[:, ::1], types.int64[:, ::1], types.uint64[:, ::1]
_W, _B = types.FunctionType(WORLD), types.FunctionType(BRAIN)
_SIGNATURE = types.int64(
    _W, _W, _B, _B, _B, _f64, _f64, _u64, _f32m, _f32m, _f64, _f64, _i64m, _f32m, _u64m, _f64m, types.uint64, _i64,
    _i64, _f64m,
)  # fmt: skip


def compiled_run_phase() -> Callable[..., int]:
    """The loop with compiled worlds and brains (compiled or loaded on first use)."""
    return first_class(run_phase, _SIGNATURE)


def plain_run_phase() -> Callable[..., int]:
    """The same loop, run by the interpreter: for brains written in Python."""
    dispatcher: Any = run_phase
    return cast("Callable[..., int]", dispatcher.py_func)
