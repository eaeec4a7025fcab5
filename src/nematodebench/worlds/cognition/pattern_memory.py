"""World `pattern_memory`: a sequence of symbols is shown once and has to be recalled in order."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.jit import F32M, U64, kernel
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, Canvas

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

    def image(self, state: State) -> NDArray[np.uint8]:
        """The pattern from left to right, higher symbols higher up; the current position stands out."""
        canvas = Canvas(-0.5, -0.5, self.length - 0.5, self.symbols - 0.5)
        now = int(state.step) % self.length
        for position, symbol in enumerate(state.pattern):
            canvas.disc(position, symbol, 0.3, BODY if position == now else GOAL)
        return canvas.pixels

    def text(self, state: State) -> str:
        """The pattern and the number recalled."""
        pattern = "".join(f"{symbol:.0f}" for symbol in state.pattern)
        return f"step {state.step:.0f} pattern {pattern} recalled {state.recalled:.0f}"
