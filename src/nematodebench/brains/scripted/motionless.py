"""Brain `motionless`: does nothing, for ever."""

from typing import ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface, Layout, NoConfig
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64

__all__ = ["Motionless"]

# Words of ints.
STAY, WIDTH = 0, 1


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The same action every time."""
    for n in range(ints[WIDTH]):
        action[0, n] = np.float32(ints[STAY])


class Motionless(CompiledBrain):
    """Does nothing: a score that pays for it measures something else than skill.

    | body | action |
    |---|---|
    | discrete actions | the one named `stay`, otherwise the last |
    | effectors | all 0 |
    """

    name: ClassVar[str] = "motionless"
    kind: ClassVar[BrainClass] = "scripted"
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: NoConfig, body: Interface) -> Layout:
        """Looks up how this body stays where it is."""
        stay = max(body.choices - 1, 0)
        if "stay" in body.choice_names:
            stay = body.choice_names.index("stay")
        return Layout(np.zeros(1), np.array([stay, body.action_width], dtype=np.int64), 0)
