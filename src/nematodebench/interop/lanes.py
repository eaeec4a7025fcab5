"""Many copies of one world stepped in one compiled call.

The loop over lanes is compiled for every world with its step inlined, because a call through the common signature of
worlds costs as much as half a step. A closure would not be kept on disk, so ``_begin``, ``_restart`` and ``_advance``
are templates: plain functions whose free names are bound to one world's functions by :func:`compile_lanes`.
"""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import types

from nematodebench.kernels.abi import Outcome
from nematodebench.kernels.jit import F32M, F64, F64M, I64, U64, first_class, inlined, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_WORLD, set_stream

__all__ = ["EPISODE", "FLAGS", "LANE_WORDS", "SEED", "compile_lanes"]

LANE_WORDS = 2
SEED, EPISODE = RNG_WORDS, RNG_WORDS + 1
"""A lane's own words behind its random stream: its run seed, and the number of its next episode."""
FLAGS = ("terminated", "truncated", "ended")
TERMINATED, TRUNCATED, ENDED = range(len(FLAGS))
"""Rows of ``flags``. The rows of ``results`` are the reward, then the metrics."""

_ONE = np.uint64(1)


def _unbound(*_: Any) -> Any:
    raise TypeError("a template must be bound to a world before it is called")


world_reset = world_step = begin = load_actions = _unbound


@inlined
def _load_choices(action: F32M, actions: I64, choices: int) -> bool:
    """Copies one choice a lane to where the world reads it; False if one is none."""
    if actions.shape[0] != action.shape[0]:
        return False
    legal = True
    for lane in range(actions.shape[0]):
        legal &= (actions[lane] >= 0) & (actions[lane] < choices)
        action[lane, 0] = np.float32(actions[lane])
    return legal


@inlined
def _load_effectors(action: F32M, actions: F32M, choices: int) -> bool:
    """Copies the effectors of every lane; False if one is outside of [0, 1] or no number."""
    if actions.shape != action.shape:
        return False
    legal = True
    for lane in range(actions.shape[0]):
        for n in range(actions.shape[1]):
            legal &= (actions[lane, n] >= 0.0) & (actions[lane, n] <= 1.0)
            action[lane, n] = actions[lane, n]
    return legal


@kernel()
def _write_metrics(outs: F64M, flags: Any, results: F64M) -> None:
    """Which lanes ended, and their metrics, 0 for the others."""
    for lane in range(outs.shape[0]):
        flags[ENDED, lane] = flags[TERMINATED, lane] | flags[TRUNCATED, lane]
        behind = Outcome(outs[lane]).reward  # of the one agent; the metrics follow it
        for n in range(1, results.shape[0]):
            results[n, lane] = behind[n] if flags[ENDED, lane] else 0.0


def _begin(params: F64, state: F64, words: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Begins a lane's next episode."""
    set_stream(words, words[SEED], STREAM_WORLD, words[EPISODE], 0)
    words[EPISODE] += _ONE
    world_reset(params, state, words, action, obs, out)


def _restart(params: F64, states: F64M, words: U64, action: F32M, obs: F32M, outs: F64M, mask: Any) -> None:
    """Begins the next episode of the lanes in the mask."""
    for lane in range(states.shape[0]):
        if mask[lane]:
            begin(params, states[lane], words[lane], action[lane : lane + 1], obs[lane : lane + 1], outs[lane])


def _advance(
    params: F64, states: F64M, words: U64, action: F32M, obs: F32M, outs: F64M, flags: Any, results: F64M, choices: int,
    actions: Any,
) -> int:  # fmt: skip
    """One step of every lane, or a new episode where one had ended. Returns how many end now; -1: an illegal action."""
    if not load_actions(action, actions, choices):
        return -1
    ended = 0
    for lane in range(states.shape[0]):
        outcome = Outcome(outs[lane])
        if outcome.terminated + outcome.truncated > 0.0:
            begin(params, states[lane], words[lane], action[lane : lane + 1], obs[lane : lane + 1], outs[lane])
        else:
            world_step(params, states[lane], words[lane], action[lane : lane + 1], obs[lane : lane + 1], outs[lane])
        flags[TERMINATED, lane], flags[TRUNCATED, lane] = outcome.terminated > 0.0, outcome.truncated > 0.0
        results[0, lane] = outcome.reward[0]
        ended += outcome.terminated + outcome.truncated > 0.0
    if ended > 0:
        _write_metrics(outs, flags, results)
    return ended


_f64, _f64m, _u64m = types.float64[::1], types.float64[:, ::1], types.uint64[:, ::1]
_f32m, _i64 = types.float32[:, ::1], types.int64[::1]
_bools, _flags = types.boolean[::1], types.boolean[:, ::1]
_LANES = (_f64, _f64m, _u64m, _f32m, _f32m, _f64m)


def _bind(template: Any, cached: bool, **names: Any) -> Any:
    """A copy of a template that finds the given functions under their global names, compiled."""
    bound = FunctionType(template.__code__, {**template.__globals__, **names}, template.__name__)
    # The file of a compiled function is named after it, so no two worlds may share a name.
    owners = [getattr(names[name], "py_func", names[name]) for name in ("world_reset", "world_step")]
    bound.__qualname__ = ".".join(
        [template.__name__, *(f"{owner.__module__}.{owner.__qualname__}" for owner in owners)]
    )
    return kernel(cached=cached, also=tuple(owner.__code__.co_filename for owner in owners))(bound)


@cache
def compile_lanes(reset: Any, step: Any, discrete: bool) -> tuple[Callable[..., None], Callable[..., int]]:
    """The functions ``restart`` and ``advance`` of a world (compiled or loaded on first use)."""
    names = {"world_reset": reset, "world_step": step, "load_actions": _load_choices if discrete else _load_effectors}
    names["begin"] = _bind(_begin, False, **names)
    restart = first_class(_bind(_restart, True, **names), types.void(*_LANES, _bools))
    actions = _i64 if discrete else _f32m
    advance = first_class(_bind(_advance, True, **names), types.int64(*_LANES, _flags, _f64m, types.int64, actions))
    return restart, advance
