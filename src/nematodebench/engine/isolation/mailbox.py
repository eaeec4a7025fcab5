"""What stands in the loop for a brain in another process: functions that leave a letter and wait for the answer.

The host runs the compiled loop. ``act`` puts the observation into the shared memory, hands over the turn and waits;
``learn`` and ``begin`` only leave a note, which the brain finds together with the next observation, so that a step
costs one exchange. Two processes that take turns on one core sleep until the other wakes them: looking on would keep
the core from the one that has something to do. With a core each, whoever waits looks for a while before it sleeps, and
nobody who is awake is woken. On one core that nobody else needs, whoever waits lets the other go first.

Whatever the other side writes into the shared memory can do no more harm than a wrong action: sizes and places come
from the host's own arrays, an action is copied before anybody looks at it, and rewards are read from the world.
"""

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from nematodebench.engine.isolation.shared import BRAIN_TURN, FUTEX, LOOK, WAIT, WAKE, YIELD, YIELDS
from nematodebench.kernels.abi import BRAIN
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, first_class, intrinsic, kernel
from nematodebench.kernels.memory import Block, counter, number
from nematodebench.kernels.rng import episode_of

__all__ = ["Mail", "Patience", "hand_over", "sleep_while", "stubs", "watch"]

_AT_MOST = np.array([0, 20_000_000])
"""Seconds and nanoseconds after which whoever waits looks up: the other side may be gone, or never wake anybody."""
_LOOKS = 10_000
"""How often the host looks for an answer before it sleeps: some 250 microseconds. To be woken on another core takes ten
and more, which is little beside a step that takes longer than that."""


class Mail(Block):
    """The words of one agent's mailbox, in the order of :data:`nematodebench.engine.isolation.shared.WORDS`."""

    turn = counter()
    learn = counter()
    begin = counter()
    episode = counter()
    request = counter()
    over = counter()
    way = counter()
    host_sleeps = counter()
    brain_sleeps = counter()


class Patience(Block):
    """How the host waits, in memory of its own, and how often it had to sleep after all."""

    way = number()
    answers = number()
    slept = number()


def _fence(order: str) -> Any:
    @intrinsic(lambda: None)
    def fence(_context: Any) -> Any:
        """Keeps the compiler from moving what comes before it behind it, and the other way round."""

        def generate(ctx: Any, builder: Any, _sig: Any, _args: Any) -> Any:
            builder.fence(order)
            return ctx.get_dummy_value()

        return types.void(), generate

    return fence


before = _fence("release")
after = _fence("acquire")
between = _fence("seq_cst")
_system_call = types.ExternalFunction("syscall", types.int64(*[types.int64] * 7))
_let_others_go = types.ExternalFunction("sched_yield", types.int32())


_NO_VALUE = ir.FunctionType(ir.VoidType(), [])


@intrinsic(lambda: None)
def _pause(_context: Any) -> Any:
    """Tells the processor that this is a loop of looks; the other thread of its core goes on faster."""

    def generate(ctx: Any, builder: Any, _sig: Any, _args: Any) -> Any:
        if platform.machine() == "x86_64":
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=_NO_VALUE), [])
        builder.fence("acquire")
        return ctx.get_dummy_value()

    return types.void(), generate


@kernel()
def hand_over(words: I64, turn: int) -> None:
    """Gives the turn to the other side, and wakes it if it sleeps."""
    mail = Mail(words)
    before()
    mail.turn = turn
    between()
    if (mail.brain_sleeps if turn == BRAIN_TURN else mail.host_sleeps) != 0:
        _system_call(FUTEX, words.ctypes.data, WAKE, 1, 0, 0, 0)


@kernel()
def watch(words: I64, turn: int, way: int, looks: int) -> bool:
    """Waits awake, and not for long, until the turn is another one than this; whether it is."""
    mail = Mail(words)
    if way == LOOK:
        for _ in range(looks):
            if mail.turn != turn:
                after()
                return True
            _pause()
    elif way == YIELD:
        for _ in range(YIELDS):
            if mail.turn != turn:
                after()
                return True
            _let_others_go()
            between()
    return False


@kernel()
def sleep_while(words: I64, turn: int) -> None:
    """Sleeps for as long as the turn is this one, but not for long."""
    mail = Mail(words)
    if turn == BRAIN_TURN:
        mail.host_sleeps = 1
    else:
        mail.brain_sleeps = 1
    between()
    _system_call(FUTEX, words.ctypes.data, WAIT, turn, _AT_MOST.ctypes.data, 0, 0)
    if turn == BRAIN_TURN:
        mail.host_sleeps = 0
    else:
        mail.brain_sleeps = 0
    after()


@kernel()
def _answered(hyper: F64, words: I64) -> bool:
    """Hands over the turn and waits until it is back; False if nobody will answer any more."""
    mail, patience = Mail(words), Patience(hyper)
    hand_over(words, BRAIN_TURN)
    if watch(words, BRAIN_TURN, int(patience.way), _LOOKS):
        patience.answers += 1.0
        return True
    while mail.turn == BRAIN_TURN:  # whatever else stands there, somebody has answered
        if mail.over != 0:
            return False
        sleep_while(words, BRAIN_TURN)
    patience.answers += 1.0
    patience.slept += 1.0
    return True


@kernel(cached=True)
def begin(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Leaves a note that an episode begins, and which."""
    mail = Mail(ints)
    mail.begin = 1
    mail.episode = episode_of(rng)


@kernel(cached=True)
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Hands the observation over and waits for the action; NaN, which no body accepts, if none comes."""
    inputs, width = obs.shape[1], action.shape[1]
    for n in range(inputs):
        mem[n] = obs[0, n]
    answered, answer = _answered(hyper, ints), mem[inputs + inputs :]
    for n in range(width):
        action[0, n] = answer[n] if answered else np.float32(np.nan)


@kernel(cached=True)
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Leaves a note that a step is over, and the next observation; its feedback lies in shared memory already."""
    inputs = obs.shape[1]
    for n in range(inputs):
        mem[inputs + n] = obs[0, n]
    Mail(ints).learn = 1


def stubs() -> tuple[Any, Any, Any]:
    """The functions that stand in the loop for ``begin_episode``, ``act`` and ``learn``."""
    return first_class(begin, BRAIN), first_class(act, BRAIN), first_class(learn, BRAIN)
