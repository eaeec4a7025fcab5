"""Brain `mlp_ppo`: proximal policy optimisation."""

from collections.abc import Mapping
from typing import Any, ClassVar

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    remember_action,
    remember_step,
    start_network,
    weigh_steps,
)
from nematodebench.brains.parts.ppo import (
    Ppo,
    PpoConfig,
    begin_rollout,
    discount,
    number_steps,
    ppo_gradient,
    shuffle_steps,
)
from nematodebench.brains.parts.rollout import gather_rows
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.mlp import backward, forward, update_weights

__all__ = ["MlpPpo", "MlpPpoConfig"]


class _Layers(BrainConfig):
    """A base of its own, because the parameters of the last base come first in a list."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)


class MlpPpoConfig(PpoConfig, _Layers):
    """Parameters of `mlp_ppo`."""


class Memory(Ppo):
    """Of `mlp_ppo`."""


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_network(brain, rng)
    brain.length = brain.first_length


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and remembers what it was based on."""
    remember_action(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    gamma = discount(brain)
    ended = remember_step(brain, obs, outcome, gamma)
    if brain.rollout.filled == brain.length:
        weigh_steps(brain, obs, ended, gamma, brain.gae_lambda)
        _update(brain, rng)
        begin_rollout(brain)


@kernel()
def _update(brain: Memory, rng: U64) -> None:
    """Epochs of shuffled minibatches, until the policy has moved as far as it may."""
    n, order = brain.rollout.filled, brain.rollout.order
    number_steps(brain)
    for _ in range(brain.epochs):
        moved = 0.0
        shuffle_steps(brain, rng)
        for start in range(0, n, brain.batch):
            batch = order[start : min(start + brain.batch, n)]
            x = brain.x[: batch.size]
            gather_rows(brain.rollout.observations, batch, x)
            forward(brain.net, x)
            moved += ppo_gradient(brain, batch)
            backward(brain.net, x)
            update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)
        if brain.max_divergence > 0.0 and moved > brain.max_divergence * n:
            break


class MlpPpo(CompiledBrain):
    """Proximal policy optimisation on a shared tanh network, clipped objective, generalised advantages.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - one logit for each level of each action head, and the value |
    | value | learned in units of the running mean and spread of its targets (PopArt); `value_scaling` 0: as it is |
    | rollouts | `rollout` steps at first, later a share of all steps so far: quick at first, steady at last |
    | horizon | 1 / (1 - gamma) at first, longer with experience up to `longest_horizon` |
    | update | `epochs` passes, fewer if the policy has moved by more than `max_divergence` |
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
        capacity = max(config.rollout, config.longest_rollout) if config.rollout_growth > 0 else config.rollout
        shape = ActorCritic.shape(body, config.hidden, config.levels, capacity, min(config.minibatch, config.rollout))
        return {**shape, "first_length": config.rollout}
