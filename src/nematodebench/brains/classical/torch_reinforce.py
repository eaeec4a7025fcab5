"""Brain `torch_reinforce`: the worked example of a brain written in Python, with torch. Needs the extra ``[torch]``."""

import io
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig

__all__ = ["TorchReinforce", "TorchReinforceConfig"]


class TorchReinforceConfig(BrainConfig):
    """Parameters of `torch_reinforce`."""

    hidden: int = Field(64, ge=1, le=4096, description="units of the hidden layer")
    learning_rate: float = Field(3e-3, ge=0, le=1, description="Adam's step size")
    gamma: float = Field(0.95, ge=0, le=1, description="discount of future reward")
    entropy: float = Field(0.01, ge=0, le=10, description="weight of the entropy bonus")
    levels: int = Field(5, ge=2, le=64, description="values an effector can take")


class TorchReinforce:
    """REINFORCE in thirty lines of torch: one softmax for each action head, one gradient step an episode.

    Copy this class to bring your own network: the constructor gets Gymnasium spaces, a config and the run's seed, and
    the platform seeds torch before it is built.
    """

    name: ClassVar[str] = "torch_reinforce"
    kind: ClassVar[BrainClass] = "classical"
    config: ClassVar[type[BrainConfig]] = TorchReinforceConfig

    def __init__(
        self, observation_space: spaces.Box, action_space: spaces.Space[Any], config: TorchReinforceConfig, seed: int
    ) -> None:
        self._config = config
        discrete = isinstance(action_space, spaces.Discrete)
        heads = 1 if discrete else int(np.prod(action_space.shape or (1,)))
        self._shape = (heads, int(action_space.n) if isinstance(action_space, spaces.Discrete) else config.levels)
        self._discrete = discrete
        inputs = int(np.prod(observation_space.shape))
        self._net = torch.nn.Sequential(
            torch.nn.Linear(inputs, config.hidden),
            torch.nn.Tanh(),
            torch.nn.Linear(config.hidden, self._shape[0] * self._shape[1]),
        )
        self._optimiser = torch.optim.Adam(self._net.parameters(), lr=config.learning_rate)
        self._observations: list[NDArray[np.float32]] = []
        self._choices: list[torch.Tensor] = []
        self._rewards: list[float] = []

    def _policy(self, observations: torch.Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(logits=self._net(observations).reshape(-1, *self._shape))

    def begin_episode(self) -> None:
        """Forgets the last episode's steps, keeps the weights."""
        self._observations, self._choices, self._rewards = [], [], []

    def act(self, observation: NDArray[np.float32]) -> Any:
        """Draws an action from the policy."""
        with torch.no_grad():
            choice = self._policy(torch.from_numpy(observation)[None]).sample()[0]
        self._observations.append(observation)
        self._choices.append(choice)
        return int(choice[0]) if self._discrete else choice.numpy() / (self._shape[1] - 1)

    def learn(self, transition: Any) -> None:
        """Collects rewards; learns when the episode ends."""
        self._rewards.append(transition.reward)
        if transition.terminated or transition.truncated:
            self._update()

    def _update(self) -> None:
        returns, running = np.zeros(len(self._rewards), dtype=np.float32), 0.0
        for t in range(len(self._rewards) - 1, -1, -1):
            running = self._rewards[t] + self._config.gamma * running
            returns[t] = running
        weight = torch.from_numpy((returns - returns.mean()) / (returns.std() + 1e-6))
        policy = self._policy(torch.from_numpy(np.stack(self._observations)))
        logp = policy.log_prob(torch.stack(self._choices)).sum(dim=1)
        loss = -(weight * logp).mean() - self._config.entropy * policy.entropy().mean()
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()

    def memory(self) -> bytes:
        """The weights, for the comparison of bits."""
        buffer = io.BytesIO()
        for tensor in self._net.state_dict().values():
            buffer.write(tensor.numpy().tobytes())
        return buffer.getvalue()
