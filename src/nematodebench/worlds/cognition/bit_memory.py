"""World `bit_memory`: one bit is shown with a cue, others without one follow, and the cued one is asked for."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, INK, Canvas

__all__ = ["BitMemory"]

_A, _B, _CUE, _GO = 0, 1, 2, 3


class Params(Block):
    """The fields of :class:`BitMemory`."""

    delay = constant()


class State(Block):
    """The clock, the bit to remember and the bit shown now."""

    step = number()
    bit = number()
    shown = number()


class Metrics(Block):
    """Whether the answer was right."""

    accuracy = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _show(state: State, obs: F32M, cue: float) -> None:
    obs[0] = np.float32(0.0)
    obs[0, _A if state.shown == 0.0 else _B] = np.float32(1.0)
    obs[0, _CUE] = np.float32(cue)


@kernel()
def _ask(obs: F32M, go: float) -> None:
    """Shows that the answer is wanted, or that the trial is over."""
    obs[0] = np.float32(0.0)
    obs[0, _GO] = np.float32(go)


@memory.reset
def reset(state: State, rng: U64, obs: F32M) -> None:
    """Shows the bit to remember, with the cue."""
    state.bit = randint(rng, 2)
    state.shown = state.bit
    _show(state, obs, 1.0)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """Shows the next distractor, then asks, then judges the answer."""
    asked = state.step > params.delay
    state.step += 1.0
    if asked:
        right = action[0, 0] == state.bit
        outcome.reward[0] = 1.0 if right else -1.0
        outcome.terminated = 1.0
        metrics.accuracy = 1.0 if right else 0.0
        _ask(obs, 0.0)
    elif state.step > params.delay:
        _ask(obs, 1.0)
    else:
        state.shown = randint(rng, 2)
        _show(state, obs, 0.0)


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Knows the bit."""
    action[0, 0] = np.float32(state.bit)


@dataclass(frozen=True)
class BitMemory(World):
    """One trial an episode: what came with the cue has to be remembered over `delay` distractors.

    | sensor | range | value |
    |---|---|---|
    | a, b | 0, 1 | the bit shown now: a = 1 or b = 1; both 0 while asking |
    | cue | 0, 1 | 1 in the first tick: this is the bit to remember |
    | go | 0, 1 | 1 in the last tick: the next action is the answer |

    | action | effect |
    |---|---|
    | 0 a, 1 b | in the last tick: the cued bit is claimed to be this one; before: none |

    | what | rule |
    |---|---|
    | first tick | a or b by a fair coin, cue = 1 |
    | ticks 1 to `delay` | a or b by a fair coin, cue = 0 |
    | last tick | go = 1 and nothing else, so that what is seen then says nothing about the answer |
    | reward | +1 right, -1 wrong, 0 before |
    | end | after the answer (terminated), which is tick `delay` + 2 |
    | accuracy | 1 if the answer was right, else 0 |
    """

    delay: int = 4

    name: ClassVar[str] = "bit_memory"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)

    @property
    def horizon(self) -> int:
        """The cue, the distractors, the answer."""
        return self.delay + 2

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The bit shown now, and whether it is to be remembered or asked for."""
        return tuple(Sensor(name) for name in ("a", "b", "cue", "go"))

    @property
    def actions(self) -> Discrete:
        """One answer for each bit."""
        return Discrete(("a", "b"))

    def image(self, state: State) -> NDArray[np.uint8]:
        """Shows the cued bit on the left and the bit shown now at its time; a is below, b above."""
        canvas = Canvas(-1.0, -0.5, self.horizon, 1.5)
        canvas.disc(0.0, state.bit, 0.3, GOAL)
        canvas.bar(min(state.step, self.horizon - 1.0), 0.5, 0.05, 2.0, INK)
        if state.step <= self.delay:
            canvas.disc(state.step, state.shown, 0.3, BODY)
        return canvas.pixels

    def text(self, state: State) -> str:
        """Says the time, the bit to remember and what is shown now."""
        now = "go" if state.step > self.delay else "ab"[int(state.shown)]
        return f"step {state.step:.0f} remember {'ab'[int(state.bit)]} now {now}"
