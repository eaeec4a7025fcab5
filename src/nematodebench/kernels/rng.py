"""Counter-based random numbers: Philox4x64-10, the generator of ``numpy.random.Philox``, with named streams.

A stream is a key and a counter, nothing else, so a number depends on who asks (run seed, stream, episode, agent) and
on how often it asked before, never on what any other run, thread or stream did.

| word of ``rng`` | meaning |
|---|---|
| 0, 1 | key: run seed, stream |
| 2..5 | counter: block, episode, agent, 0 |
| 6 | numbers already taken from the block |
| 7..10 | the current block |
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from nematodebench.kernels.angles import TWO_PI
from nematodebench.kernels.jit import U64, intrinsic, kernel
from nematodebench.kernels.math import cos64, log64

__all__ = [
    "RNG_WORDS",
    "STREAM_BRAIN",
    "STREAM_EXPLORATION",
    "STREAM_WORLD",
    "episode_of",
    "next_u64",
    "normal",
    "randint",
    "set_stream",
    "uniform",
]

RNG_WORDS = 11
STREAM_WORLD = 1
STREAM_BRAIN = 2
STREAM_EXPLORATION = 3

_M0 = np.uint64(0xD2E7470EE14C6C93)
_M1 = np.uint64(0xCA5A826395121157)
_W0 = np.uint64(0x9E3779B97F4A7C15)
_W1 = np.uint64(0xBB67AE8584CAA73B)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_FOUR = np.uint64(4)
_SHIFT11 = np.uint64(11)


@intrinsic(lambda a, b: np.uint64((int(a) * int(b)) >> 64))
def _mulhi(_context: Any, a: Any, b: Any) -> Any:
    """High 64 bits of the 128-bit product."""

    def generate(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(a, b), generate


@kernel(cached=True)
def set_stream(rng: U64, seed: int | np.uint64, stream: int, episode: int, agent: int) -> None:
    """Puts ``rng`` at the beginning of the stream that these four name."""
    rng[0] = np.uint64(seed)
    rng[1] = np.uint64(stream)
    rng[2] = _ZERO
    rng[3] = np.uint64(episode)
    rng[4] = np.uint64(agent)
    rng[5] = _ZERO
    rng[6] = _FOUR


@kernel()
def episode_of(rng: U64) -> int:
    """The episode whose stream this is."""
    return int(rng[3])


@kernel()
def _fill_block(rng: U64) -> None:
    rng[2] += _ONE
    k0, k1 = rng[0], rng[1]
    c0, c1, c2, c3 = rng[2], rng[3], rng[4], rng[5]
    for _ in range(10):
        high0, low0 = _mulhi(_M0, c0), _M0 * c0
        high1, low1 = _mulhi(_M1, c2), _M1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += _W0
        k1 += _W1
    rng[7], rng[8], rng[9], rng[10] = c0, c1, c2, c3
    rng[6] = _ZERO


@kernel()
def next_u64(rng: U64) -> np.uint64:
    """The stream's next 64 random bits."""
    if rng[6] >= _FOUR:
        _fill_block(rng)
    word: np.uint64 = rng[7 + np.int64(rng[6])]
    rng[6] += _ONE
    return word


@kernel()
def uniform(rng: U64) -> float:
    """Uniform in [0, 1) with 53 bits."""
    return np.float64(next_u64(rng) >> _SHIFT11) * 1.1102230246251565e-16


@kernel()
def randint(rng: U64, n: int) -> int:
    """Uniform integer in 0..n-1; the bias is below n / 2**64."""
    return np.int64(_mulhi(next_u64(rng), np.uint64(n)))  # type: ignore[return-value]


@kernel()
def normal(rng: U64) -> float:
    """Standard normal number (Box-Muller, one of the pair)."""
    radius: float = np.sqrt(-2.0 * log64(1.0 - uniform(rng)))
    return radius * cos64(TWO_PI * uniform(rng))
