"""SARSA(lambda), a compiled brain in one file: linear values of binned inputs, with eligibility traces."""

import numpy as np

from nematodebench.brains.base import BrainConfig, CompiledBrain
from nematodebench.brains.parameters import parameter
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, constants, counter, floats, real, size, words
from nematodebench.kernels.rng import randint, uniform


class Config(BrainConfig):
    """Parameters: default, range, and what they do."""

    bins: int = parameter(8, 2, 64, "cells along each input")
    learning_rate: float = parameter(0.05, 0, 1, "share of the error corrected at once")
    gamma: float = parameter(0.95, 0, 1, "discount of future reward")
    trace: float = parameter(0.8, 0, 1, "how much eligibility is left after a step")
    epsilon: float = parameter(0.05, 0, 1, "share of random actions")


class Memory(BrainMemory):
    """What the brain keeps. Constants and sizes take their values from the config and the body, by name."""

    learning_rate, gamma, trace, epsilon = constant(), constant(), constant(), constant()
    inputs, bins, choices = size(), size(), size()
    low, high = constants("inputs"), constants("inputs")
    weights, traces = floats("inputs", "bins", "choices"), floats("inputs", "bins", "choices")
    value, reward, waiting, cells = real(), real(), counter(), words("inputs")


@kernel()
def value_of(brain: Memory, action: int) -> np.float32:
    """The sum of the weights of this action in the cells that the inputs are in."""
    total = np.float32(0.0)
    for i in range(brain.inputs):
        total += brain.weights[i, brain.cells[i], action]
    return total


@kernel()
def correct(brain: Memory, following: np.float32) -> None:
    """Moves every weight by the error of the last value, as far as it is eligible; then eligibility fades."""
    error = brain.reward + np.float32(brain.gamma) * following - brain.value
    step, kept = np.float32(brain.learning_rate) * error, np.float32(brain.gamma * brain.trace)
    for i in range(brain.inputs):
        for b in range(brain.bins):
            for a in range(brain.choices):
                brain.weights[i, b, a] += step * brain.traces[i, b, a]
                brain.traces[i, b, a] *= kept


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Nothing is eligible yet, and no value waits to be corrected."""
    brain.traces[:] = np.float32(0.0)
    brain.waiting = 0


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Chooses the best action or a random one; what follows the last step is known now, so its value is corrected."""
    for i in range(brain.inputs):
        share = (obs[i] - brain.low[i]) / (brain.high[i] - brain.low[i])
        brain.cells[i] = min(max(int(share * brain.bins), 0), brain.bins - 1)
    choice = randint(rng, brain.choices)
    if uniform(rng) >= brain.epsilon:
        for a in range(brain.choices):
            choice = a if value_of(brain, a) > value_of(brain, choice) else choice
    if brain.waiting > 0:
        correct(brain, value_of(brain, choice))
    for i in range(brain.inputs):
        brain.traces[i, brain.cells[i], choice] = np.float32(1.0)
    brain.value, action[0] = value_of(brain, choice), np.float32(choice)


@Memory.kernel
def learn(brain: Memory, outcome: Feedback) -> None:
    """Keeps the reward until the next action is chosen; nothing follows the end."""
    brain.reward, brain.waiting = np.float32(outcome.reward), 1
    if outcome.terminated > 0.0:
        correct(brain, np.float32(0.0))


class SarsaLambda(CompiledBrain):
    """SARSA(lambda) for bodies with discrete actions."""

    name, kind, config, memory = "sarsa_lambda", "classical", Config, Memory
    begin_episode, act, learn = staticmethod(begin_episode), staticmethod(act), staticmethod(learn)
