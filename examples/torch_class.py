"""REINFORCE as one writes it in torch, one run at a time; examples/torch_policy.py trains the same network for many.

nematodebench run foraging_small-v2 examples/torch_class.py:TorchClass --runs 4 --episodes 100
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class TorchClassConfig:
    """Its parameters: a name that is not here is refused."""

    hidden: int = 64
    learning_rate: float = 0.003
    gamma: float = 0.95
    rollout: int = 128
    entropy: float = 0.01


class TorchClass:
    """A policy of two layers. torch is seeded for each run, and runs in one thread, deterministically."""

    config = TorchClassConfig

    def __init__(self, observation_space: Any, action_space: Any, config: TorchClassConfig, seed: int) -> None:
        """Makes the network."""
        if not hasattr(action_space, "n"):
            raise ValueError("this brain chooses among actions, it cannot move effectors")
        inputs, hidden, outputs = observation_space.shape[0], config.hidden, int(action_space.n)
        self.settings = config
        self.net = nn.Sequential(
            nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs)
        )  # fmt: skip
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate)
        self.steps: list[Any] = []

    def begin_episode(self) -> None:
        """Nothing belongs to an episode alone."""

    def act(self, observation: Any) -> int:
        """Draws an action."""
        with torch.no_grad():
            return int(torch.distributions.Categorical(logits=self.net(torch.from_numpy(observation))).sample())

    def learn(self, transition: Any) -> None:
        """Keeps the step; learns when the rollout is full."""
        self.steps.append(transition)
        if len(self.steps) == self.settings.rollout:
            self.update()
            self.steps = []

    def update(self) -> None:
        """One step of Adam."""
        returns, running = np.zeros(len(self.steps), dtype=np.float32), 0.0
        for t in reversed(range(len(self.steps))):
            step = self.steps[t]
            running = step.reward + self.settings.gamma * running * (not (step.terminated or step.truncated))
            returns[t] = running
        weights = torch.from_numpy((returns - returns.mean()) / (returns.std() + 1e-6))
        policy = torch.distributions.Categorical(
            logits=self.net(torch.from_numpy(np.stack([step.observation for step in self.steps])))
        )
        chosen = policy.log_prob(torch.tensor([step.action for step in self.steps]))
        loss = -(weights * chosen).mean() - self.settings.entropy * policy.entropy().mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def memory(self) -> bytes:
        """The weights: the hash of these bytes is recorded."""
        return b"".join(bytes(value.detach().numpy().tobytes()) for value in self.net.parameters())
