"""What a Python brain remembers is taken from its attributes, and can be put into another one of its class."""

import random
from collections import defaultdict, deque, namedtuple
from enum import Enum

import numpy as np
import pytest

from nematodebench import Transition
from nematodebench.engine.python_restore import restore
from nematodebench.engine.python_state import UnavailableError, collect, state_hash

Pair = namedtuple("Pair", ["left", "right"])


class Mood(Enum):
    CALM = 1
    WILD = 2


class Trace:
    def __init__(self):
        self.values, self.last = np.zeros(3), None


class Everything:
    """Holds one of every kind that is understood."""

    def __init__(self, seed=0):
        self.weights, self.count, self.rate, self.name = np.zeros((2, 3), np.float32), 0, 0.5, "x"
        self.view = self.weights  # the same array under another name
        self.generator, self.old, self.plain = (
            np.random.default_rng(seed), np.random.RandomState(seed % 2**32), random.Random(seed),
        )  # fmt: skip
        self.table = defaultdict(lambda: np.zeros(2))
        self.window, self.rows, self.pair, self.seen = deque(maxlen=3), [], Pair(0, 1.5), set()
        self.trace, self.mood, self.squash, self.scalar = Trace(), Mood.CALM, np.tanh, np.float32(0.25)
        self.steps, self.nan = [], float("nan")

    def live(self, n):
        for _ in range(n):
            self.count += 1
            self.weights += self.generator.random() + self.old.rand() + self.plain.random()
            self.table[self.count, "here"] += self.count
            self.window.append(np.full(2, self.count))
            self.rows.append([self.count, (self.rate, None, b"bytes")])
            self.pair = Pair(self.count, self.pair.left)
            self.seen.add(self.count)
            self.trace.values[self.count % 3] += 1
            self.trace.last, self.mood = Trace(), Mood.WILD
            self.scalar *= np.float32(1.5)
            self.steps.append(Transition(np.zeros(1), 1, 0.5, np.ones(1), False, True))


def hash_of(brain):
    return state_hash([collect(brain)])


def test_a_state_goes_into_another_brain_which_goes_on_with_the_same_bits():
    first, second = Everything(1), Everything(2)
    first.live(7)
    restore(second, collect(first))
    assert hash_of(first) == hash_of(second)
    assert second.view is second.weights
    assert type(second.table) is defaultdict
    assert second.steps[0].truncated is True
    first.live(5)
    second.live(5)
    assert hash_of(first) == hash_of(second)


def test_without_its_streams_a_brain_keeps_its_own_generators():
    first, second, third = Everything(1), Everything(2), Everything(2)
    first.live(3)
    restore(second, collect(first), streams=False)
    assert second.count == 3
    assert second.generator.random() == third.generator.random()
    assert second.plain.random() == third.plain.random()


@pytest.mark.parametrize(
    "change",
    [
        lambda brain: brain.weights.__setitem__((0, 0), 1e-9),
        lambda brain: setattr(brain, "count", 1),
        lambda brain: setattr(brain, "rate", np.nextafter(0.5, 1)),
        lambda brain: brain.generator.random(),
        lambda brain: brain.trace.values.__setitem__(0, 1),
        lambda brain: setattr(brain, "view", brain.weights.copy()),
    ],
)
def test_every_change_is_another_hash(change):
    brain, before = Everything(), hash_of(Everything())
    assert hash_of(brain) == before
    change(brain)
    assert hash_of(brain) != before


def test_the_order_in_which_attributes_were_set_makes_no_difference():
    one, other = Trace(), Trace()
    vars(other).clear()
    other.last, other.values = None, np.zeros(3)
    assert hash_of(one) == hash_of(other)


@pytest.mark.parametrize("thing", [iter([1]), np.array(["text"]), np.array([None]), open])
def test_what_is_no_data_is_named(thing):
    brain = Trace()
    brain.last = {"inside": thing}
    if thing is open:
        assert hash_of(brain)  # code is no part of a memory
        return
    with pytest.raises(UnavailableError, match=r"last\.inside"):
        collect(brain)


def test_a_state_that_does_not_fit_is_one_line():
    state = collect(Everything())
    with pytest.raises(UnavailableError, match="cannot be put back") as raised:
        restore(Trace(), state)
    assert "\n" not in str(raised.value)


def test_a_brain_can_tell_its_state_itself():
    class Own(Trace):
        def state_dict(self):
            return {"values": self.values}

        def load_state_dict(self, state):
            self.values = state["values"] + 1

    first, second = Own(), Own()
    first.last = iter([1])  # not asked for
    first.values[:] = 3
    restore(second, collect(first))
    assert second.values.tolist() == [4, 4, 4]


def test_networks_and_optimisers_go_on_with_the_same_bits():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.calls = torch.nn.Linear(3, 2), 0

        def forward(self, x):
            self.calls += 1
            return self.layer(x)

    class Learner:
        def __init__(self, seed):
            torch.manual_seed(seed)
            self.net, self.drawn = Net(), torch.Generator().manual_seed(seed)
            self.adam = torch.optim.Adam(self.net.parameters())
            self.every = list(self.net.parameters())
            self.falling = torch.optim.lr_scheduler.ExponentialLR(self.adam, 0.9)

        def live(self, n):
            for _ in range(n):
                self.net(torch.rand(4, 3, generator=self.drawn)).square().sum().backward()
                if self.net.calls % 2:  # gradients of two steps are added
                    self.adam.step()
                    self.adam.zero_grad()
                    self.falling.step()

    first, second = Learner(1), Learner(2)
    first.live(6)
    restore(second, collect(first))
    assert second.every[0] is second.net.layer.weight
    first.live(5)
    second.live(5)
    assert hash_of(first) == hash_of(second)
    assert first.net.calls == 11


def test_a_brain_that_is_a_network_is_more_than_its_parameters():
    torch = pytest.importorskip("torch")

    class Both(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 2)
            self.adam, self.count = torch.optim.SGD(self.parameters(), 0.1, momentum=0.9), 0

    first, second = Both(), Both()
    first.count = 4
    restore(second, collect(first))
    assert second.count == 4
    assert hash_of(first) == hash_of(second)


def test_a_graph_of_gradients_is_hashed_by_its_values_and_never_saved():
    torch = pytest.importorskip("torch")
    brain = Trace()
    brain.last = torch.ones(2, requires_grad=True) * 2
    assert state_hash([collect(brain, graphs=True)]).startswith("v3:")
    with pytest.raises(UnavailableError, match="graph of gradients"):
        collect(brain)
