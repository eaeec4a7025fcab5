"""What a frozen policy is, and what is asked of it."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Body", "Observation", "Policy", "Use"]

Observation: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Body:
    """The numbers that go in and out.

    Attributes:
        inputs: Number of sensors.
        choices: Number of discrete actions; 0 if the outputs are effectors.
        effectors: Number of effectors in [0, 1]; 0 if the actions are discrete.
    """

    inputs: int
    choices: int
    effectors: int

    @classmethod
    def of(cls, observation_space: Any, action_space: Any) -> "Body":
        """The body behind Gymnasium spaces."""
        choices = int(getattr(action_space, "n", 0))
        return cls(int(observation_space.shape[0]), choices, 0 if choices else int(action_space.shape[0]))

    def check_action(self, action: Any) -> None:
        """Raises a ValueError that says what is wrong with an action."""
        values = np.asarray(action, dtype=np.float64).ravel()
        wanted = self.effectors or 1
        if values.size != wanted:
            raise ValueError(f"it returned {values.size} numbers, and an action here is {wanted}")
        if self.choices and values[0] not in range(self.choices):
            raise ValueError(
                f"it returned {values[0]:g}, and an action here is a whole number from 0 to {self.choices - 1}"
            )
        if self.effectors and not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"it returned {values[:8].tolist()}, and every effector is in [0, 1]")

    @property
    def outputs(self) -> int:
        """How many numbers a network has to give: one for each choice, or one for each effector."""
        return self.choices or self.effectors

    @property
    def meaning(self) -> str:
        """What these numbers are, in words."""
        return f"{self.choices} actions" if self.choices else f"{self.effectors} effectors"


@dataclass(frozen=True)
class Use:
    """How a policy is used.

    Attributes:
        body: What it senses and moves.
        sample: Whether an action is drawn from the policy's probabilities; otherwise it is the most probable one.
        seed: What draws begin with.
        dt: Seconds that one step of a spiking network stands for.
        steps: Steps of a spiking network for each tick of the world.
    """

    body: Body
    sample: bool = False
    seed: int = 0
    dt: float = 1e-4
    steps: int = 10


class Policy(Protocol):
    """Chooses actions and never learns. A copy made with :func:`copy.deepcopy` goes its own way."""

    def begin_episode(self) -> None:
        """A new episode begins: what is remembered within an episode is forgotten."""

    def act(self, observation: Observation) -> Any:
        """Chooses an action: an integer, or effectors in [0, 1]."""
