"""The counter-based generator: numpy's Philox, streams that never meet, distributions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nematodebench.kernels.jit import kernel
from nematodebench.kernels.rng import (
    RNG_WORDS,
    STREAM_BRAIN,
    STREAM_EXPLORATION,
    STREAM_WORLD,
    next_u64,
    normal,
    randint,
    set_stream,
    uniform,
)


@kernel(cached=True)
def _words(rng, into):
    for k in range(into.size):
        into[k] = next_u64(rng)


@kernel(cached=True)
def _uniforms(rng, into):
    for k in range(into.size):
        into[k] = uniform(rng)


@kernel(cached=True)
def _normals(rng, into):
    for k in range(into.size):
        into[k] = normal(rng)


@kernel(cached=True)
def _integers(rng, into, n):
    for k in range(into.size):
        into[k] = randint(rng, n)


def stream(seed=1, name=STREAM_WORLD, episode=0, agent=0):
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(seed), name, episode, agent)
    return rng


def words(count, *where, **named):
    into = np.zeros(count, dtype=np.uint64)
    _words(stream(*where, **named), into)
    return into


def drawn(function, count, *arguments, seed=1):
    into = np.zeros(count, dtype=np.int64 if function is _integers else np.float64)
    function(stream(seed), into, *arguments)
    return into


def numpy_words(count, seed, name, episode, agent):
    """The same stream by numpy: counter words 1.. are episode and agent, the block counts from 1."""
    key, counter = np.array([seed, name], np.uint64), np.array([0, episode, agent, 0], np.uint64)
    return np.random.Philox(key=key, counter=counter).random_raw(count)


@pytest.mark.parametrize(
    "where",
    [
        (0, 0, 0, 0),
        (1, STREAM_WORLD, 0, 0),
        (2**64 - 1, STREAM_BRAIN, 0, 0),
        (0x9E3779B97F4A7C15, STREAM_EXPLORATION, 499, 7),
        (12345, STREAM_WORLD, 2**40, 2**20),
    ],
)
def test_words_are_those_of_numpys_philox(where):
    assert words(1001, *where).tobytes() == numpy_words(1001, *where).tobytes()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**64 - 1), st.integers(0, 3), st.integers(0, 2**62), st.integers(0, 2**30))
def test_words_are_those_of_numpys_philox_for_any_stream(seed, name, episode, agent):
    assert words(9, seed, name, episode, agent).tolist() == numpy_words(9, seed, name, episode, agent).tolist()


def test_streams_never_overlap():
    """64 random bits repeat by chance with probability 1e-9 among so many: any repetition is an overlap."""
    streams = itertools.product((0, 1, 2**63), (STREAM_WORLD, STREAM_BRAIN, STREAM_EXPLORATION), (0, 1, 499), (0, 1, 7))
    found = np.concatenate([words(1000, *where) for where in streams])
    assert found.size == 81_000
    assert np.unique(found).size == found.size


def test_a_stream_continues_where_it_was():
    rng, parts = stream(5), [np.zeros(n, dtype=np.uint64) for n in (1, 2, 3, 94)]
    for part in parts:
        _words(rng, part)
    assert np.concatenate(parts).tobytes() == words(100, 5).tobytes()


def test_set_stream_forgets_what_was_drawn():
    rng = stream(5)
    _words(rng, np.zeros(7, dtype=np.uint64))
    set_stream(rng, np.uint64(5), STREAM_WORLD, 0, 0)
    into = np.zeros(7, dtype=np.uint64)
    _words(rng, into)
    assert into.tobytes() == words(7, 5).tobytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_uniform_is_uniform(seed):
    sample = drawn(_uniforms, 200_000, seed=seed)
    assert sample.min() >= 0.0
    assert sample.max() < 1.0
    assert sample.mean() == pytest.approx(0.5, abs=5 * (1 / 12 / sample.size) ** 0.5)
    assert sample.var() == pytest.approx(1 / 12, abs=5 * (1 / 180 / sample.size) ** 0.5)
    assert stats.kstest(sample, "uniform").pvalue > 1e-3


def test_uniform_uses_53_bits():
    scaled = drawn(_uniforms, 1000) * 2**53
    assert (scaled == np.floor(scaled)).all()
    assert (scaled % 2 == 1).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_normal_is_normal(seed):
    sample = drawn(_normals, 200_000, seed=seed)
    n = sample.size
    assert np.isfinite(sample).all()
    assert sample.mean() == pytest.approx(0.0, abs=5 / n**0.5)
    assert sample.var() == pytest.approx(1.0, abs=5 * (2 / n) ** 0.5)
    assert stats.skew(sample) == pytest.approx(0.0, abs=5 * (6 / n) ** 0.5)
    assert stats.kurtosis(sample) == pytest.approx(0.0, abs=5 * (24 / n) ** 0.5)
    assert stats.kstest(sample, "norm").pvalue > 1e-3


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 1000])
def test_randint_reaches_everything_equally_often(n):
    sample = drawn(_integers, 100 * max(n, 100), n)
    counts = np.bincount(sample, minlength=n)
    assert counts.size == n
    assert (counts > 0).all()
    assert n == 1 or stats.chisquare(counts).pvalue > 1e-3


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 2**62), st.integers(0, 2**64 - 1))
def test_randint_stays_in_range(n, seed):
    sample = drawn(_integers, 20, n, seed=seed)
    assert sample.min() >= 0
    assert sample.max() < n
