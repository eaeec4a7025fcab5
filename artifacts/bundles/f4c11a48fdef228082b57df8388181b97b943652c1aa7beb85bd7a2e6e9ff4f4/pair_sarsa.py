"""SARSA(lambda) on pairs of inputs: a compiled brain from outside the package, submitted as a bundle of two files.

Its value of an action is the sum of the weights of all cells that pairs of inputs are in. Weights start a little too
high, so that it tries what it does not know; random actions get rarer with every episode.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pairs import fill_cells, pairs_of

from nematodebench.brains.base import BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, constants, counter, floats, real, size, words
from nematodebench.kernels.rng import randint, uniform


class Config(BrainConfig):
    """Parameters: default, range, and what they do."""

    bins: int = parameter(6, 2, 32, "cells along each input")
    learning_rate: float = parameter(0.2, 0, 1, "share of the error corrected at once")
    gamma: float = parameter(0.95, 0, 1, "discount of future reward")
    trace: float = parameter(0.9, 0, 1, "how much eligibility is left after a step")
    epsilon: float = parameter(0.1, 0, 1, "share of random actions in the first episode")
    halving: float = parameter(20.0, 1, 10_000, "episodes after which there are half as many random actions")
    hope: float = parameter(0.5, 0, 10, "value of an action that was never tried")


class Memory(BrainMemory):
    """What the brain keeps. Constants and sizes take their values from the config and the body, by name."""

    learning_rate, gamma, trace, epsilon, halving, hope = (constant() for _ in range(6))
    inputs, bins, cells_of_pair, pairs, choices = size(), size(), size(), size(), size()
    low, high = constants("inputs"), constants("inputs")
    weights, traces = floats("pairs", "cells_of_pair", "choices"), floats("pairs", "cells_of_pair", "choices")
    value, reward, waiting, episodes, cells = real(), real(), counter(), counter(), words("pairs")


@kernel()
def value_of(brain: Memory, action: int) -> np.float32:
    """The sum of the weights of this action in the cells of all pairs."""
    total = np.float32(0.0)
    for p in range(brain.pairs):
        total += brain.weights[p, brain.cells[p], action]
    return total


@kernel()
def correct(brain: Memory, following: np.float32) -> None:
    """Moves every weight by the error of the last value, as far as it is eligible; then eligibility fades."""
    error = brain.reward + np.float32(brain.gamma) * following - brain.value
    step = np.float32(brain.learning_rate / brain.pairs) * error
    kept = np.float32(brain.gamma * brain.trace)
    for p in range(brain.pairs):
        for c in range(brain.cells_of_pair):
            for a in range(brain.choices):
                brain.weights[p, c, a] += step * brain.traces[p, c, a]
                brain.traces[p, c, a] *= kept


@Memory.kernel
def init(brain: Memory) -> None:
    """Hopes for something of every action."""
    brain.weights[:] = np.float32(brain.hope / brain.pairs)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Nothing is eligible yet, and no value waits to be corrected."""
    brain.traces[:] = np.float32(0.0)
    brain.waiting = 0
    brain.episodes += 1


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Chooses the best action or a random one; what follows the last step is known now, so its value is corrected."""
    fill_cells(obs, brain.low, brain.high, brain.bins, brain.cells)
    choice = randint(rng, brain.choices)
    if uniform(rng) >= brain.epsilon * brain.halving / (brain.halving + brain.episodes):
        for a in range(brain.choices):
            choice = a if value_of(brain, a) > value_of(brain, choice) else choice
    if brain.waiting > 0:
        correct(brain, value_of(brain, choice))
    for p in range(brain.pairs):
        brain.traces[p, brain.cells[p], choice] = np.float32(1.0)
    brain.value, action[0] = value_of(brain, choice), np.float32(choice)


@Memory.kernel
def learn(brain: Memory, outcome: Feedback) -> None:
    """Keeps the reward until the next action is chosen; nothing follows the end."""
    brain.reward, brain.waiting = np.float32(outcome.reward), 1
    if outcome.terminated > 0.0:
        correct(brain, np.float32(0.0))


class PairSarsa(CompiledBrain):
    """SARSA(lambda) on pairs of inputs, for bodies with discrete actions and two inputs or more."""

    kind, config, memory = "classical", Config, Memory
    init, begin_episode, act, learn = map(staticmethod, (init, begin_episode, act, learn))

    @classmethod
    def sizes(cls, config: Config, body: Interface) -> Mapping[str, Any]:
        """The sizes that neither the config nor the body has by that name."""
        return {"pairs": pairs_of(body.inputs), "cells_of_pair": config.bins**2}

    @classmethod
    def without_learning(cls, config: Config) -> Config:
        """With learning off it acts as rarely at random as at the end."""
        return config.model_copy(update={"epsilon": 0.0})
