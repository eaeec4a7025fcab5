"""Brain `my_brain`: a linear policy with eligibility traces, in plain NumPy. Change what makes it yours."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["MyBrain", "MyBrainConfig"]


@dataclass(frozen=True)
class MyBrainConfig:
    """Its parameters; a name that is not here is refused."""

    rate: float = 0.02
    trace: float = 0.9
    levels: int = 5


class MyBrain:
    """Draws actions from a softmax; what it did lately becomes more likely when the reward is better than usual."""

    kind = "classical"
    config = MyBrainConfig

    def __init__(self, observation_space: Any, action_space: Any, config: MyBrainConfig, seed: int) -> None:
        """A fresh brain for every run: draw all randomness from the seed."""
        self.settings, self.rng = config, np.random.default_rng(seed)
        self.discrete = hasattr(action_space, "n")  # else every action is an effector in [0, 1]
        heads, levels = (1, action_space.n) if self.discrete else (action_space.shape[0], config.levels)
        self.weights = np.zeros((heads, levels, observation_space.shape[0] + 1))
        self.traces = np.zeros_like(self.weights)
        self.usual = 0.0

    def begin_episode(self) -> None:
        """A new episode begins; what was learned stays."""
        self.traces[:] = 0.0

    def act(self, observation: Any) -> Any:
        """Chooses an action: a whole number, or one number in [0, 1] for each effector."""
        senses = np.append(observation, 1.0)
        logits = self.weights @ senses
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        chosen = (shares.cumsum(axis=1) < self.rng.random((len(shares), 1))).sum(axis=1).clip(0, shares.shape[1] - 1)
        pushed = np.eye(shares.shape[1])[chosen] - shares
        self.traces = self.settings.trace * self.traces + pushed[:, :, None] * senses
        return int(chosen[0]) if self.discrete else chosen / (shares.shape[1] - 1)

    def learn(self, transition: Any) -> None:
        """Sees what came of it: observation, action, reward, next_observation, terminated, truncated."""
        self.weights += self.settings.rate * (transition.reward - self.usual) * self.traces
        self.usual += 0.01 * (transition.reward - self.usual)
