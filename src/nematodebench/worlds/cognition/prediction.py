"""World `prediction`: guess the next value of a noisy signal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import TWO_PI
from nematodebench.kernels.jit import F32M, F64M, U64, kernel
from nematodebench.kernels.math import sin64
from nematodebench.kernels.memory import Block, constant, number, numbers
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import BRAIN, DANGER, FOOD, MUTED, line, readout, trace
from nematodebench.worlds.base import Discrete, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Prediction"]

_KINDS = ("sine", "square", "random_walk")
_SINE, _SQUARE, _WALK = 0, 1, 2
_MEMORY = 10
_LATEST = _MEMORY - 1
_RATE, _NOISE = 0.1, 0.1
_WIDE, _NOW, _STEPS_SHOWN = 2.2, 2.0, 60.0


class Params(Block):
    """The fields of :class:`Prediction`, the kind as its place among the kinds."""

    kind = constant()
    levels = constant()
    max_steps = constant()


class State(Block):
    """The clock, the phase, the sum of errors, and the last values, the latest last."""

    step = number()
    phase = number()
    error = number()
    values = numbers(_MEMORY)


class Metrics(Block):
    """Mean error of a guess."""

    error = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _expected(params: Params, state: State, step: float) -> float:
    """The signal at a step without its noise; for a random walk that is where it is now."""
    kind = int(params.kind)
    if kind == _WALK:
        latest: float = state.values[_LATEST]
        return latest
    sine = sin64(state.phase + _RATE * step)
    if kind == _SQUARE:
        return 1.0 if sine >= 0.0 else -1.0
    return sine


@kernel()
def _advance(params: Params, state: State, rng: U64, step: float) -> None:
    """Appends the signal at a step to the last values."""
    drawn = _expected(params, state, step) + _NOISE * (2.0 * uniform(rng) - 1.0)
    for n in range(_LATEST):
        state.values[n] = state.values[n + 1]
    state.values[_LATEST] = min(max(drawn, -1.0), 1.0)


@kernel()
def _sense(params: Params, state: State, obs: F32M) -> None:
    for n in range(_MEMORY):
        obs[0, n] = np.float32(state.values[n])
    for kind in range(3):
        obs[0, _MEMORY + kind] = np.float32(1.0 if int(params.kind) == kind else 0.0)
    obs[0, _MEMORY + 3] = np.float32(state.step / params.max_steps)


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """Draws a new phase and the values up to step 0."""
    state.phase = TWO_PI * uniform(rng)
    for n in range(_MEMORY):
        _advance(params, state, rng, n + 1.0 - _MEMORY)
    _sense(params, state, obs)


@memory.kernel
def step(params: Params, state: State, rng: U64, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The world draws the next value and compares it with the guess."""
    choice, levels = int(action[0, 0]), int(params.levels)
    state.step += 1.0
    _advance(params, state, rng, state.step)
    error = 1.0
    if choice < levels:
        guess = 2.0 * choice / (levels - 1) - 1.0
        error = min(abs(guess - state.values[_LATEST]), 1.0)
    state.error += error
    _sense(params, state, obs)
    outcome.truncated = 1.0 if state.step >= params.max_steps else 0.0
    outcome.reward[0] = 1.0 - error
    metrics.error = state.error / state.step


@memory.kernel
def reference(params: Params, state: State, action: F32M) -> None:
    """Knows the phase, not the noise to come."""
    expected = _expected(params, state, state.step + 1.0)
    action[0, 0] = np.float32(np.floor(0.5 * (expected + 1.0) * (params.levels - 1.0) + 0.5))


@memory.scene
def scene(params: Params, state: State, action: F32M, rows: F64M) -> None:
    """The signal and the guesses as curves that run to the left, and how far the last guess was off."""
    for level in range(-1, 2):
        line(rows, MUTED, -_WIDE, float(level), _WIDE, float(level), 0.0, 0.35)
    latest, stride = state.values[_LATEST], (_NOW + _WIDE) / _STEPS_SHOWN
    for n in range(_LATEST):
        x = _NOW - (_LATEST - n) * stride
        line(rows, FOOD, x, state.values[n], x + stride, state.values[n + 1], 0.05, 1.0)
    trace(rows, FOOD, _NOW, 0.0, _NOW + _WIDE, 1.0, _STEPS_SHOWN, latest)
    if state.step > 0.0:
        guess = min(max(2.0 * float(action[0, 0]) / (params.levels - 1.0) - 1.0, -1.0), 1.0)
        line(rows, DANGER, _NOW, latest, _NOW, guess, 0.04, 0.9)
        trace(rows, BRAIN, _NOW, 0.0, _NOW + _WIDE, 1.0, _STEPS_SHOWN, guess)
        readout(rows, 1.0, 3.0, state.error / state.step)
    readout(rows, 0.0, 0.0, state.step)


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
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The last values, the kind, the time."""
        values = (Sensor(f"back_{back}", -1.0) for back in reversed(range(_MEMORY)))
        return (*values, *(Sensor(kind) for kind in _KINDS), Sensor("time"))

    @property
    def actions(self) -> Discrete:
        """Evenly spaced guesses."""
        return Discrete(tuple(f"level_{level}" for level in range(self.levels)))

    def tables(self) -> Mapping[str, Any]:
        """The kind as a number."""
        return {"kind": _KINDS.index(self.kind)}

    def picture(self) -> Picture:
        """The last steps, now on the right."""
        legend = {"food": "signal", "brain": "guesses", "danger": "error of the last guess"}
        return Picture((-_WIDE, -1.3, _WIDE, 1.3), words=("step", "mean error"), legend=legend, frames=8)

    def text(self, state: State) -> str:
        """The latest value and the summed error."""
        return f"step {state.step:.0f} value {state.values[_LATEST]:.2f} error {state.error:.2f}"
