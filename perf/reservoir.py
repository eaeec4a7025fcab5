"""Ticks a second of homeostatic_reservoir (N = 200), beside the same equations in plain NumPy in the same run.

All start from the same connections and weights and see the same stream of inputs (tracking's 62 units, a target that
wanders), one core, plasticity on. The ratio is to NumPy with its own default, float64; float32, what the brain itself
computes in, is printed beside it. Rounds alternate and the best of each counts, so that a busy machine disturbs none
more than the others.
"""

import time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface
from nematodebench.brains.parts.liveness import liveness_of
from nematodebench.brains.reservoir.homeostatic_reservoir import (
    HomeostaticReservoir,
    HomeostaticReservoirConfig,
    Memory,
)
from nematodebench.engine.compiled_brain import aligned
from nematodebench.kernels.abi import BRAIN, Feedback
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

NODES, INPUTS, EFFECTORS = 200, 62, 2
AMPLITUDE = 0.75  # the setting for tracking
ROUNDS, TICKS, SHORT = 400, 200, 10
WANTED = 40.0
Array: TypeAlias = NDArray[Any]
Arguments: TypeAlias = tuple[F64, I64, F32, U64, F32M, F32M, F64]


@kernel()
def ticks(act: Any, hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64, stream: F32M) -> None:
    """Lets the brain act on every row of the stream."""
    for t in range(stream.shape[0]):
        for n in range(obs.shape[1]):
            obs[0, n] = stream[t, n]
        act(hyper, ints, mem, rng, obs, action, out)


class PlainReservoir:
    """The equations as one would write them in NumPy: dense matrices, one expression each."""

    def __init__(self, brain: Memory, kind: type[np.floating[Any]]) -> None:
        self.leak, self.lr_w, self.lr_t = kind(brain.leak), kind(brain.lr_w), kind(brain.lr_t)
        self.inputs, weights, self.readout = (
            np.array(rows[:, :NODES], dtype=kind) for rows in (brain.inputs, brain.recurrent, brain.readout)
        )
        self.weights, self.mask = np.nan_to_num(weights), np.isfinite(weights).astype(kind)
        self.activation: Array = np.zeros(NODES, kind)
        self.target: Array = np.ones(NODES, kind)
        self.spikes: Array = np.zeros(NODES, kind)

    def act(self, rates: Array) -> Array:
        """One tick."""
        before = self.spikes
        drive = rates @ self.inputs + before @ self.weights
        self.activation = (1 - self.leak) * self.activation + drive
        self.spikes = (self.activation >= 2 * self.target).astype(before.dtype)
        self.activation = self.activation - 2 * self.target * self.spikes
        error = self.activation - self.target
        carried = self.mask * before[:, None]
        self.weights -= carried * (self.lr_w * error / np.maximum(carried.sum(0), 1))
        self.target = np.maximum(self.target + self.lr_t * error, 1)
        shares: Array = (self.readout @ self.spikes) / self.readout.sum(1)
        return shares


def wandering_target(count: int) -> Array:
    """Inputs of a row of units past which a target wanders."""
    rng = np.random.default_rng(0)
    place = 31 + 25 * np.sin(np.cumsum(rng.normal(0, 0.05, count)))
    seen = np.exp(-((np.arange(INPUTS) - place[:, None]) ** 2) / 2)
    return np.where(seen > 0.01, seen, 0).astype(np.float32)


def fresh_brain() -> Arguments:
    """The arguments of the brain's functions, at the beginning of an episode."""
    names = tuple(f"unit_{n}" for n in range(INPUTS))
    body = Interface(names, (0.0,) * INPUTS, (1.0,) * INPUTS, 0, EFFECTORS)
    layout = HomeostaticReservoir.layout(HomeostaticReservoirConfig(nodes=NODES, amplitude=AMPLITUDE), body)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    obs, action = np.zeros((1, INPUTS), np.float32), np.zeros((1, EFFECTORS), np.float32)
    given = (layout.hyper, layout.ints, aligned(1, layout.memory)[0], rng, obs, action, np.zeros(Feedback.count()))
    HomeostaticReservoir.init(*given)
    HomeostaticReservoir.begin_episode(*given)
    return given


def main() -> None:
    """Alternates between them; prints the best round of each and the ratio."""
    given = fresh_brain()
    brain = Memory(*given[:3])
    plain = {f"NumPy {kind.__name__}": PlainReservoir(brain, kind) for kind in (np.float64, np.float32)}
    act, stream = first_class(HomeostaticReservoir.act, BRAIN), wandering_target(TICKS)
    ticks(act, *given, stream)
    best = dict.fromkeys(["compiled", *plain], np.inf)
    for n in range(ROUNDS):
        start = time.perf_counter()
        ticks(act, *given, stream)
        best["compiled"] = min(best["compiled"], (time.perf_counter() - start) / TICKS)
        at = n * SHORT % TICKS
        for name, reservoir in plain.items():
            start = time.perf_counter()
            for rates in stream[at : at + SHORT]:
                reservoir.act(rates)
            best[name] = min(best[name], (time.perf_counter() - start) / SHORT)
    for name, seconds in best.items():
        print(f"{name:14s} {1e-3 / seconds:7.1f} k ticks/s  ({seconds * 1e6:.2f} us a tick)")
    ratio = best["NumPy float64"] / best["compiled"]
    below = "" if ratio >= WANTED else "  BELOW"
    rate = liveness_of(brain.liveness)["mean_rate"]
    print(f"ratio: {ratio:.0f} x at a mean rate of {rate:.2f} (wanted {WANTED:.0f} x){below}")


if __name__ == "__main__":
    main()
