"""Brain `mlp_reinforce`: the plain policy gradient with a learned baseline."""

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
    weigh_steps,
)
from nematodebench.brains.parts.rollout import gather_rows
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, I64, U64, kernel
from nematodebench.kernels.memory import counter, size
from nematodebench.kernels.mlp import backward, forward, update_weights

__all__ = ["MlpReinforce", "MlpReinforceConfig"]

_ROWS = 64  # of one pass through the network: as many as keep its activations in the fast cache
_TRACE = 1.0  # advantages are plain discounted returns minus the baseline


class MlpReinforceConfig(BrainConfig):
    """Parameters of `mlp_reinforce`."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)
    horizon: int = parameter(
        128, 8, 65536, "at the latest after this many steps comes an update", searched(16, 1024, "medium", log=True)
    )
    batch_episodes: int = parameter(
        1, 1, 1000, "episodes of one update, if the horizon allows", searched(1, 16, "low", log=True)
    )
    learning_rate: float = parameter(3e-3, 0, 1, "Adam's step size", searched(0.0003, 0.03, "high", log=True, off=0.0))
    gamma: float = parameter(0.95, 0, 1, "discount of future reward", searched(0.8, 0.999, "high", off=0.0))
    entropy: float = parameter(
        0.01, 0, 10, "weight of the entropy bonus", searched(0.0001, 0.1, "high", log=True, off=0.0)
    )
    value_weight: float = parameter(
        0.5, 0, 10, "weight of the baseline's loss", searched(0.1, 2, "low", log=True, off=0.0)
    )
    value_scaling: float = parameter(
        0.05, 0, 1, "weight of a new update in the running scale of the baseline's targets; 0 = no scale", before=0.0
    )
    max_grad_norm: float = parameter(0.5, 0, None, "gradients are clipped to this norm; 0 = never")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Memory(ActorCritic):
    """Of `mlp_reinforce`."""

    batch_episodes = size()
    episodes = counter()


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_network(brain, rng)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and remembers what it was based on."""
    remember_action(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when enough episodes are stored or the horizon is reached."""
    rollout = brain.rollout
    ended = remember_step(brain, obs, outcome, brain.gamma)
    brain.episodes += ended
    if rollout.filled == rollout.capacity or brain.episodes == brain.batch_episodes:
        weigh_steps(brain, obs, ended, brain.gamma, _TRACE)
        _update(brain)
        rollout.filled, brain.episodes = 0, 0


@kernel()
def _update(brain: Memory) -> None:
    """One gradient step on all stored steps, summed over as many passes as they need."""
    n = brain.rollout.filled
    for start in range(0, n, brain.batch):
        batch = brain.rollout.order[start : min(start + brain.batch, n)]
        x = brain.x[: batch.size]
        gather_rows(brain.rollout.observations, batch, x)
        forward(brain.net, x)
        _loss_gradient(brain, batch)
        backward(brain.net, x, start > 0)
    update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)


@kernel()
def _loss_gradient(brain: Memory, order: I64) -> None:
    """Gradient of the mean of -advantage x log probability, and of the other two terms, by the network's outputs."""
    log_probabilities(brain, order)
    share = np.float32(1.0) / np.float32(brain.rollout.filled)
    for r in range(order.size):
        brain.weight[r] = -brain.rollout.advantages[order[r]] * share
    output_gradient(brain, order, brain.rollout.filled)


class MlpReinforce(CompiledBrain):
    """REINFORCE with a learned baseline on a shared tanh network: one gradient step on every stretch of experience.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - one logit for each level of each action head, and the baseline |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |
    | update | at the end of `batch_episodes` episodes, or when `horizon` steps are stored |
    | advantage | discounted return - baseline, standardised over the update |
    | truncation, horizon | the return is completed by gamma x baseline of the last observation |
    | loss | -advantage x log probability - entropy bonus + squared error of the baseline, means over the update |
    | optimiser | Adam, gradient norm clipped |

    It is made for short episodes with frequent reward. On poles many runs fail (`cartpole-v2` 0.50 on average; 0.67
    with gamma 0.99, `configs/mlp_reinforce_cartpole_v2.yml`). Sparse food is rarely found (`foraging_small-v2` 0.04).
    `mlp_ppo`, which goes over a rollout several times, is the brain for these tasks.
    """

    name: ClassVar[str] = "mlp_reinforce"
    kind: ClassVar[BrainClass] = "classical"
    config = MlpReinforceConfig
    memory = Memory
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: MlpReinforceConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout as long as the horizon, and a network for a part of it at once."""
        return ActorCritic.shape(body, config.hidden, config.levels, config.horizon, _ROWS)
