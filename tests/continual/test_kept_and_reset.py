"""What a spiking brain keeps from one episode to the next, and what it forgets: one test for each row of the table."""

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.engine.agents import Agents
from nematodebench.engine.run import interface
from nematodebench.kernels.abi import BRAIN, Feedback
from nematodebench.kernels.jit import first_class
from nematodebench.tasks.registry import get_task

KEPT = {
    "synaptic weights": "net.weights",
    "eligibility traces": "net.lasting",
    "adaptive thresholds": "net.threshold",
    "metaplasticity": "net.meta",
    "energy of the neurons": "net.energy",
}
RESET = {"working memory": "choice.done", "last observation": "net.drive", "last action": "choice.picked"}


class Brain:
    """A `spiking_rstdp` in the body of the continual tasks."""

    def __init__(self):
        self.kind = get_brain("spiking_rstdp")
        self.agents = Agents(self.kind, self.kind.config(), interface(get_task("continual-v1")), 5, 1)

    def play(self):
        """Some steps of one episode with random observations and rewards."""
        outcome, generator = Feedback(self.agents.brains.out[0]), np.random.default_rng(5)
        self.call(self.kind.begin_episode)
        for _ in range(60):
            self.agents.obs[:] = generator.random(self.agents.obs.shape)
            self.call(self.kind.act)
            outcome.reward = generator.choice([1.0, -0.5])
            self.call(self.kind.learn)

    def call(self, function):
        a, b = self.agents, self.agents.brains
        first_class(function, BRAIN)(b.hyper, b.ints[0], b.mem[0], a.rng[0], a.obs, a.action, b.out[0])

    def part(self, name):
        """An array of its memory."""
        return dict(self.agents.brains.views()[0].learned())[name]


@pytest.fixture
def brain():
    brain = Brain()
    brain.play()
    return brain


@pytest.mark.parametrize("name", KEPT.values(), ids=KEPT.keys())
def test_kept(brain, name):
    before = brain.part(name).copy()
    assert before.any()
    brain.call(brain.kind.begin_episode)
    assert (brain.part(name) == before).all()


@pytest.mark.parametrize("name", KEPT.values(), ids=KEPT.keys())
def test_what_is_kept_has_changed_since_the_brain_was_fresh(brain, name):
    assert (Brain().part(name) != brain.part(name)).any()


@pytest.mark.parametrize("name", RESET.values(), ids=RESET.keys())
def test_reset(brain, name):
    assert brain.part(name).any()
    brain.call(brain.kind.begin_episode)
    assert not brain.part(name).any()
