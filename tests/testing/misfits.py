"""Worlds and brains that break one rule each."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.brains.base import BrainConfig, CompiledBrain
from nematodebench.kernels.abi import BrainMemory, WorldMemory
from nematodebench.kernels.memory import Block, floats, number, numbers
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Discrete, Sensor, World


class Params(Block):
    """A number that can be written, though no world may."""

    shared = number()


class State(Block):
    steps = number()
    light = number()
    last = numbers(1)


class Metrics(Block):
    survived = number()


memory = WorldMemory(Params, State, Metrics)


@memory.reset
def reset(state, rng, obs):
    state.light = uniform(rng)
    obs[0, 0] = np.float32(state.light)


@memory.kernel
def step(state, rng, obs, outcome, metrics):
    state.steps += 1.0
    state.light = uniform(rng)
    obs[0, 0] = np.float32(state.light)
    outcome.reward[0] = state.light
    outcome.truncated = 1.0 if state.steps >= 30.0 else 0.0
    metrics.survived = state.steps


@dataclass(frozen=True)
class Good(World):
    name: ClassVar = "good"
    memory: ClassVar = memory
    reset: ClassVar = staticmethod(reset)
    step: ClassVar = staticmethod(step)
    high: float = 1.0

    @property
    def sensors(self):
        return (Sensor("light", 0.0, self.high),)

    @property
    def actions(self):
        return Discrete(("stay", "go"))

    def tables(self):
        return {"shared": 0.0}


@memory.reset_keeping
def forgetful_reset(state, rng, obs):
    state.steps = 0.0 if state.steps != state.steps else state.steps * 0.5
    state.light = uniform(rng)
    state.last[0] = 0.0
    obs[0, 0] = np.float32(state.light)


@memory.kernel
def observing_step(state, obs, outcome):
    """Remembers in its output."""
    state.steps += 1.0
    obs[0, 0] = np.float32(0.5) * obs[0, 0] + np.float32(0.25)
    outcome.truncated = 1.0 if state.steps >= 30.0 else 0.0


@memory.kernel
def writing_step(params, state, outcome):
    params.shared += 1.0
    state.steps += 1.0
    outcome.truncated = 1.0 if state.steps >= 30.0 else 0.0


@memory.kernel
def straying_step(state, outcome):
    state.last[state.last.size + np.int64(state.steps) % 3] = 1.0
    state.steps += 1.0
    outcome.truncated = 1.0 if state.steps >= 30.0 else 0.0


@memory.kernel
def endless_step(state):
    state.steps += 1.0


@memory.kernel
def unpayable_step(state, outcome):
    state.steps += 1.0
    outcome.reward[0] = np.nan
    outcome.truncated = 1.0 if state.steps >= 30.0 else 0.0


class Forgetful(Good):
    reset = staticmethod(forgetful_reset)


class Observing(Good):
    step = staticmethod(observing_step)


class Writing(Good):
    step = staticmethod(writing_step)


class Straying(Good):
    step = staticmethod(straying_step)


class Endless(Good):
    step = staticmethod(endless_step)


class Unpayable(Good):
    step = staticmethod(unpayable_step)


class Dicing(Good):
    def tables(self):
        return {"shared": np.random.default_rng().random()}


class Memory(BrainMemory):
    values = floats(16)


@Memory.kernel
def act(rng, action):
    for n in range(action.size):
        action[n] = np.float32(uniform(rng) < 0.5)


@Memory.kernel
def illegal_act(action):
    action[0] = np.float32(1.5)


@Memory.kernel
def straying_learn(brain):
    brain.values[brain.values.size] = np.float32(1.0)


@Memory.kernel
def peeping_learn(brain):
    brain.values[0] = brain.values[brain.values.size]


@Memory.kernel
def meddling_learn(obs):
    obs[0] = np.float32(0.125)


class Plain(CompiledBrain):
    name = "plain"
    kind = "scripted"
    memory = Memory
    act = staticmethod(act)


class Illegal(Plain):
    act = staticmethod(illegal_act)


class StrayingBrain(Plain):
    learn = staticmethod(straying_learn)


class Peeping(Plain):
    learn = staticmethod(peeping_learn)


class Meddling(Plain):
    learn = staticmethod(meddling_learn)


class Refusing(Plain):
    @classmethod
    def sizes(cls, config, body):
        raise ValueError("no body is good enough")


class LooseConfig(BrainConfig, extra="allow"):
    pass


class Loose(Plain):
    config = LooseConfig


class PythonGood:
    """Seeded by what it is given."""

    def __init__(self, observation_space, action_space, config, seed):
        self.space = action_space
        self.space.seed(seed % 2**32)

    def begin_episode(self):
        pass

    def act(self, observation):
        return self.space.sample()

    def learn(self, transition):
        pass


class Unseeded(PythonGood):
    """Draws from the system."""

    def __init__(self, observation_space, action_space, config, seed):
        super().__init__(observation_space, action_space, config, np.random.SeedSequence().entropy)


class Shared(PythonGood):
    """Keeps something between runs."""

    steps: ClassVar = [0]

    def act(self, observation):
        self.steps[0] += 1
        return self.space.sample() if self.steps[0] % 7 else self.space.sample() * 0
