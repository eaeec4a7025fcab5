"""Policies in torch for the tests. Imported by worker processes too."""

from torch import nn

from nematodebench.engine.torch_policy import TorchPolicy, TorchPolicyConfig


class Quick(TorchPolicyConfig):
    rollout: int = 32
    minibatches: int = 2


class Reinforce(TorchPolicy):
    config = Quick
    lanes = 8

    @staticmethod
    def policy(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


class Ppo(Reinforce):
    algorithm = "ppo"

    @staticmethod
    def value(inputs):
        return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, 1))


class WithNorm(Ppo):
    """Not only linear layers have parameters."""

    @staticmethod
    def policy(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, outputs, bias=False))


class Valueless(Reinforce):
    algorithm = "ppo"
