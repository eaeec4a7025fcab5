"""World `prediction`: guess the next value of a noisy signal."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.math import sin64
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, Canvas

__all__ = ["Prediction"]

_KINDS = ("sine", "square", "random_walk")
_SINE, _SQUARE, _WALK = 0, 1, 2
_P_KIND, _P_LEVELS, _P_MAX_STEPS = 0, 1, 2
_S_STEP, _S_PHASE, _S_ERROR, _S_VALUES = 0, 1, 2, 3
_MEMORY = 10
_LATEST = _S_VALUES + _MEMORY - 1
_RATE, _NOISE = 0.1, 0.1
_TWO_PI = 6.283185307179586


@kernel()
def _expected(params: F64, state: F64, step: float) -> float:
    """The signal at a step without its noise: of a random walk, where it is now."""
    kind = int(params[_P_KIND])
    if kind == _WALK:
        latest: float = state[_LATEST]
        return latest
    sine = sin64(state[_S_PHASE] + _RATE * step)
    if kind == _SQUARE:
        return 1.0 if sine >= 0.0 else -1.0
    return sine


@kernel()
def _advance(params: F64, state: F64, rng: U64, step: float) -> None:
    """Appends the signal at a step to the last values."""
    drawn = _expected(params, state, step) + _NOISE * (2.0 * uniform(rng) - 1.0)
    for n in range(_S_VALUES, _LATEST):
        state[n] = state[n + 1]
    state[_LATEST] = min(max(drawn, -1.0), 1.0)


@kernel()
def _sense(params: F64, state: F64, obs: F32M) -> None:
    for n in range(_MEMORY):
        obs[0, n] = np.float32(state[_S_VALUES + n])
    for kind in range(3):
        obs[0, _MEMORY + kind] = np.float32(1.0 if int(params[_P_KIND]) == kind else 0.0)
    obs[0, _MEMORY + 3] = np.float32(state[_S_STEP] / params[_P_MAX_STEPS])


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """A new phase, and the values up to step 0."""
    state[:] = 0.0
    state[_S_PHASE] = _TWO_PI * uniform(rng)
    for n in range(_MEMORY):
        _advance(params, state, rng, n + 1.0 - _MEMORY)
    _sense(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Draw the next value and compare it with the guess."""
    choice, levels = int(action[0, 0]), int(params[_P_LEVELS])
    state[_S_STEP] += 1.0
    _advance(params, state, rng, state[_S_STEP])
    error = 1.0
    if choice < levels:
        guess = 2.0 * choice / (levels - 1) - 1.0
        error = min(abs(guess - state[_LATEST]), 1.0)
    state[_S_ERROR] += error
    _sense(params, state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_STEP] >= params[_P_MAX_STEPS] else 0.0
    out[OUT_REWARD] = 1.0 - error
    out[3] = state[_S_ERROR] / state[_S_STEP]


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Knows the phase, not the noise to come."""
    expected = _expected(params, state, state[_S_STEP] + 1.0)
    action[0, 0] = np.float32(np.floor(0.5 * (expected + 1.0) * (params[_P_LEVELS] - 1.0) + 0.5))


@dataclass(frozen=True)
class Prediction(World):
    """A signal within [-1, 1] of which the next value is to be guessed every step.

    | sensor | range | value |
    |---|---|---|
    | back_9..back_0 | -1..1 | the last 10 values, the latest last |
    | sine, square, random_walk | 0, 1 | one-hot: the kind of signal |
    | time | 0..1 | steps over max_steps |

    | action | effect |
    |---|---|
    | 0..levels - 1 | guesses 2 action/(levels - 1) - 1: levels evenly spaced from -1 to 1 |
    | any other | no guess, the error is 1 |

    | kind | value at step t, with noise uniform in +-0.1, clipped to [-1, 1] |
    |---|---|
    | sine | sin(phase + 0.1 t) + noise, phase uniform |
    | square | sign of that sine + noise |
    | random_walk | the value before + noise, starting around 0 |

    | what | rule |
    |---|---|
    | start | the ten values before the first guess are drawn like all others |
    | reward | 1 - min(abs(guess - value), 1): at most max_steps an episode |
    | end | after max_steps (truncated) |
    | metrics | error: mean of min(abs(guess - value), 1) |

    Only sine is scored: a constant guess does well on the others.
    """

    kind: str = "sine"
    levels: int = 10
    max_steps: int = 100

    name: ClassVar[str] = "prediction"
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("error",)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The last values, the kind, the time."""
        values = (Sensor(f"back_{back}", -1.0) for back in reversed(range(_MEMORY)))
        return (*values, *(Sensor(kind) for kind in _KINDS), Sensor("time"))

    @property
    def actions(self) -> Discrete:
        """Evenly spaced guesses."""
        return Discrete(tuple(f"level_{level}" for level in range(self.levels)))

    @property
    def state_size(self) -> int:
        """Clock, phase, error, the last values."""
        return _S_VALUES + _MEMORY

    def pack(self) -> F64:
        """The fields in order, the kind as a number."""
        return np.array([_KINDS.index(self.kind), self.levels, self.max_steps], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The last values, the latest on the right."""
        canvas = Canvas(-0.5, -1.2, _MEMORY - 0.5, 1.2)
        for n, value in enumerate(state[_S_VALUES:]):
            canvas.bar(n, value / 2.0, 0.6, max(abs(value), 0.02), BODY)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """The latest value and the summed error."""
        return f"step {state[_S_STEP]:.0f} value {state[_LATEST]:.2f} error {state[_S_ERROR]:.2f}"
