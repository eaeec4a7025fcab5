"""Worlds and brains that break one rule each."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nematodebench.brains.base import BrainConfig, CompiledBrain, Layout
from nematodebench.kernels.abi import brain_kernel, world_kernel
from nematodebench.kernels.rng import uniform
from nematodebench.worlds.base import Discrete, Sensor, World


@world_kernel
def reset(params, state, rng, action, obs, out):
    out[:] = 0.0
    state[0] = 0.0
    state[1] = uniform(rng)
    obs[0, 0] = np.float32(state[1])


@world_kernel
def step(params, state, rng, action, obs, out):
    state[0] += 1.0
    state[1] = uniform(rng)
    obs[0, 0] = np.float32(state[1])
    out[2] = state[1]
    out[1] = 1.0 if state[0] >= 30.0 else 0.0
    out[3] = state[0]


@dataclass(frozen=True)
class Good(World):
    name: ClassVar = "good"
    reset: ClassVar = staticmethod(reset)
    step: ClassVar = staticmethod(step)
    metrics: ClassVar = ("lived",)
    high: float = 1.0

    @property
    def sensors(self):
        return (Sensor("light", 0.0, self.high),)

    @property
    def actions(self):
        return Discrete(("stay", "go"))

    @property
    def state_size(self):
        return 2

    def pack(self):
        return np.zeros(1)


@world_kernel
def forgetful_reset(params, state, rng, action, obs, out):
    out[:] = 0.0
    state[0] = 0.0 if state[0] != state[0] else state[0] * 0.5
    state[1] = uniform(rng)
    obs[0, 0] = np.float32(state[1])


@world_kernel
def observing_step(params, state, rng, action, obs, out):
    """Remembers in its output."""
    state[0] += 1.0
    obs[0, 0] = np.float32(0.5) * obs[0, 0] + np.float32(0.25)
    out[1] = 1.0 if state[0] >= 30.0 else 0.0


@world_kernel
def writing_step(params, state, rng, action, obs, out):
    params[0] += 1.0
    state[0] += 1.0
    out[1] = 1.0 if state[0] >= 30.0 else 0.0


@world_kernel
def straying_step(params, state, rng, action, obs, out):
    state[state.size + np.int64(state[0]) % 3] = 1.0
    state[0] += 1.0
    out[1] = 1.0 if state[0] >= 30.0 else 0.0


@world_kernel
def endless_step(params, state, rng, action, obs, out):
    state[0] += 1.0


@world_kernel
def unpayable_step(params, state, rng, action, obs, out):
    state[0] += 1.0
    out[2] = np.nan
    out[1] = 1.0 if state[0] >= 30.0 else 0.0


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
    def pack(self):
        return np.random.default_rng().random(1)


@brain_kernel
def act(hyper, ints, mem, rng, obs, action, out):
    for n in range(action.shape[1]):
        action[0, n] = np.float32(uniform(rng) < 0.5)


@brain_kernel
def illegal_act(hyper, ints, mem, rng, obs, action, out):
    action[0, 0] = np.float32(1.5)


@brain_kernel
def straying_learn(hyper, ints, mem, rng, obs, action, out):
    mem[mem.size] = np.float32(1.0)


@brain_kernel
def peeping_learn(hyper, ints, mem, rng, obs, action, out):
    mem[0] = mem[mem.size]


@brain_kernel
def meddling_learn(hyper, ints, mem, rng, obs, action, out):
    obs[0, 0] = np.float32(0.125)


class Plain(CompiledBrain):
    name = "plain"
    kind = "scripted"
    act = staticmethod(act)

    @classmethod
    def layout(cls, config, body):
        return Layout(np.zeros(1), np.zeros(1, dtype=np.int64), 16)


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
    def layout(cls, config, body):
        raise ValueError("no body is good enough")


class LooseConfig(BrainConfig, extra="ignore"):
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

    lived: ClassVar = [0]

    def act(self, observation):
        self.lived[0] += 1
        return self.space.sample() if self.lived[0] % 7 else self.space.sample() * 0
