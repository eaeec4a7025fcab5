"""Brain `null_random`: the zero of every scale, uniform random whatever it senses."""

from typing import ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface, Layout, NoConfig
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64
from nematodebench.kernels.rng import randint, uniform

__all__ = ["NullRandom"]

# Words of ints.
CHOICES, EFFECTORS = 0, 1


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Draws an action."""
    if ints[CHOICES] > 0:
        action[0, 0] = np.float32(randint(rng, ints[CHOICES]))
    for n in range(ints[EFFECTORS]):
        action[0, n] = np.float32(uniform(rng))


class NullRandom(CompiledBrain):
    """Ignores its input: what every brain has to beat, and what floors are measured with.

    | body | action |
    |---|---|
    | discrete actions | each equally likely |
    | effectors | each uniform in [0, 1], independent of the others |
    """

    name: ClassVar[str] = "null_random"
    kind: ClassVar[BrainClass] = "scripted"
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: NoConfig, body: Interface) -> Layout:
        """Needs nothing but the number of actions."""
        return Layout(np.zeros(1), np.array([body.choices, body.effectors], dtype=np.int64), 0)
