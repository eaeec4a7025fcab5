"""World `rhythm`: a joint picks up a pacemaker's rhythm and goes on beating when it falls silent."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.kernels.abi import Outcome, WorldMemory
from nematodebench.kernels.angles import TWO_PI
from nematodebench.kernels.jit import F32M, F64, F64M, U64, kernel
from nematodebench.kernels.math import cos64, exp64, log64, sin64
from nematodebench.kernels.memory import Block, constant, number, numbers, size
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.scene import BRAIN, FOOD, MUTED, NULL, label, line, readout, trace
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.picture import Picture

__all__ = ["Rhythm"]

_DAMPING = 0.2
_ENOUGH_AMPLITUDE = 0.2
_TOLERANCE = 0.1
_WIDE, _NOW, _TICKS_SHOWN = 2.4, 2.2, 160.0


class Params(Block):
    """The fields of :class:`Rhythm`."""

    shortest = constant()
    longest = constant()
    ticks = constant()
    window = size()


class State(Block, sizes=Params):
    """The joint, the pacemaker, the clock, and the course of the joint in the window."""

    joint = number()
    period = number()
    tick = number()
    sine = number()
    cosine = number()
    course = numbers("window")


class Metrics(Block):
    """The score, its two factors, and what they are made of."""

    lock = number()
    gate = number()
    ungated = number()
    amplitude = number()
    period = number()


memory = WorldMemory(Params, State, Metrics)


@kernel()
def _beat(params: Params, state: State, obs: F32M) -> None:
    """The pacemaker at this tick; it is heard only during the first half."""
    period = int(state.period)
    phase = TWO_PI * (int(state.tick) % period) / period
    state.sine, state.cosine = sin64(phase), cos64(phase)
    heard = 2.0 * state.tick < params.ticks
    obs[0, 0] = np.float32(state.sine if heard else 0.0)
    obs[0, 1] = np.float32(state.cosine if heard else 0.0)


@kernel()
def _bin_power(signal: F64, k: int) -> float:
    """|sum of a exp(-2 pi i k n / N)|^2 with a phasor turned step by step."""
    turn = TWO_PI * k / signal.size
    c, s = cos64(turn), sin64(turn)
    real, imaginary = 1.0, 0.0
    x, y = 0.0, 0.0
    for n in range(signal.size):
        x += signal[n] * real
        y += signal[n] * imaginary
        real, imaginary = real * c - imaginary * s, real * s + imaginary * c
    return x * x + y * y


@kernel()
def _variance(signal: F64) -> float:
    mean, total = 0.0, 0.0
    for n in range(signal.size):
        mean += signal[n]
    mean /= signal.size
    for n in range(signal.size):
        total += (signal[n] - mean) * (signal[n] - mean)
    return total / signal.size


@kernel()
def _total_power(signal: F64, variance: float) -> float:
    """Power of the bins 1..N/2: half of Parseval's sum, in which all but the last of an even N come twice."""
    count = signal.size
    alternating = 0.0
    if count % 2 == 0:
        for n in range(count):
            alternating += signal[n] if n % 2 == 0 else -signal[n]
    return 0.5 * (count * count * variance + alternating * alternating)


@kernel()
def _power_near(signal: F64, beats: int) -> float:
    """Power of the bins around the one in which the beat lies."""
    reach = max(1, int(np.rint(_TOLERANCE * beats)))
    power = 0.0
    for k in range(max(1, beats - reach), min(signal.size // 2, beats + reach) + 1):
        power += _bin_power(signal, k)
    return power


@kernel()
def _write_metrics(params: Params, state: State, metrics: Metrics) -> None:
    beats = params.window // int(state.period)
    signal = state.course[params.window - beats * int(state.period) :]
    variance = _variance(signal)
    lock = min(_power_near(signal, beats) / _total_power(signal, variance), 1.0) if variance > 0.0 else 0.0
    amplitude = np.sqrt(variance)
    gate = min(amplitude / _ENOUGH_AMPLITUDE, 1.0)
    metrics.lock, metrics.gate, metrics.ungated = lock * gate, gate, lock
    metrics.amplitude, metrics.period = amplitude, state.period


@memory.reset
def reset(params: Params, state: State, rng: U64, obs: F32M) -> None:
    """A new period is drawn; the joint is at rest."""
    low, high = params.shortest, params.longest + 1.0
    drawn = np.floor(low * exp64(uniform(rng) * log64(high / low)))
    state.period = min(max(drawn, low), high - 1.0)
    _beat(params, state, obs)


@memory.kernel
def step(params: Params, state: State, action: F32M, obs: F32M, outcome: Outcome, metrics: Metrics) -> None:
    """The joint moves, then the pacemaker beats."""
    drive = float(action[0, 0] - action[0, 1])
    state.joint += _DAMPING * (drive - state.joint)
    outcome.reward[0] = state.joint * state.sine
    state.tick += 1.0
    logged = int(state.tick - params.ticks + params.window) - 1
    if logged >= 0:
        state.course[logged] = state.joint
    _beat(params, state, obs)
    if state.tick >= params.ticks:
        outcome.truncated = 1.0
        _write_metrics(params, state, metrics)


@memory.kernel
def reference(state: State, action: F32M) -> None:
    """Copies the pacemaker, silent or not."""
    action[0, 0], action[0, 1] = np.float32(max(state.sine, 0.0)), np.float32(max(-state.sine, 0.0))


@memory.scene
def scene(params: Params, state: State, rows: F64M) -> None:
    """Pacemaker and joint as curves that run to the left; a silent pacemaker is grey."""
    for level in range(-1, 2):
        line(rows, MUTED, -_WIDE, float(level), _WIDE, float(level), 0.0, 0.35)
    heard = 2.0 * state.tick < params.ticks
    trace(rows, FOOD if heard else NULL, _NOW, 0.0, _NOW + _WIDE, 1.0, _TICKS_SHOWN, state.sine)
    trace(rows, BRAIN, _NOW, 0.0, _NOW + _WIDE, 1.0, _TICKS_SHOWN, state.joint)
    label(rows, MUTED, 0.0, 1.3, 0.2, 2.0 if heard else 3.0, -1.0, 0.0)
    readout(rows, 0.0, 0.0, state.tick)
    readout(rows, 1.0, 0.0, state.period)


@dataclass(frozen=True)
class Rhythm(World):
    """A damped joint a and a pacemaker whose period P, an integer, is new in every episode.

    | sensor | range | value |
    |---|---|---|
    | sine, cosine | -1..1 | of the pacemaker's phase 2 pi t/P at ticks t < ticks/2; then 0 |

    | effector | range | effect |
    |---|---|---|
    | e1, e2 | 0..1 | a += 0.2 ((e1 - e2) - a) |

    | what | rule |
    |---|---|
    | start | a = 0, t = 0, P = floor(shortest ((longest + 1)/shortest)^u), u uniform: log-uniform on shortest..longest |
    | reward | a x sine of the pacemaker, heard or not |
    | end | after `ticks` (truncated) |
    | window | the last m P ticks, m = floor(window/P) |
    | lock | ungated x gate |
    | ungated | Fourier power of a in bins within max(1, round(0.1 m)) of m over the power of all bins >= 1; 0 for a constant a |
    | gate | clamp(amplitude/0.2, 0, 1), amplitude = standard deviation of a |
    """  # noqa: E501

    shortest: int = 16
    longest: int = 64
    ticks: int = 1000
    window: int = 500

    name: ClassVar[str] = "rhythm"
    memory = memory
    reset = staticmethod(reset)
    step = staticmethod(step)
    reference = staticmethod(reference)
    scene = staticmethod(scene)

    def __post_init__(self) -> None:
        """A window must hold at least one period."""
        if not 2 <= self.shortest <= self.longest <= self.window:
            raise ValueError(f"rhythm needs 2 <= shortest <= longest <= window, not {self}")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Both halves of the pacemaker's phase are heard."""
        return (Sensor("sine", -1.0), Sensor("cosine", -1.0))

    @property
    def actions(self) -> Effectors:
        """There are two muscles of the joint."""
        return Effectors(("e1", "e2"))

    def picture(self) -> Picture:
        """The last ticks, now on the right."""
        legend = {"brain": "joint", "food": "pacemaker, heard", "null": "pacemaker, silent"}
        words = ("tick", "period", "the pacemaker is heard", "the pacemaker is silent")
        return Picture((-_WIDE, -1.25, _WIDE, 1.55), words=words, legend=legend, frames=30)

    def text(self, state: State) -> str:
        """Says where joint and pacemaker are."""
        beat = f"pacemaker {state.sine:.2f} period {state.period:.0f}"
        return f"tick {state.tick:.0f} joint {state.joint:.2f} {beat}"
