"""A compiled brain made with the kit: fixed random features of the senses, and a readout that learns from reward.

nematodebench run foraging_small-v2 examples/random_features.py:RandomFeatures
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kit import (
    F32,
    U64,
    BrainMemory,
    CompiledBrain,
    Feedback,
    Interface,
    Readout,
    ReadoutConfig,
    choose,
    constant,
    floats,
    forget_actions,
    kernel,
    learn_from,
    normal,
    parameter,
    part,
    size,
    tanh32,
)  # fmt: skip


class Config(ReadoutConfig):
    """Those of the readout, and: default, least and largest value, what it does."""

    features: int = parameter(60, 1, 2000, "random features of the senses")
    sharpness: float = parameter(2.0, 0, 100, "how steep the features are")


class Memory(BrainMemory):
    """What the brain keeps, by name; sizes and constants come from the config and the body."""

    sharpness = constant()
    features, inputs = size(), size()
    directions, offsets = floats("features", "inputs"), floats("features")
    readout = part(Readout)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws the features; the readout is 0, a policy that prefers nothing."""
    for f in range(brain.features):
        brain.offsets[f] = np.float32(normal(rng))
        for i in range(brain.inputs):
            brain.directions[f, i] = np.float32(brain.sharpness * normal(rng))


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """What was done in the last episode earns nothing any more."""
    forget_actions(brain.readout)


@kernel()
def look(brain: Memory, obs: F32) -> None:
    """Computes the features; the last one is always 1."""
    for f in range(brain.features):
        total = brain.offsets[f]
        for i in range(brain.inputs):
            total += brain.directions[f, i] * obs[i]
        brain.readout.phi[f] = tanh32(total)
    brain.readout.phi[brain.features] = np.float32(1.0)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Chooses; when it has just learned, it has looked already."""
    if not brain.readout.fresh:
        look(brain, obs)
    choose(brain.readout, rng, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """Sees what came of the action; ``obs`` is already the next observation."""
    look(brain, obs)
    learn_from(brain.readout, outcome)


class RandomFeatures(CompiledBrain):
    """For choices and for effectors."""

    name, kind, config, memory = "random_features", "classical", Config, Memory
    init, begin_episode = staticmethod(init), staticmethod(begin_episode)
    act, learn = staticmethod(act), staticmethod(learn)

    @classmethod
    def sizes(cls, config: Config, body: Interface) -> Mapping[str, Any]:
        """The readout sees the features and the constant."""
        return {"readout": Readout.shape(body, config.features + 1, config.levels)}
