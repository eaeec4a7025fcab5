"""The body of a brain as Gymnasium spaces. What is sampled from them follows from the seed of the brain."""

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:  # the process of an isolated brain starts without the compiler
    from nematodebench.brains.base import Interface

__all__ = ["seeded_spaces"]

_OTHER_STREAM = 2**64
"""Seeds of brains are smaller: what is sensed and what is done are sampled from different streams."""


class _Seeded(spaces.Space[Any]):
    """Asks for its own seed where Gymnasium would take a new one. Nothing is seeded before the first sample."""

    own_seed: int

    def seed(self, seed: int | None = None) -> Any:
        """Seeds the samples; without a seed they begin as they did for this brain."""
        return super().seed(self.own_seed if seed is None else seed)


class _Choices(_Seeded, spaces.Discrete):
    pass


class _Numbers(_Seeded, spaces.Box):
    pass


def seeded_spaces(body: "Interface", seed: int) -> tuple[Any, Any]:
    """What a brain of this seed senses, and what it can do."""
    low, high = np.array(body.low, np.float32), np.array(body.high, np.float32)
    observation = _Numbers(low, high, dtype=np.float32)
    observation.own_seed = seed + _OTHER_STREAM
    action: Any
    action = _Choices(body.choices) if body.choices else _Numbers(0.0, 1.0, (body.effectors,), np.float32)
    action.own_seed = seed
    return observation, action
