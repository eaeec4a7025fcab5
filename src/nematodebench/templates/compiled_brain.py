"""Brain `my_brain`: a policy gradient with a learned baseline, compiled. Change what makes it yours."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kit import (
    F32,
    U64,
    ActorCritic,
    BrainConfig,
    CompiledBrain,
    Feedback,
    Interface,
    backward,
    forward,
    gather_rows,
    hidden_layers,
    kernel,
    log_probabilities,
    output_gradient,
    parameter,
    remember_action,
    remember_step,
    start_network,
    update_weights,
    weigh_steps,
)  # fmt: skip

__all__ = ["MyBrain", "MyBrainConfig"]

ROWS = 64  # steps that go through the network at once


class MyBrainConfig(BrainConfig):
    """Its parameters: default, least and largest value, and what each does."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)
    horizon: int = parameter(128, 8, 65536, "steps after which it learns at the latest; else at the end of an episode")
    learning_rate: float = parameter(3e-3, 0, 1, "Adam's step size")
    gamma: float = parameter(0.95, 0, 1, "discount of future reward")
    entropy: float = parameter(0.01, 0, 10, "weight of the entropy bonus")
    value_weight: float = parameter(0.5, 0, 10, "weight of the baseline's loss")
    value_scaling: float = parameter(0.05, 0, 1, "renewal of the running scale of the baseline; 0 = no scale")
    max_grad_norm: float = parameter(0.5, 0, None, "gradients are clipped to this norm; 0 = never")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Memory(ActorCritic):
    """What it remembers: network, optimiser and rollout of an actor-critic. Declare more here, by name."""


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """A fresh brain; its memory is 0 before."""
    start_network(brain, rng)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Chooses an action for what it senses."""
    remember_action(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """Sees what came of the action; ``obs`` is already the next observation."""
    ended = remember_step(brain, obs, outcome, brain.gamma)
    if ended or brain.rollout.filled == brain.rollout.capacity:
        weigh_steps(brain, obs, ended, brain.gamma, 1.0)
        update(brain)
        brain.rollout.filled = 0


@kernel()
def update(brain: Memory) -> None:
    """One gradient step on all steps since the last one."""
    rollout, n = brain.rollout, brain.rollout.filled
    share = np.float32(1.0) / np.float32(n)
    for start in range(0, n, brain.batch):
        batch = rollout.order[start : min(start + brain.batch, n)]
        x = brain.x[: batch.size]
        gather_rows(rollout.observations, batch, x)
        forward(brain.net, x)
        log_probabilities(brain, batch)
        for r in range(batch.size):
            brain.weight[r] = -rollout.advantages[batch[r]] * share
        output_gradient(brain, batch, n)
        backward(brain.net, x, start > 0)
    update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)


class MyBrain(CompiledBrain):
    """REINFORCE with a baseline on a network of two layers, for choices and for effectors."""

    name, kind, config, memory = "my_brain", "classical", MyBrainConfig, Memory
    init, act, learn = staticmethod(init), staticmethod(act), staticmethod(learn)

    @classmethod
    def sizes(cls, config: MyBrainConfig, body: Interface) -> Mapping[str, Any]:
        """Sizes that are neither in the config nor in the body under the same name."""
        return ActorCritic.shape(body, config.hidden, config.levels, config.horizon, ROWS)
