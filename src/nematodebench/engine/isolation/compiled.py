"""The brain's side of a compiled brain: a kernel that answers letters without ever returning to Python."""

from typing import Any

import numpy as np
from numba import types

from nematodebench.brains.base import Interface
from nematodebench.engine.compiled_brain import CompiledBrains
from nematodebench.engine.isolation.mailbox import Mail, hand_over, sleep_while, watch
from nematodebench.engine.isolation.shared import BRAIN_TURN, HOST_TURN, Shared
from nematodebench.kernels.abi import BRAIN, BrainFunction
from nematodebench.kernels.jit import F32M, F64, F64M, I64, U64, first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, STREAM_EXPLORATION, set_stream

__all__ = ["CompiledServer", "compile_brain"]

_LOOKS = 2000
"""How often a brain looks for its turn before it sleeps; some 50 microseconds."""


@kernel(cached=True)
def _serve(
    begin: BrainFunction,
    act: BrainFunction,
    learn: BrainFunction,
    hyper: F64,
    ints: I64,
    mem: F32M,
    rng: U64,
    obs: F32M,
    action: F32M,
    out: F64M,
    words: I64,
    values: F32M,
    feedback: F64M,
    seed: np.uint64,
) -> None:
    """Answers the letters of all agents until one of them is a request, which Python has to answer."""
    inputs, width = obs.shape[1], action.shape[1]
    following = 0
    while True:
        if not watch(words[following], HOST_TURN, Mail(words[following]).way, _LOOKS):
            sleep_while(words[following], HOST_TURN)
        for a in range(words.shape[0]):
            mail = Mail(words[a])
            if mail.turn != BRAIN_TURN:
                continue
            if mail.learn != 0:
                mail.learn = 0
                for n in range(inputs):
                    obs[a, n] = values[a, inputs + n]
                for n in range(out.shape[1]):
                    out[a, n] = feedback[a, n]
                learn(hyper, ints[a], mem[a], rng[a], obs[a : a + 1], action[a : a + 1], out[a])
            if mail.request != 0:
                return
            for n in range(inputs):
                obs[a, n] = values[a, n]
            if mail.begin != 0:
                mail.begin = 0
                set_stream(rng[a], seed, STREAM_EXPLORATION, mail.episode, a)
                begin(hyper, ints[a], mem[a], rng[a], obs[a : a + 1], action[a : a + 1], out[a])
            act(hyper, ints[a], mem[a], rng[a], obs[a : a + 1], action[a : a + 1], out[a])
            for n in range(width):
                values[a, 2 * inputs + n] = action[a, n]
            hand_over(words[a], HOST_TURN)
            following = (a + 1) % words.shape[0]  # agents act in their order


_B = types.FunctionType(BRAIN)
_f64, _f32m, _f64m = types.float64[::1], types.float32[:, ::1], types.float64[:, ::1]
_i64m, _u64m = types.int64[:, ::1], types.uint64[:, ::1]
_SIGNATURE = types.void(
    _B, _B, _B, _f64, _i64m, _f32m, _u64m, _f32m, _f32m, _f64m, _i64m, _f32m, _f64m, types.uint64
)  # fmt: skip


def compile_brain(brain: type[Any]) -> None:
    """Compiles (or loads) everything a run needs, and nothing else."""
    for function in (brain.init, brain.begin_episode, brain.act, brain.learn):
        first_class(function, BRAIN)
    first_class(_serve, _SIGNATURE)
    set_stream(np.zeros(RNG_WORDS, dtype=np.uint64), np.uint64(0), STREAM_BRAIN, 0, 0)  # compiled by being called


class CompiledServer:
    """Answers for all agents of a run of a compiled brain."""

    def __init__(self, brain: type[Any], given: dict[str, Any], shared: Shared) -> None:
        told: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given["body"].items()}
        body = Interface(**told)
        agents, self._seed, self._shared = given["agents"], given["seed"], shared
        self.brains = CompiledBrains(brain, brain.config(**given["config"]), body, given["seed"], agents, learning=True)
        self._rng = np.zeros((agents, RNG_WORDS), dtype=np.uint64)
        self._obs = np.zeros((agents, body.inputs), dtype=np.float32)
        self._action = np.zeros((agents, body.action_width), dtype=np.float32)

    def until_request(self) -> None:
        """Answers letters; returns when agent 0 is asked for something that is no step."""
        b, shared = self.brains, self._shared
        _serve(
            *b.functions, b.hyper, b.ints, b.mem, self._rng, self._obs, self._action, b.out, shared.words,
            shared.values, shared.feedback, np.uint64(self._seed),
        )  # fmt: skip
