"""World `pattern_memory`: a sequence of symbols is shown once and has to be recalled in order."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import F32M, F64, OUT_REWARD, U64, kernel, world_kernel
from nematodebench.kernels.rng import randint
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, Canvas

__all__ = ["PatternMemory"]

_P_LENGTH, _P_SYMBOLS = 0, 1
_S_STEP, _S_RIGHT, _S_RECALLED, _S_PATTERN = 0, 1, 2, 3
_WRONG = -0.3


@kernel()
def _sense(params: F64, state: F64, obs: F32M) -> None:
    length, symbols, now = int(params[_P_LENGTH]), int(params[_P_SYMBOLS]), int(state[_S_STEP])
    showing = now < length
    for symbol in range(symbols):
        shown = showing and int(state[_S_PATTERN + now]) == symbol
        obs[0, symbol] = np.float32(1.0 if shown else 0.0)
    obs[0, symbols] = np.float32(1.0 if showing else 0.0)
    obs[0, symbols + 1] = np.float32(0.0 if showing else 1.0)
    obs[0, symbols + 2] = np.float32((now if showing else now - length) / length)
    obs[0, symbols + 3] = np.float32(state[_S_RIGHT])


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """A new pattern, its first symbol in sight."""
    state[:] = 0.0
    for position in range(int(params[_P_LENGTH])):
        state[_S_PATTERN + position] = randint(rng, int(params[_P_SYMBOLS]))
    _sense(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Show the next symbol, or take the action as a recalled one."""
    length = int(params[_P_LENGTH])
    position = int(state[_S_STEP]) - length
    reward = 0.0
    if position >= 0:
        right = int(action[0, 0]) == int(state[_S_PATTERN + position])
        state[_S_RIGHT] = 1.0 if right else 0.0
        state[_S_RECALLED] += state[_S_RIGHT]
        reward = 1.0 if right else _WRONG
    state[_S_STEP] += 1.0
    _sense(params, state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_STEP] >= 2 * length else 0.0
    out[OUT_REWARD] = reward
    out[3] = state[_S_RECALLED]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Knows the pattern."""
    now, length = int(state[_S_STEP]), int(params[_P_LENGTH])
    action[0, 0] = np.float32(state[_S_PATTERN + now % length])


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("recalled",)

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
        """One a symbol."""
        return Discrete(tuple(f"symbol_{symbol}" for symbol in range(self.symbols)))

    @property
    def state_size(self) -> int:
        """Clock, counts, the pattern."""
        return _S_PATTERN + self.length

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.length, self.symbols], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The pattern from left to right, higher symbols higher up; the current position stands out."""
        canvas = Canvas(-0.5, -0.5, self.length - 0.5, self.symbols - 0.5)
        now = int(state[_S_STEP]) % self.length
        for position, symbol in enumerate(state[_S_PATTERN:]):
            canvas.disc(position, symbol, 0.3, BODY if position == now else GOAL)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """The pattern and the number recalled."""
        pattern = "".join(f"{symbol:.0f}" for symbol in state[_S_PATTERN:])
        return f"step {state[_S_STEP]:.0f} pattern {pattern} recalled {state[_S_RECALLED]:.0f}"
