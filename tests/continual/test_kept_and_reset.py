"""What a spiking brain keeps from one episode to the next, and what it forgets: one test a row of the table."""

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.brains.spiking import network as net
from nematodebench.engine.run import interface
from nematodebench.kernels.abi import BRAIN
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.tasks.registry import get_task

KEPT = {
    "synaptic weights": net.W,
    "eligibility traces": net.E,
    "adaptive thresholds": net.THRESHOLD,
    "metaplasticity": net.META,
    "energy of the neurons": net.ENERGY,
}
RESET = {"working memory": net.MEMORY, "last observation": net.DRIVE, "last action": net.PICKED}


class Brain:
    """A `spiking_rstdp` that has lived a while in the body of the continual tasks."""

    def __init__(self):
        kind = get_brain("spiking_rstdp")
        layout = kind.layout(kind.config(), interface(get_task("continual-v1")))
        self.arrays = [
            np.ascontiguousarray(layout.hyper), layout.ints.copy(), np.zeros(layout.memory, np.float32),
            np.zeros(RNG_WORDS, np.uint64), np.zeros((1, 28), np.float32), np.zeros((1, 1), np.float32), np.zeros(3),
        ]  # fmt: skip
        self.kind, self.ints, self.mem = kind, self.arrays[1], self.arrays[2]
        set_stream(self.arrays[3], np.uint64(5), STREAM_BRAIN, 0, 0)
        self.call(kind.init)
        self.call(kind.begin_episode)
        generator = np.random.default_rng(5)
        for _ in range(60):
            self.arrays[4][:] = generator.random((1, 28))
            self.call(kind.act)
            self.arrays[6][:] = (0.0, 0.0, generator.choice([1.0, -0.5]))
            self.call(kind.learn)

    def call(self, function):
        first_class(function, BRAIN)(*self.arrays)

    def part(self, word):
        """The memory from one place to the next."""
        start = int(self.ints[word])
        later = [int(place) for place in self.ints[net.FIRST_PLACE : net.WORDS] if place > start]
        return self.mem[start : min(later, default=self.mem.size)]


@pytest.fixture
def brain():
    return Brain()


@pytest.mark.parametrize("word", KEPT.values(), ids=KEPT.keys())
def test_kept(brain, word):
    before = brain.part(word).copy()
    assert before.any()
    brain.call(brain.kind.begin_episode)
    assert (brain.part(word) == before).all()


@pytest.mark.parametrize("word", [net.W, net.E, net.THRESHOLD, net.META, net.ENERGY], ids=KEPT.keys())
def test_what_is_kept_had_changed_in_life(brain, word):
    fresh = Brain.__new__(Brain)
    fresh.arrays, fresh.kind = [array.copy() for array in brain.arrays], brain.kind
    fresh.ints, fresh.mem = fresh.arrays[1], fresh.arrays[2]
    fresh.mem[:] = 0.0
    set_stream(fresh.arrays[3], np.uint64(5), STREAM_BRAIN, 0, 0)
    fresh.call(fresh.kind.init)
    assert (fresh.part(word) != brain.part(word)).any()


@pytest.mark.parametrize("word", RESET.values(), ids=RESET.keys())
def test_reset(brain, word):
    assert brain.part(word).any()
    brain.call(brain.kind.begin_episode)
    assert not brain.part(word).any()
