"""Brain `mlp_ppo`: proximal policy optimisation."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers, parameter, searched
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    log_probabilities,
    output_gradient,
    remember_action,
    remember_step,
    start_network,
    value_of,
)
from nematodebench.brains.parts.rollout import estimate_advantages, gather_rows
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, I64, U64, kernel
from nematodebench.kernels.math import exp32
from nematodebench.kernels.memory import constant, size
from nematodebench.kernels.mlp import backward, forward, update_weights
from nematodebench.kernels.rng import randint

__all__ = ["MlpPpo", "MlpPpoConfig"]


class MlpPpoConfig(BrainConfig):
    """Parameters of `mlp_ppo`."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)
    rollout: int = parameter(512, 8, 65536, "steps between updates", searched(64, 2048, "medium", log=True))
    epochs: int = parameter(10, 1, 100, "passes over a rollout", searched(1, 20, "medium"))
    minibatch: int = parameter(64, 1, 65536, "samples of one gradient step")
    learning_rate: float = parameter(1e-3, 0, 1, "Adam's step size", searched(0.0001, 0.01, "high", log=True, off=0.0))
    gamma: float = parameter(0.95, 0, 1, "discount of future reward", searched(0.8, 0.999, "high", off=0.0))
    gae_lambda: float = parameter(0.95, 0, 1, "trace of the advantage estimate", searched(0.5, 1, "medium", off=0.0))
    clip: float = parameter(
        0.2, 0, 10, "how far the policy may move in one update", searched(0.05, 0.5, "medium", log=True), gt=0
    )
    entropy: float = parameter(
        0.01, 0, 10, "weight of the entropy bonus", searched(0.0001, 0.1, "high", log=True, off=0.0)
    )
    value_weight: float = parameter(0.5, 0, 10, "weight of the value loss", searched(0.1, 2, "low", log=True, off=0.0))
    max_grad_norm: float = parameter(0.0, 0, None, "gradients are clipped to this norm; 0 = never")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Memory(ActorCritic):
    """Of `mlp_ppo`."""

    gae_lambda = constant()
    clip = constant()
    epochs = size()


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_network(brain, rng)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and remembers what it was based on."""
    remember_action(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    ended = remember_step(brain, obs, outcome)
    if brain.rollout.filled == brain.rollout.capacity:
        following = np.float32(0.0) if ended else value_of(brain, obs)
        estimate_advantages(brain.rollout, brain.gamma, brain.gae_lambda, following)
        _update(brain, rng)
        brain.rollout.filled = 0


@kernel()
def _update(brain: Memory, rng: U64) -> None:
    """Epochs of shuffled minibatches."""
    n, order = brain.rollout.capacity, brain.rollout.order
    for k in range(n):
        order[k] = k
    for _ in range(brain.epochs):
        for k in range(n - 1):
            j = k + randint(rng, n - k)
            order[k], order[j] = order[j], order[k]
        for start in range(0, n, brain.batch):
            batch = order[start : min(start + brain.batch, n)]
            x = brain.x[: batch.size]
            gather_rows(brain.rollout.observations, batch, x)
            forward(brain.net, x)
            _loss_gradient(brain, batch)
            backward(brain.net, x)
            update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)


@kernel()
def _loss_gradient(brain: Memory, order: I64) -> None:
    """Gradient of the PPO loss of these steps by the network's outputs."""
    log_probabilities(brain, order)
    _weigh_policy(brain, brain.logp[: order.size], order)
    output_gradient(brain, order, order.size)


@kernel()
def _weigh_policy(brain: Memory, logp: F32, order: I64) -> None:
    """Derivative of the clipped objective by the log probability: -advantage x ratio, or 0 where it is clipped."""
    low, high = np.float32(1.0 - brain.clip), np.float32(1.0 + brain.clip)
    share = np.float32(1.0) / np.float32(logp.size)
    advantages, old, weight = brain.rollout.advantages, brain.rollout.logp, brain.weight
    for r in range(logp.size):
        logp[r] -= old[order[r]]
    for r in range(logp.size):
        logp[r] = exp32(logp[r])
    for r in range(logp.size):
        advantage, ratio = advantages[order[r]], logp[r]
        clipped = (advantage > 0.0 and ratio > high) or (advantage < 0.0 and ratio < low)
        weight[r] = np.float32(0.0) if clipped else -advantage * ratio * share


class MlpPpo(CompiledBrain):
    """Proximal policy optimisation on a shared tanh network, clipped objective, generalised advantages.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - one logit for each level of each action head, and the value |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |
    | truncation | the last reward is completed by gamma x value of the last observation |
    | optimiser | Adam, gradient norm clipped |
    """

    name: ClassVar[str] = "mlp_ppo"
    kind: ClassVar[BrainClass] = "classical"
    config = MlpPpoConfig
    memory = Memory
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: MlpPpoConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout of steps, and a network that takes a minibatch of them."""
        return ActorCritic.shape(body, config.hidden, config.levels, config.rollout, config.minibatch)
