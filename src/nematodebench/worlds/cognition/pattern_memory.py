"""World `pattern_memory`: a sequence of symbols is shown once and has to be recalled in order."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import randint
from nematodebench.kernels.scene import BRAIN, DANGER, FOOD, MUTED, NO_WORD, PAPER, RAY, bar, label, readout, rectangle
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["PatternMemory"]

_WRONG = -0.3


class Params(Block):
    """The fields of :class:`PatternMemory`."""

    length = size()
    symbols = constant()


class State(Block, sizes=Params):
    """The clock, whether the last recall was right, how many were, and the pattern."""

    step = number()
    right = number()
    recalled = number()
    pattern = numbers("length")


class Metrics(Block):
    """Symbols recalled."""

    recalled = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    length, symbols, now = params.length, int(params.symbols), int(state.step)
    showing = now < length
    for symbol in range(symbols):
        shown = showing and int(state.pattern[now]) == symbol
        obs[0, symbol] = np.float32(1.0 if shown else 0.0)
    obs[0, symbols] = np.float32(1.0 if showing else 0.0)
    obs[0, symbols + 1] = np.float32(0.0 if showing else 1.0)
    obs[0, symbols + 2] = np.float32((now if showing else now - length) / length)
    obs[0, symbols + 3] = np.float32(state.right)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Draws a new pattern and shows its first symbol."""
    for position in range(params.length):
        state.pattern[position] = randint(rng, int(params.symbols))
    _sense(params, state, obs)


@memory.kernel
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The world shows the next symbol, or takes the action as a recalled one."""
    position = int(state.step) - params.length
    reward = 0.0
    if position >= 0:
        right = int(action[0, 0]) == int(state.pattern[position])
        state.right = 1.0 if right else 0.0
        state.recalled += state.right
        reward = 1.0 if right else _WRONG
    state.step += 1.0
    _sense(params, state, obs)
    outcome.truncated = 1.0 if state.step >= 2 * params.length else 0.0
    outcome.reward[0] = reward
    metrics.recalled = state.recalled


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Knows the pattern."""
    action[0, 0] = np.float32(state.pattern[int(state.step) % params.length])


@memory.scene
def scene(params: Params, state: State, action: F32M, rows: F64M) -> None:
    """The pattern as far as it was shown, the place that it is at, and the last recall below its place."""
    now = int(state.step)
    at = now % params.length
    recalling = now >= params.length
    if now < 2 * params.length:
        rectangle(rows, RAY, float(at), 0.0 if recalling else 1.0, 0.94, 0.94, 0.0, 0.35)
    for position in range(params.length):
        shown = recalling or position <= now
        rectangle(rows, FOOD if shown else MUTED, float(position), 1.0, 0.8, 0.8, 0.0, 0.9 if shown else 0.25)
        if shown:
            label(rows, PAPER, float(position), 1.0, 0.5, NO_WORD, 0.0, state.pattern[position])
        rectangle(rows, MUTED, float(position), 0.0, 0.8, 0.8, 0.0, 0.25)
    last = now - params.length - 1
    if last >= 0:
        role = BRAIN if state.right > 0.0 else DANGER
        rectangle(rows, role, float(last), 0.0, 0.8, 0.8, 0.0, 1.0)
        label(rows, PAPER, float(last), 0.0, 0.5, NO_WORD, 0.0, float(action[0, 0]))
    label(rows, MUTED, 0.5 * params.length - 0.5, 1.75, 0.26, 2.0 if recalling else 1.0, -1.0, 0.0)
    readout(rows, 0.0, 0.0, state.step)
    bar(rows, BRAIN, 3.0, state.recalled / params.length)


@dataclass(frozen=True)
class PatternMemory(World):
    """`length` symbols of `symbols` kinds, drawn anew every episode, are shown one a step and then recalled in order.

    | sensor | range | value |
    |---|---|---|
    | symbol_0.. | 0, 1 | one-hot: the symbol shown now; all 0 during recall |
    | showing, recalling | 0, 1 | which phase the next action falls into |
    | position | 0..1 | position in the phase over length (1 when all is over) |
    | right | 0, 1 | the last recall was right |

    | action | effect |
    |---|---|
    | 0..symbols - 1 | while showing: none; while recalling: the symbol at this position is claimed to be this one |
    | any other | while showing: none; while recalling: wrong |

    | what | rule |
    |---|---|
    | reward | +1 a right recall, -0.3 a wrong one, 0 while showing; at most `length` an episode |
    | end | after 2 length steps (truncated) |
    | metrics | symbols recalled |

    A policy without memory recalls at most length / symbols of a pattern on average. Each symbol is drawn for itself,
    and what is seen during recall says nothing about the one that is asked for: `right` is about the one before.

    | preset | length | symbols |
    |---|---|---|
    | standard | 5 | 4 |
    | easy | 3 | 2 |
    | hard | 7 | 6 |
    """

    length: int = 5
    symbols: int = 4

    name: ClassVar[str] = "pattern_memory"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @classmethod
    def easy(cls) -> "PatternMemory":
        """Three symbols of two kinds."""
        return cls(length=3, symbols=2)

    @classmethod
    def hard(cls) -> "PatternMemory":
        """Seven symbols of six kinds."""
        return cls(length=7, symbols=6)

    @property
    def horizon(self) -> int:
        """Every symbol is shown once and asked for once."""
        return 2 * self.length

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The symbol, the phase, the position, the last success."""
        names = ("showing", "recalling", "position", "right")
        return (*(Sensor(name) for name in self.actions.names), *(Sensor(name) for name in names))

    @property
    def actions(self) -> Discrete:
        """One action for each symbol."""
        return Discrete(tuple(f"symbol_{symbol}" for symbol in range(self.symbols)))

    def picture(self) -> Picture:
        """The pattern above, its recall below."""
        legend = {"food": "the pattern", "brain": "right recall", "danger": "wrong recall", "ray": "now"}
        words = ("step", "the pattern is shown", "the pattern is recalled", "recalled")
        view = (-0.7, -0.7, self.length - 0.3, 2.1)
        return Picture(view, words=words, legend=legend, frames=3)

    def text(self, state: State) -> str:
        """The pattern and the number recalled."""
        pattern = "".join(f"{symbol:.0f}" for symbol in state.pattern)
        return f"step {state.step:.0f} pattern {pattern} recalled {state.recalled:.0f}"
