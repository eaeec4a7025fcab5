"""A network of your own, trained for many runs at once.

nematodebench run foraging_small-v1 examples/torch_policy.py:Reinforce
"""

from torch import nn

from nematodebench import TorchPolicy


class Reinforce(TorchPolicy):
    """REINFORCE with two layers of 64."""

    @staticmethod
    def policy(inputs: int, outputs: int) -> nn.Module:
        """Log odds of the actions."""
        return nn.Sequential(
            nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
        )  # fmt: skip


class Ppo(Reinforce):
    """PPO with the same policy and a value."""

    algorithm = "ppo"

    @staticmethod
    def value(inputs: int) -> nn.Module:
        """What is to be expected."""
        return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
