"""Many runs side by side, for brains that are asked in Python: one compiled call is a step of every run.

A lane is one run on its way through a phase. It has a world, a random stream and records of its own, so that nothing
that happens in a lane depends on another. The Python side asks the brains between the calls:

>>> while lanes.begin():                  # doctest: +SKIP
...     ...                               # the brains choose: they read lanes.obs and write lanes.action
...     lanes.step()
...     ...                               # the brains learn

The rules of a phase (legal actions, budgets, records) are those of :mod:`nematodebench.engine.loop`. The world's
functions are handed over as addresses, because Numba takes 0.1 ms to unpack a first-class function.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.experimental.function_type import _get_jit_address, _get_wrapper_address
from numpy.typing import NDArray

from nematodebench.engine.loop import BAD_REWARD, ILLEGAL_ACTION, Plan, cut_short, legal, over, write_record
from nematodebench.kernels.abi import WORLD, Outcome, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, INTERPRETED, U64, first_class, intrinsic, kernel
from nematodebench.kernels.memory import Block, counter
from nematodebench.kernels.rng import STREAM_WORLD, set_stream

__all__ = ["FINISHED", "RUNNING", "WAITING", "Lane", "Lanes", "compile_lanes"]

WAITING, RUNNING, FINISHED = 0, 1, 2
"""What a lane is at: before its next episode, inside one, or through. A negative number says why it has failed."""


class Lane(Block):
    """How far a run is."""

    status = counter()
    began = counter()
    """1 if its episode began with the last call of ``begin``."""
    first_episode = counter()
    episode = counter()
    ticks = counter()
    steps = counter()


_BY_NUMBER: dict[int, Any] = {}
"""The worlds' functions by their number, for the interpreter, where nothing has an address."""


@intrinsic(lambda address: _BY_NUMBER[int(address[0])])
def _function_at(_context: Any, address: Any) -> Any:
    """The world's function whose two addresses lie in an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        addresses = context.make_array(signature.args[0])(context, builder, arguments[0])
        function = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        for n, name in enumerate(("c_addr", "jit_addr")):
            word = builder.load(cgutils.gep_inbounds(builder, addresses.data, n))
            setattr(function, name, builder.inttoptr(word, cgutils.voidptr_t))
        function.py_addr = cgutils.get_null_value(cgutils.voidptr_t)
        return function._getvalue()

    return types.FunctionType(WORLD)(address), generate


def _address(function: WorldFunction) -> I64:
    """Where a world's compiled function is: as C calls it, and as Numba does."""
    first_class(function, WORLD)
    if INTERPRETED:
        _BY_NUMBER[id(function)] = function
        return np.array([id(function)])
    return np.array([_get_wrapper_address(function, WORLD), _get_jit_address(function, WORLD)], dtype=np.int64)


@kernel(cached=True)
def _begin(
    reset: I64, plan_words: I64, seeds: U64, lanes: I64, totals: F64, params: F64, states: F64M, rng: U64, action: F32M,
    obs: F32M, outs: F64M,
) -> int:  # fmt: skip
    """Begins the next episode of every lane that waits for one; returns how many lanes are inside an episode."""
    plan, world_reset = Plan(plan_words), _function_at(reset)
    running = 0
    for n in range(lanes.shape[0]):
        lane = Lane(lanes[n])
        lane.began = 0
        if lane.status == WAITING:
            if over(plan, lane.episode, lane.ticks):
                lane.status = FINISHED
            else:
                set_stream(rng[n], seeds[n], STREAM_WORLD, lane.first_episode + lane.episode, 0)
                world_reset(params, states[n], rng[n], action[n], obs[n], outs[n])
                lane.status, lane.began, lane.steps, totals[n] = RUNNING, 1, 0, 0.0
        running += lane.status == RUNNING
    return running


@kernel(cached=True)
def _step(
    step: I64, plan_words: I64, records: F64M, lanes: I64, totals: F64, params: F64, states: F64M, rng: U64,
    action: F32M, obs: F32M, outs: F64M,
) -> int:  # fmt: skip
    """One step of every lane that is inside an episode; returns how many of them are not any more."""
    plan, world_step = Plan(plan_words), _function_at(step)
    ended = 0
    for n in range(lanes.shape[0]):
        lane = Lane(lanes[n])
        if lane.status != RUNNING:
            continue
        if not legal(action[n], plan.choices):
            lane.status = ILLEGAL_ACTION
            ended += 1
            continue
        world_step(params, states[n], rng[n], action[n], obs[n], outs[n])
        lane.steps += 1
        lane.ticks += 1
        outcome = Outcome(outs[n])
        cut_short(plan, lane.ticks, outcome)
        for agent in range(obs.shape[1]):
            totals[n] += outcome.reward[agent]
        if outcome.terminated != 0.0 or outcome.truncated != 0.0:
            ended += 1
            if np.isfinite(totals[n]):
                write_record(records[n, lane.episode], outcome, obs.shape[1], totals[n], lane.steps)
                lane.status = WAITING
                lane.episode += 1
            else:
                lane.status = BAD_REWARD
    return ended


_i64, _f64, _u64 = types.int64[::1], types.float64[::1], types.uint64[::1]
_i64m, _f64m, _u64m = types.int64[:, ::1], types.float64[:, ::1], types.uint64[:, ::1]
_f32c, _f64c = types.float32[:, :, ::1], types.float64[:, :, ::1]
_MEMORY = (_i64m, _f64, _f64, _f64m, _u64m, _f32c, _f32c, _f64m)


LANE_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "begin": (_begin, types.int64(_i64, _i64, _u64, *_MEMORY)),
    "step": (_step, types.int64(_i64, _i64, _f64c, *_MEMORY)),
}
"""The functions that begin and step lanes of any world, with their signatures."""


def compile_lanes() -> tuple[Callable[..., int], Callable[..., int]]:
    """The functions that begin and step lanes (compiled or loaded on first use)."""
    return first_class(*LANE_FUNCTIONS["begin"]), first_class(*LANE_FUNCTIONS["step"])


class Lanes:
    """Lanes with their memory; ``begin`` and ``step`` are the compiled functions, bound to it.

    Attributes:
        words: One row of :class:`Lane` a lane.
        action: ``[lane, agent, :]``, to be written before a step.
        obs: ``[lane, agent, :]``, the latest observations.
        outs: One row of :class:`~nematodebench.kernels.abi.Outcome` a lane.
        records: ``[lane, episode, :]``.
    """

    def __init__(
        self, reset: WorldFunction, step: WorldFunction, plan_words: I64, seeds: U64, records: NDArray[np.float64],
        memory: tuple[Any, ...],
    ) -> None:  # fmt: skip
        """Binds the functions.

        Args:
            reset: The world's function.
            step: Likewise.
            plan_words: The plan of the phase.
            seeds: The seed of every lane's run.
            records: Where the rows go.
            memory: The world's parameters, then states, streams, actions, observations and outcomes of all lanes.
        """
        begin_lanes, step_lanes = compile_lanes()
        count = seeds.size
        _, _, _, self.action, self.obs, self.outs = memory
        self.records = records
        self.words = np.zeros((count, Lane.count()), dtype=np.int64)
        held = (self.words, np.zeros(count), *memory)
        self.begin = partial(begin_lanes, _address(reset), plan_words, seeds, *held)
        self.step = partial(step_lanes, _address(step), plan_words, records, *held)

    def lane(self, n: int) -> Lane:
        """How far a lane is."""
        return Lane(self.words[n])
