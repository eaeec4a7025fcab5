"""What the reservoirs share: rate-coded inputs, connections as lists, and how alive they were.

**Rate encoding.** Every sensor becomes channels in [0, 1] by its declared range: (x - low)/(high - low) if the range
does not go below 0, otherwise two channels, x/high where x is positive and x/low where it is negative. Values out of
range are clamped, NaN is 0.

**Listed connections.** With density p every row reaches round(p x columns) different columns, drawn at random and
listed in ``ints`` at TARGETS. Rows are STRIDE words apart, a multiple of four; what is left over points to the column
behind the last, a dummy. Weights lie in ``mem`` at WEIGHTS in the same order. (`homeostatic_reservoir`, whose
connections are drawn one by one, keeps them in matrices: see `_rows`.)

**Liveness.** Every tick the active nodes are counted; :func:`liveness` turns the counts into descriptors.
"""

from collections.abc import Sequence

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import randint, uniform

__all__ = [
    "CHANNELS", "CHOICES", "EFFECTORS", "LINK_WORDS", "NODES", "OWN", "RATES", "STRIDE", "TARGETS", "WEIGHTS",
    "Plan", "act_on_shares", "count_active", "draw_links", "encode", "liveness", "push",
]  # fmt: skip

# Words of ints that every reservoir has; its own begin at OWN.
NODES, CHANNELS, SENSORS, RATES, GAINS, CHOICES, EFFECTORS = 0, 1, 2, 3, 4, 5, 6
TICKS, ACTIVE, SQUARES, SILENT, SATURATED, OWN = 7, 8, 9, 10, 11, 12
# Words of a set of connections.
ROWS, COLUMNS, DEGREE, STRIDE, TARGETS, WEIGHTS, LINK_WORDS = 0, 1, 2, 3, 4, 5, 6
_SATURATED_SHARE = 0.9


def _channels(body: Interface) -> list[tuple[int, float, float]]:
    """Sensor, gain and offset of every channel."""
    found: list[tuple[int, float, float]] = []
    for n, (low, high) in enumerate(zip(body.low, body.high, strict=True)):
        if low >= 0.0:
            gain = 1.0 / (high - low) if high > low else 0.0
            found.append((n, gain, -low * gain))
        else:
            found += [(n, 1.0 / high if high > 0.0 else 0.0, 0.0), (n, 1.0 / low, 0.0)]
    return found


class Plan:
    """Lays out a reservoir's ``hyper``, ``ints`` and memory piece by piece, when it is fitted to a body."""

    def __init__(self, body: Interface, nodes: int, hyper: Sequence[float], own: int) -> None:
        """``hyper`` holds the brain's own constants, ``own`` says how many words of ints it has from OWN on."""
        channels = _channels(body)
        self.memory = 0
        self.hyper = [*hyper, *(number for _, gain, offset in channels for number in (gain, offset))]
        self.ints = [0] * (OWN + own)
        self.ints[NODES], self.ints[CHANNELS], self.ints[GAINS] = nodes, len(channels), len(hyper)
        self.ints[CHOICES], self.ints[EFFECTORS] = body.choices, body.effectors
        self.ints[SENSORS] = self.words(len(channels), [sensor for sensor, _, _ in channels])
        self.ints[RATES] = self.floats(len(channels))

    def words(self, count: int, values: Sequence[int] = ()) -> int:
        """Place of ``count`` more words in ints."""
        place = len(self.ints)
        self.ints += [*values, *[0] * (count - len(values))]
        return place

    def floats(self, count: int) -> int:
        """Place of ``count`` more floats in memory; pieces begin on cache lines."""
        place = self.memory
        self.memory += -(-count // 16) * 16
        return place

    def links(self, at: int, rows: int, columns: int, density: float, *, weighted: bool = False) -> None:
        """Words at ``at`` and room for a set of connections; at least one a row, if there is any other node."""
        degree = max(1, min(round(density * columns), columns))
        stride = -(-degree // 4) * 4
        places = self.words(rows * stride), self.floats(rows * stride if weighted else 0)
        self.ints[at : at + LINK_WORDS] = rows, columns, degree, stride, *places


@kernel()
def draw_links(ints: I64, at: int, to_self: bool, rng: U64) -> None:
    """Draws every row's columns, each set equally likely."""
    columns, degree, stride = ints[at + COLUMNS], ints[at + DEGREE], ints[at + STRIDE]
    for row in range(ints[at + ROWS]):
        targets, n = ints[ints[at + TARGETS] + row * stride :], 0
        left = columns if to_self else columns - 1
        for column in range(columns):
            if to_self or column != row:
                if uniform(rng) * left < degree - n:
                    targets[n] = column
                    n += 1
                left -= 1
        for k in range(n, stride):
            targets[k] = columns


@kernel()
def push(ints: I64, at: int, mem: F32, row: int, drive: F32, factor: np.float32) -> None:
    """Adds a row's weights times ``factor`` to the drive of its targets."""
    stride = ints[at + STRIDE]
    targets, weights = ints[ints[at + TARGETS] + row * stride :], mem[ints[at + WEIGHTS] + row * stride :]
    for k in range(stride):
        drive[np.uint64(targets[k])] += factor * weights[k]


@kernel()
def encode(hyper: F64, ints: I64, mem: F32, obs: F32M) -> None:
    """The observation as rates of the channels, written to RATES."""
    for c in range(ints[CHANNELS]):
        gain, offset = hyper[ints[GAINS] + 2 * c], hyper[ints[GAINS] + 2 * c + 1]
        rate = gain * obs[0, ints[ints[SENSORS] + c]] + offset
        mem[ints[RATES] + c] = np.float32(min(rate, 1.0)) if rate > 0.0 else np.float32(0.0)


@kernel()
def act_on_shares(ints: I64, mem: F32, shares: int, rng: U64, action: F32M) -> None:
    """Effectors are the shares; of discrete actions the one with the largest share is taken, ties by lot."""
    for n in range(ints[EFFECTORS]):
        action[0, n] = mem[shares + n]
    best, ties = np.float32(-1.0), 0
    for n in range(ints[CHOICES]):
        share = mem[shares + n]
        ties = 1 if share > best else ties + 1 if share == best else ties
        if share > best or (share == best and randint(rng, ties) == 0):
            best = share
            action[0, 0] = np.float32(n)


@kernel()
def count_active(ints: I64, active: int) -> None:
    """Adds a tick in which so many nodes were active."""
    nodes = ints[NODES]
    ints[TICKS] += 1
    ints[ACTIVE] += active
    ints[SQUARES] += active * active
    ints[SILENT] += 1 if active == 0 else 0
    ints[SATURATED] += 1 if active >= _SATURATED_SHARE * nodes else 0


def liveness(ints: I64) -> dict[str, float]:
    """Mean share of active nodes, its variance over ticks, shares of ticks with none and with 90 % or more active."""
    ticks, nodes = max(int(ints[TICKS]), 1), int(ints[NODES])
    mean = int(ints[ACTIVE]) / ticks
    return {
        "mean_rate": mean / nodes,
        "rate_variance": max(0.0, int(ints[SQUARES]) / ticks - mean * mean) / nodes**2,
        "silent": int(ints[SILENT]) / ticks,
        "saturated": int(ints[SATURATED]) / ticks,
    }
