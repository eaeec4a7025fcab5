"""Brain `null_random`: the zero of every scale, uniform random whatever it senses."""

from typing import ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.jit import F32, U64
from nematodebench.kernels.memory import size
from nematodebench.kernels.rng import randint, uniform

__all__ = ["NullRandom"]


class Memory(BrainMemory):
    """Of `null_random`: nothing but the number of actions."""

    choices = size()
    effectors = size()


@Memory.kernel
def act(brain: Memory, rng: U64, action: F32) -> None:
    """Draws an action."""
    if brain.choices > 0:
        action[0] = np.float32(randint(rng, brain.choices))
    for n in range(brain.effectors):
        action[n] = np.float32(uniform(rng))


class NullRandom(CompiledBrain):
    """Ignores its input: what every brain has to beat, and what floors are measured with.

    | body | action |
    |---|---|
    | discrete actions | each equally likely |
    | effectors | each uniform in [0, 1], independent of the others |
    """

    name: ClassVar[str] = "null_random"
    kind: ClassVar[BrainClass] = "scripted"
    memory = Memory
    act = staticmethod(act)
