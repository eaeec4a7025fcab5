"""World `rhythm`: a joint picks up a pacemaker's rhythm and goes on beating when it falls silent."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.abi import OUT_REWARD, world_kernel
from nematodebench.kernels.jit import F32M, F64, U64, kernel
from nematodebench.kernels.math import cos64, exp64, log64, sin64
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Effectors, Sensor, World
from nematodebench.worlds.draw.canvas import BODY, GOAL, INK, Canvas

__all__ = ["Rhythm"]

_P_SHORTEST, _P_LONGEST, _P_TICKS, _P_WINDOW = 0, 1, 2, 3
_S_JOINT, _S_PERIOD, _S_TICK, _S_SINE, _S_COSINE = 0, 1, 2, 3, 4
_S_LOG = 5
_TWO_PI = 6.283185307179586
_DAMPING = 0.2
_ENOUGH_AMPLITUDE = 0.2
_TOLERANCE = 0.1


@kernel()
def _beat(params: F64, state: F64, obs: F32M) -> None:
    """The pacemaker at this tick, heard only during the first half."""
    period = int(state[_S_PERIOD])
    phase = _TWO_PI * (int(state[_S_TICK]) % period) / period
    state[_S_SINE], state[_S_COSINE] = sin64(phase), cos64(phase)
    heard = 2.0 * state[_S_TICK] < params[_P_TICKS]
    obs[0, 0] = np.float32(state[_S_SINE] if heard else 0.0)
    obs[0, 1] = np.float32(state[_S_COSINE] if heard else 0.0)


@kernel()
def _bin_power(signal: F64, k: int) -> float:
    """|sum of a exp(-2 pi i k n / N)|^2 with a phasor turned step by step."""
    turn = _TWO_PI * k / signal.size
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
    size = signal.size
    alternating = 0.0
    if size % 2 == 0:
        for n in range(size):
            alternating += signal[n] if n % 2 == 0 else -signal[n]
    return 0.5 * (size * size * variance + alternating * alternating)


@kernel()
def _write_metrics(params: F64, state: F64, out: F64) -> None:
    period, window = int(state[_S_PERIOD]), int(params[_P_WINDOW])
    beats = window // period
    size = beats * period
    signal = state[_S_LOG + window - size : _S_LOG + window]
    variance = _variance(signal)
    reach = max(1, int(np.rint(_TOLERANCE * beats)))
    power = 0.0
    for k in range(max(1, beats - reach), min(size // 2, beats + reach) + 1):
        power += _bin_power(signal, k)
    lock = min(power / _total_power(signal, variance), 1.0) if variance > 0.0 else 0.0
    amplitude = np.sqrt(variance)
    gate = min(amplitude / _ENOUGH_AMPLITUDE, 1.0)
    out[3], out[4], out[5] = lock * gate, gate, lock
    out[6], out[7] = amplitude, float(period)


@world_kernel
def reset(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """A new period; the joint at rest."""
    state[:] = 0.0
    low, high = params[_P_SHORTEST], params[_P_LONGEST] + 1.0
    drawn = np.floor(low * exp64(uniform(rng) * log64(high / low)))
    state[_S_PERIOD] = min(max(drawn, low), high - 1.0)
    _beat(params, state, obs)
    out[:] = 0.0


@world_kernel
def step(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Move the joint, then the pacemaker's beat."""
    drive = float(action[0, 0]) - float(action[0, 1])
    state[_S_JOINT] += _DAMPING * (drive - state[_S_JOINT])
    reward = state[_S_JOINT] * state[_S_SINE]
    state[_S_TICK] += 1.0
    logged = int(state[_S_TICK] - params[_P_TICKS] + params[_P_WINDOW]) - 1
    if logged >= 0:
        state[_S_LOG + logged] = state[_S_JOINT]
    _beat(params, state, obs)
    out[0] = 0.0
    out[1] = 1.0 if state[_S_TICK] >= params[_P_TICKS] else 0.0
    out[OUT_REWARD] = reward
    if out[1] != 0.0:
        _write_metrics(params, state, out)


@world_kernel
def reference(params: F64, state: F64, rng: U64, action: F32M, obs: F32M, out: F64) -> None:
    """Copies the pacemaker, silent or not."""
    action[0, 0], action[0, 1] = np.float32(max(state[_S_SINE], 0.0)), np.float32(max(-state[_S_SINE], 0.0))


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
    reset: ClassVar[Any] = staticmethod(reset)
    step: ClassVar[Any] = staticmethod(step)
    reference: ClassVar[Any] = staticmethod(reference)
    metrics: ClassVar[tuple[str, ...]] = ("lock", "gate", "ungated", "amplitude", "period")

    def __post_init__(self) -> None:
        """A window must hold at least one period."""
        if not 2 <= self.shortest <= self.longest <= self.window:
            raise ValueError(f"rhythm needs 2 <= shortest <= longest <= window, not {self}")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """The pacemaker's phase."""
        return (Sensor("sine", -1.0), Sensor("cosine", -1.0))

    @property
    def actions(self) -> Effectors:
        """Two muscles of the joint."""
        return Effectors(("e1", "e2"))

    @property
    def state_size(self) -> int:
        """Joint, pacemaker, clock, and the joint's course in the window."""
        return _S_LOG + self.window

    def pack(self) -> F64:
        """The fields in order."""
        return np.array([self.shortest, self.longest, self.ticks, self.window], dtype=np.float64)

    def image(self, state: F64) -> NDArray[np.uint8]:
        """The joint as a hand, the pacemaker as a dot going round."""
        canvas = Canvas(-1.2, -1.2, 1.2, 1.2)
        canvas.line(0.0, 0.0, np.pi / 2.0 * (1.0 - state[_S_JOINT]), 1.0, INK)
        canvas.disc(0.0, 0.0, 0.1, BODY)
        canvas.disc(state[_S_SINE], state[_S_COSINE], 0.06, GOAL)
        return canvas.pixels

    def text(self, state: F64) -> str:
        """Joint and pacemaker."""
        beat = f"pacemaker {state[_S_SINE]:.2f} period {state[_S_PERIOD]:.0f}"
        return f"tick {state[_S_TICK]:.0f} joint {state[_S_JOINT]:.2f} {beat}"
