"""Brain `my_brain`: REINFORCE with a torch network. Change what makes it yours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

__all__ = ["MyBrain", "MyBrainConfig"]


@dataclass(frozen=True)
class MyBrainConfig:
    """Its parameters; a name that is not here is refused."""

    hidden: int = 64
    learning_rate: float = 3e-3
    gamma: float = 0.95
    levels: int = 5


class MyBrain:
    """One softmax for each action head, one gradient step an episode. torch is seeded before it is built."""

    kind = "classical"
    config = MyBrainConfig

    def __init__(self, observation_space: Any, action_space: Any, config: MyBrainConfig, seed: int) -> None:
        """A fresh brain for every run."""
        self.settings = config
        self.discrete = hasattr(action_space, "n")  # else every action is an effector in [0, 1]
        self.shape = (1, int(action_space.n)) if self.discrete else (action_space.shape[0], config.levels)
        self.net = torch.nn.Sequential(
            torch.nn.Linear(observation_space.shape[0], config.hidden),
            torch.nn.Tanh(),
            torch.nn.Linear(config.hidden, self.shape[0] * self.shape[1]),
        )
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate)
        self.steps: list[tuple[Any, Any, float]] = []

    def policy(self, observations: Any) -> Any:
        """The distribution of every head."""
        return torch.distributions.Categorical(logits=self.net(observations).reshape(-1, *self.shape))

    def begin_episode(self) -> None:
        """A new episode begins; what was learned stays."""
        self.steps = []

    def act(self, observation: Any) -> Any:
        """Chooses an action: a whole number, or one number in [0, 1] for each effector."""
        with torch.no_grad():
            self.chosen = self.policy(torch.from_numpy(observation)[None]).sample()[0]
        return int(self.chosen[0]) if self.discrete else self.chosen.numpy() / (self.shape[1] - 1)

    def learn(self, transition: Any) -> None:
        """Sees what came of it: observation, action, reward, next_observation, terminated, truncated."""
        self.steps.append((torch.from_numpy(transition.observation), self.chosen, transition.reward))
        if transition.terminated or transition.truncated:
            self.update()

    def update(self) -> None:
        """One step of the optimiser on the episode that has ended."""
        returns, running = np.zeros(len(self.steps), dtype=np.float32), 0.0
        for t in reversed(range(len(self.steps))):
            running = returns[t] = self.steps[t][2] + self.settings.gamma * running
        weight = torch.from_numpy((returns - returns.mean()) / (returns.std() + 1e-6))
        policy = self.policy(torch.stack([step[0] for step in self.steps]))
        log_probability = policy.log_prob(torch.stack([step[1] for step in self.steps])).sum(dim=1)
        loss = -(weight * log_probability).mean() - 0.01 * policy.entropy().mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
