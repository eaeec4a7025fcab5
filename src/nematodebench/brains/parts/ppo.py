"""What brains trained by proximal policy optimisation share: parameters, rollouts that grow, and the clipped objective.

Whoever uses it computes the outputs of ``net`` in a way of its own: a network alone, or something before it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nematodebench.brains.base import BrainConfig
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.actor_critic import ActorCritic, log_probabilities, output_gradient
from nematodebench.brains.parts.rollout import gather_rows
from nematodebench.kernels.jit import F32, I64, U64, inlined, inlined_natively, kernel
from nematodebench.kernels.math import exp32
from nematodebench.kernels.memory import constant, counter, size
from nematodebench.kernels.rng import randint

__all__ = [
    "Ppo", "PpoConfig", "begin_rollout", "begin_rollout_of", "discount", "in_epochs", "ppo_gradient", "shuffle",
]  # fmt: skip


class PpoConfig(BrainConfig):
    """Parameters of proximal policy optimisation."""

    rollout: int = parameter(512, 8, 65536, "steps before the first update", searched(64, 2048, "medium", log=True))
    rollout_growth: float = parameter(
        0.04, 0, 1, "later rollouts are this share of all steps so far, if longer; 0 = all are equal", before=0.0
    )
    longest_rollout: int = parameter(4096, 8, 65536, "the longest that a rollout becomes")
    epochs: int = parameter(10, 1, 100, "passes over a rollout", searched(1, 20, "medium"))
    minibatch: int = parameter(64, 1, 65536, "samples of one gradient step")
    learning_rate: float = parameter(1e-3, 0, 1, "Adam's step size", searched(0.0001, 0.01, "high", log=True, off=0.0))
    gamma: float = parameter(0.95, 0, 1, "discount of future reward at first", searched(0.8, 0.999, "high", off=0.0))
    horizon_growth: float = parameter(
        0.0003, 0, 1, "steps by which the horizon 1 / (1 - gamma) becomes longer with every step; 0 = never", before=0.0
    )
    longest_horizon: float = parameter(100.0, 1, None, "the longest that the horizon becomes, if gamma's is shorter")
    gae_lambda: float = parameter(0.95, 0, 1, "trace of the advantage estimate", searched(0.5, 1, "medium", off=0.0))
    clip: float = parameter(
        0.2, 0, 10, "how far the policy may move in one update", searched(0.05, 0.5, "medium", log=True), gt=0
    )
    entropy: float = parameter(
        0.003, 0, 10, "weight of the entropy bonus", searched(0.0001, 0.1, "high", log=True, off=0.0), before=0.01
    )
    value_weight: float = parameter(0.5, 0, 10, "weight of the value loss", searched(0.1, 2, "low", log=True, off=0.0))
    value_scaling: float = parameter(
        0.05, 0, 1, "weight of a new rollout in the running scale of value targets; 0 = no scale", before=0.0
    )
    max_divergence: float = parameter(
        0.02, 0, 10, "an update ends after the epoch in which the policy moved farther (mean KL); 0 = never", before=0.0
    )
    max_grad_norm: float = parameter(0.0, 0, None, "gradients are clipped to this norm; 0 = never")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Ppo(ActorCritic):
    """An actor-critic with the constants of the clipped objective, and how long its rollouts are."""

    gae_lambda = constant()
    clip = constant()
    rollout_growth = constant()
    horizon_growth = constant()
    longest_horizon = constant()
    max_divergence = constant()
    epochs = size()
    first_length = size()
    length = counter()
    seen = counter()

    def learned(self) -> Iterator[tuple[str, Any]]:
        """What it keeps; of what grows only if it grows: hashes of brains that were run before that hold."""
        grows = self.rollout_growth > 0.0 or self.horizon_growth > 0.0
        for name, value in super().learned():
            if grows or name not in {"length", "seen"}:
                yield name, value


@inlined
def discount(brain: Ppo) -> float:
    """The discount of this rollout: its horizon 1 / (1 - gamma) becomes longer with the steps of earlier rollouts."""
    if brain.horizon_growth == 0.0 or brain.gamma >= 1.0:
        return brain.gamma
    first = 1.0 / (1.0 - brain.gamma)
    return 1.0 - 1.0 / max(first, min(first + brain.horizon_growth * brain.seen, brain.longest_horizon))


@kernel()
def begin_rollout(brain: Ppo) -> None:
    """Empties the rollout. The next one is as long as its share of all steps so far, in whole minibatches."""
    begin_rollout_of(brain, brain.batch)


@kernel()
def begin_rollout_of(brain: Ppo, unit: int) -> None:
    """The same, in multiples of ``unit``."""
    brain.seen += brain.rollout.filled
    brain.rollout.filled = 0
    if brain.rollout_growth > 0.0:
        share = int(brain.rollout_growth * brain.seen) // unit * unit
        brain.length = min(max(share, brain.length), brain.rollout.capacity)


@kernel()
def _number_steps(brain: Ppo) -> None:
    """Puts the steps of a rollout in the order they happened."""
    for k in range(brain.rollout.filled):
        brain.rollout.order[k] = k


@kernel()
def _shuffle_steps(brain: Ppo, rng: U64) -> None:
    """Shuffles the steps of a rollout for the next epoch."""
    shuffle(brain.rollout.order[: brain.rollout.filled], rng)


@kernel()
def shuffle(order: I64, rng: U64) -> None:
    """Puts these numbers into a random order."""
    n = order.size
    for k in range(n - 1):
        j = k + randint(rng, n - k)
        order[k], order[j] = order[j], order[k]


@inlined_natively
def ppo_gradient(brain: Ppo, order: I64) -> float:
    """Gradient of the PPO loss of these steps by the network's outputs; returns how far the policy has moved there."""
    log_probabilities(brain, order)
    moved = _weigh_policy(brain, brain.logp[: order.size], order)
    output_gradient(brain, order, order.size)
    return moved


@inlined_natively
def _weigh_policy(brain: Ppo, logp: F32, order: I64) -> float:
    """Derivative of the clipped objective by the log probability: -advantage x ratio, or 0 where it is clipped.

    Returns the sum of ratio - 1 - log ratio, whose mean estimates the divergence of the policy from the one that acted.
    """
    moved = 0.0
    low, high = np.float32(1.0 - brain.clip), np.float32(1.0 + brain.clip)
    share = np.float32(1.0) / np.float32(logp.size)
    advantages, old, weight = brain.rollout.advantages, brain.rollout.logp, brain.weight
    for r in range(logp.size):
        logp[r] -= old[order[r]]
    if brain.max_divergence > 0.0:
        for r in range(logp.size):
            moved -= np.float64(logp[r]) + 1.0
    for r in range(logp.size):
        logp[r] = exp32(logp[r])
    if brain.max_divergence > 0.0:
        for r in range(logp.size):
            moved += np.float64(logp[r])
    for r in range(logp.size):
        advantage, ratio = advantages[order[r]], logp[r]
        clipped = (advantage > 0.0 and ratio > high) or (advantage < 0.0 and ratio < low)
        weight[r] = np.float32(0.0) if clipped else -advantage * ratio * share
    return moved


def in_epochs(think: Callable[..., None], think_back: Callable[..., None]) -> Callable[..., None]:
    """What learns from a full rollout whose steps do not depend on each other.

    Args:
        think: Computes the outputs of ``net`` for rows of observations.
        think_back: Makes a step of the optimiser from the gradient by these outputs, for the same rows.
    """

    @kernel()
    def update(brain: Ppo, rng: U64) -> None:
        """Epochs of shuffled minibatches, until the policy has moved as far as it may."""
        n, order = brain.rollout.filled, brain.rollout.order
        _number_steps(brain)
        for _ in range(brain.epochs):
            moved = 0.0
            _shuffle_steps(brain, rng)
            for start in range(0, n, brain.batch):
                batch = order[start : min(start + brain.batch, n)]
                x = brain.x[: batch.size]
                gather_rows(brain.rollout.observations, batch, x)
                think(brain, x)
                moved += ppo_gradient(brain, batch)
                think_back(brain, x)
            if brain.max_divergence > 0.0 and moved > brain.max_divergence * n:
                break

    return update
