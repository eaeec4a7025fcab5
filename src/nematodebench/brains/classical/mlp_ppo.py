"""Brain `mlp_ppo`: proximal policy optimisation."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers, parameter
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    remember_action,
    remember_step,
    start_network,
    weigh_steps,
)
from nematodebench.brains.parts.heads import best_level, write_action
from nematodebench.brains.parts.novelty import Novelty, novelty_of
from nematodebench.brains.parts.ppo import Ppo, PpoConfig, begin_rollout, discount, in_epochs
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, F32M, U64, kernel
from nematodebench.kernels.memory import constant, counter, part, size
from nematodebench.kernels.mlp import backward, forward, outputs_of, update_weights

__all__ = ["Memory", "MlpPpo", "MlpPpoConfig", "act", "init", "learn", "no_options"]


class _Layers(BrainConfig):
    """A base of its own, because the parameters of the last base come first in a list."""

    hidden: tuple[int, ...] = hidden_layers(64, 64)


class MlpPpoConfig(PpoConfig, _Layers):
    """Parameters of `mlp_ppo`."""

    novelty: float = parameter(0.0, 0, 1000, "bonus for an observation when it is first met; 1 / sqrt(n) of it later")
    novelty_bins: int = parameter(4, 2, 64, "bins of an input's range by which observations are told apart")
    settle: int = parameter(
        0, 0, 1 << 40, "steps after which it learns no more and takes its likeliest actions; 0 = never"
    )


class Memory(Ppo):
    """Of `mlp_ppo`."""

    settle = size()
    novelty = constant()
    seldom = part(Novelty)
    acted = counter()

    def learned(self) -> Iterator[tuple[str, Any]]:
        """What it keeps; of what an option needs only if it is on: hashes of brains that were run before that hold."""
        for name, value in super().learned():
            off = (name == "acted" and self.settle == 0) or (name.startswith("seldom.") and self.novelty == 0.0)
            if not off:
                yield name, value


@kernel()
def _think(brain: Memory, x: F32M) -> None:
    """Computes policy and value of these observations."""
    forward(brain.net, x)


@kernel()
def _think_back(brain: Memory, x: F32M) -> None:
    """Changes the weights along the gradient."""
    backward(brain.net, x)
    update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)


_update = in_epochs(_think, _think_back)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_network(brain, rng)
    brain.length = brain.first_length


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and remembers what it was based on; once it has settled it takes the likeliest one."""
    if brain.settle > 0:
        brain.acted += 1
        if brain.acted > brain.settle:
            _take_likeliest(brain, obs, action)
            return
    remember_action(brain, rng, obs, action)


@kernel()
def _take_likeliest(brain: Memory, obs: F32, action: F32) -> None:
    """The likeliest level of every head."""
    levels = brain.heads.levels
    for i in range(brain.inputs):
        brain.x[0, i] = obs[i]
    forward(brain.net, brain.x[:1])
    outputs = outputs_of(brain.net, 1)[0]
    for head in range(brain.heads.count):
        write_action(brain.heads, action, head, best_level(outputs[head * levels : (head + 1) * levels]))
    if not np.isfinite(outputs[0]):
        action[0] = np.float32(np.nan)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    if 0 < brain.settle < brain.acted:
        return
    gamma = discount(brain)
    ended = remember_step(brain, obs, outcome, gamma)
    if brain.novelty > 0.0:
        brain.rollout.rewards[brain.rollout.filled - 1] += np.float32(brain.novelty * novelty_of(brain.seldom, obs))
    if brain.rollout.filled == brain.length:
        weigh_steps(brain, obs, ended, gamma, brain.gae_lambda)
        _update(brain, rng)
        begin_rollout(brain)


def no_options(body: Interface) -> Mapping[str, Any]:
    """The sizes of a brain that uses these kernels and has none of the options."""
    return {"settle": 0, "novelty": 0.0, "seldom": Novelty.shape(body, 0)}


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
    | novelty | with `novelty` an observation earns a bonus, which falls with the times it was met: for rare rewards |
    | settling | after `settle` steps nothing more is learned, and the likeliest actions are taken: for fine control |
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
        bins = config.novelty_bins if config.novelty > 0 else 0
        return {**shape, "first_length": config.rollout, "seldom": Novelty.shape(body, bins)}

    @classmethod
    def without_learning(cls, config: MlpPpoConfig) -> MlpPpoConfig:
        """Where it settles at last it takes its likeliest actions from the start."""
        return config.model_copy(update={"settle": 1}) if config.settle else config
