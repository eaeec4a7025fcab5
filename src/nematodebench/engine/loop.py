"""The one run loop: a brain goes through one phase of a task, episode after episode.

It is compiled once for all worlds and brains, which it takes as first-class functions. A brain written in Python
cannot be called from here: :mod:`nematodebench.engine.lanes` takes it through a phase by the same rules, step by step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from nematodebench.kernels.abi import BRAIN, WORLD, BrainFunction, Feedback, Outcome, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, INTERPRETED, U64, first_class, kernel
from nematodebench.kernels.memory import Block, counter, number, numbers
from nematodebench.kernels.rng import STREAM_EXPLORATION, STREAM_WORLD, set_stream

__all__ = [
    "BAD_REWARD", "CANCELLED", "COLUMNS", "ILLEGAL_ACTION", "SIGNATURE", "STOP", "TIME_IS_UP", "Control", "Plan",
    "compiled_run_phase", "cut_short", "is_over", "legal", "over", "plain_run_phase", "run_phase", "write_record",
]  # fmt: skip

CANCELLED, ILLEGAL_ACTION, BAD_REWARD = -1, -2, -3
STOP, TIME_IS_UP = 1, 2
"""What ``Control.stop`` says: somebody wants the run to end, or it has taken longer than it may."""


class Plan(Block):
    """What a phase consists of, ``episodes`` or ``ticks`` of experience in as many episodes as it takes; how far it is.

    The loop begins at the ``episode`` and ``tick`` that it finds here and leaves behind where it has come to, so that
    a phase can be gone through in segments.
    """

    episodes = counter()
    ticks = counter()
    first_episode = counter()
    choices = counter()
    guided = counter()
    episode = counter()
    tick = counter()
    pause = counter()
    """The loop returns when so many episodes are done, or at the end of the phase; with 0 at its end alone."""


class Control(Block):
    """What goes between a run and whoever watches it: a word to stop, steps so far, where it has failed."""

    stop = counter()
    steps_done = counter()
    at_episode = counter()
    at_step = counter()


class EpisodeRecord(Block):
    """One row of the records; the reward is the mean over agents."""

    reward = number()
    steps = number()
    terminated = number()
    truncated = number()
    metrics = numbers("...")


COLUMNS = tuple(EpisodeRecord.singles)
"""What is recorded of every episode, before the world's own metrics."""


@kernel(cached=True)
def legal(action: F32M, choices: int) -> bool:
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
def over(plan: Plan, episode: int, ticks: int) -> bool:
    """Whether the phase's episodes, or its ticks of experience, are used up."""
    return ticks >= plan.ticks if plan.ticks > 0 else episode >= plan.episodes


@kernel(cached=True)
def cut_short(plan: Plan, ticks: int, outcome: Outcome) -> None:
    """Ends the last episode when the budget is used up, as truncated: learners can bootstrap."""
    if plan.ticks > 0 and ticks >= plan.ticks and outcome.terminated == 0.0:
        outcome.truncated = 1.0


@kernel(cached=True)
def write_record(row: F64, outcome: Outcome, agents: int, reward: float, steps: int) -> None:
    """Writes the row of an episode that has ended."""
    record = EpisodeRecord(row)
    record.reward = reward / agents
    record.steps = steps
    record.terminated, record.truncated = outcome.terminated, outcome.truncated
    for n in range(record.metrics.size):
        record.metrics[n] = outcome.reward[agents + n]  # metrics lie behind the rewards


@kernel(cached=True)
def run_phase(
    world_reset: WorldFunction,
    world_step: WorldFunction,
    world_reference: WorldFunction,
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
    brain_seed: np.uint64,
    plan_words: I64,
    control_words: I64,
    records: F64M,
) -> int:
    """Goes on to the phase's pause or end; returns its episodes so far, or a negative code.

    Rows of ints, mem, ... are agents. World and brain have seeds of their own: what a brain draws from says nothing
    about what the world draws from. In a guided phase the world's reference, which sees the full state, overwrites
    every action.
    """
    plan, control, outcome = Plan(plan_words), Control(control_words), Outcome(out)
    choices, guided, agents = plan.choices, plan.guided != 0, obs.shape[0]
    episode, ticks = plan.episode, plan.tick
    while not over(plan, episode, ticks):
        stream = plan.first_episode + episode
        set_stream(world_rng, seed, STREAM_WORLD, stream, 0)
        world_reset(params, state, world_rng, action, obs, out)
        for a in range(agents):
            set_stream(brain_rng[a], brain_seed, STREAM_EXPLORATION, stream, a)
            brain_begin(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
        steps, total, done = 0, 0.0, False
        while not done:
            for a in range(agents):
                brain_act(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
            if guided:
                world_reference(params, state, brain_rng[0], action, obs, out)
            elif not legal(action, choices):
                control.at_episode, control.at_step = episode, steps
                return ILLEGAL_ACTION
            world_step(params, state, world_rng, action, obs, out)
            steps += 1
            ticks += 1
            cut_short(plan, ticks, outcome)
            for a in range(agents):
                feedback = Feedback(brain_out[a])
                feedback.terminated, feedback.truncated = outcome.terminated, outcome.truncated
                feedback.reward = outcome.reward[a]
                total += outcome.reward[a]
                brain_learn(hyper, ints[a], mem[a], brain_rng[a], obs[a : a + 1], action[a : a + 1], brain_out[a])
            done = outcome.terminated != 0.0 or outcome.truncated != 0.0 or control.stop != 0
        if control.stop != 0 or not np.isfinite(total):
            control.at_episode, control.at_step = episode, steps
            return CANCELLED if control.stop != 0 else BAD_REWARD
        write_record(records[episode], outcome, agents, total, steps)
        episode += 1
        plan.episode, plan.tick = episode, ticks
        control.steps_done += steps
        if episode == plan.pause:
            return episode
    return episode


_f64, _i64, _u64 = types.float64[::1], types.int64[::1], types.uint64[::1]
_f32m, _f64m, _i64m, _u64m = types.float32[:, ::1], types.float64[:, ::1], types.int64[:, ::1], types.uint64[:, ::1]
_W, _B = types.FunctionType(WORLD), types.FunctionType(BRAIN)
SIGNATURE = types.int64(
    _W, _W, _W, _B, _B, _B, _f64, _f64, _u64, _f32m, _f32m, _f64, _f64, _i64m, _f32m, _u64m, _f64m, types.uint64,
    types.uint64, _i64, _i64, _f64m,
)  # fmt: skip


def compiled_run_phase() -> Callable[..., int]:
    """The loop with compiled worlds and brains (compiled or loaded on first use)."""
    return first_class(run_phase, SIGNATURE)


def plain_run_phase() -> Callable[..., int]:
    """The same loop, run by the interpreter: for a debugger, and for the tests that hold both to the same numbers."""
    loop: Callable[..., int] = _plain(run_phase)
    return loop


def is_over(plan: Plan) -> bool:
    """Whether a plan has come to its end, for Python."""
    return bool(_plain(over)(plan, plan.episode, plan.tick))


def _plain(function: Any) -> Any:
    return function if INTERPRETED else function.py_func
