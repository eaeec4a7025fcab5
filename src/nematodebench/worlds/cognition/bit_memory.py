"""World `bit_memory`: one bit is shown with a cue, others without one follow, and the cued one is asked for."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number
from nematodebench.kernels.rng import randint
from nematodebench.kernels.scene import BRAIN, DANGER, FOOD, INK, MUTED, NULL, PAPER, RAY, label, readout, rectangle
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["BitMemory"]

_A, _B, _CUE, _GO = 0, 1, 2, 3
_QUESTION = 2.0
_PER_LINE = 11.0


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


@kernel()
def _square(rows: F64M, role: float, tick: float, size: float, opacity: float) -> None:
    """The square of a tick; the ticks go on in the next line where one is full."""
    rectangle(rows, role, tick % _PER_LINE, -np.floor(tick / _PER_LINE), size, size, 0.0, opacity)


@kernel()
def _letter(rows: F64M, role: float, tick: float, word: float) -> None:
    label(rows, role, tick % _PER_LINE, -np.floor(tick / _PER_LINE), 0.5, word, -1.0, 0.0)


@memory.scene
def scene(params: Params, state: State, action: F32M, outcome: Outcome, rows: F64M) -> None:
    """The ticks of a trial from left to right: the cued bit first, what is shown now, and the answer at the end."""
    now, asked = state.step, params.delay + 1.0
    for tick in range(int(asked) + 1):
        _square(rows, MUTED, float(tick), 0.8, 0.25)
    if now <= asked:
        _square(rows, RAY, now, 0.94, 0.5)
    _square(rows, FOOD, 0.0, 0.8, 1.0)
    _letter(rows, PAPER, 0.0, state.bit)
    if 0.0 < now <= params.delay:
        _square(rows, NULL, now, 0.8, 1.0)
        _letter(rows, PAPER, now, state.shown)
    elif now == asked:
        _letter(rows, INK, asked, _QUESTION)
    elif now > asked:
        _square(rows, BRAIN if outcome.reward[0] > 0.0 else DANGER, asked, 0.8, 1.0)
        _letter(rows, PAPER, asked, float(action[0, 0]))
    readout(rows, 3.0, 0.0, state.step)


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
    scene = staticmethod(scene)

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

    def picture(self) -> Picture:
        """One square a tick, in lines."""
        legend = {
            "food": "cued bit", "null": "distractor", "ray": "now", "brain": "right answer", "danger": "wrong answer",
        }  # fmt: skip
        wide, lines = min(self.horizon, int(_PER_LINE)), math.ceil(self.horizon / _PER_LINE)
        view = (-0.7, 0.3 - lines, wide - 0.3, 0.7)
        return Picture(view, words=("a", "b", "?", "step"), legend=legend, frames=2)

    def text(self, state: State) -> str:
        """Says the time, the bit to remember and what is shown now."""
        now = "go" if state.step > self.delay else "ab"[int(state.shown)]
        return f"step {state.step:.0f} remember {'ab'[int(state.bit)]} now {now}"
