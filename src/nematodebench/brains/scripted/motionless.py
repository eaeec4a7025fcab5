"""Brain `motionless`: does nothing, for ever."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface, NoConfig
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.jit import F32
from nematodebench.kernels.memory import size

__all__ = ["Motionless"]


class Memory(BrainMemory):
    """Of `motionless`: the number of the action that does nothing."""

    stay = size()


@Memory.kernel
def act(brain: Memory, action: F32) -> None:
    """Takes the same action every time."""
    for n in range(action.size):
        action[n] = np.float32(brain.stay)


class Motionless(CompiledBrain):
    """Does nothing: a score that pays for it measures something else than skill.

    | body | action |
    |---|---|
    | discrete actions | the one named `stay`, otherwise the last |
    | effectors | all 0 |
    """

    name: ClassVar[str] = "motionless"
    kind: ClassVar[BrainClass] = "scripted"
    memory = Memory
    act = staticmethod(act)

    @classmethod
    def sizes(cls, config: NoConfig, body: Interface) -> Mapping[str, Any]:
        """Looks up how this body stays where it is."""
        if "stay" in body.choice_names:
            return {"stay": body.choice_names.index("stay")}
        return {"stay": max(body.choices - 1, 0)}
