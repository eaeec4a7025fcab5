"""What a step brings to a brain that is written in Python."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Transition", "transition"]


@dataclass(frozen=True)
class Transition:
    """What one step brought."""

    observation: NDArray[np.float32]
    action: Any
    reward: float
    next_observation: NDArray[np.float32]
    terminated: bool
    truncated: bool


def transition(
    observation: Any, action: Any, reward: float, following: Any, terminated: bool, truncated: bool
) -> Transition:
    """A transition in a third of the time: the constructor of a frozen dataclass sets every field by a call."""
    made = object.__new__(Transition)
    made.__dict__.update(
        observation=observation, action=action, reward=reward, next_observation=following, terminated=terminated,
        truncated=truncated,
    )  # fmt: skip
    return made
