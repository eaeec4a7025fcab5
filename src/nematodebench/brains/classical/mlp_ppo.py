"""Brain `mlp_ppo`: proximal policy optimisation with one tanh network for policy and value."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.brains.parameters import searched
from nematodebench.brains.parts import actor_critic as ac
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.math import exp32
from nematodebench.kernels.mlp import adam_step, backward, forward
from nematodebench.kernels.rng import randint

__all__ = ["MlpPpo", "MlpPpoConfig"]

EPOCHS, CLIP = ac.OWN, ac.OWN_HYPER


class MlpPpoConfig(BrainConfig):
    """Parameters of `mlp_ppo`."""

    hidden: tuple[int, ...] = Field((64, 64), min_length=1, max_length=8, description="units of each hidden layer")
    rollout: int = Field(
        512,
        ge=8,
        le=65536,
        description="steps between updates",
        json_schema_extra=searched(64, 2048, "medium", log=True),
    )
    epochs: int = Field(
        10, ge=1, le=100, description="passes over a rollout", json_schema_extra=searched(1, 20, "medium")
    )
    minibatch: int = Field(64, ge=1, le=65536, description="samples of one gradient step")
    learning_rate: float = Field(
        1e-3,
        ge=0,
        le=1,
        description="Adam's step size",
        json_schema_extra=searched(0.0001, 0.01, "high", log=True, off=0.0),
    )
    gamma: float = Field(
        0.95,
        ge=0,
        le=1,
        description="discount of future reward",
        json_schema_extra=searched(0.8, 0.999, "high", off=0.0),
    )
    gae_lambda: float = Field(
        0.95,
        ge=0,
        le=1,
        description="trace of the advantage estimate",
        json_schema_extra=searched(0.5, 1, "medium", off=0.0),
    )
    clip: float = Field(
        0.2,
        gt=0,
        le=10,
        description="how far the policy may move in one update",
        json_schema_extra=searched(0.05, 0.5, "medium", log=True),
    )
    entropy: float = Field(
        0.01,
        ge=0,
        le=10,
        description="weight of the entropy bonus",
        json_schema_extra=searched(0.0001, 0.1, "high", log=True, off=0.0),
    )
    value_weight: float = Field(
        0.5,
        ge=0,
        le=10,
        description="weight of the value loss",
        json_schema_extra=searched(0.1, 2, "low", log=True, off=0.0),
    )
    max_grad_norm: float = Field(0.0, ge=0, description="gradients are clipped to this norm; 0 = never")
    levels: int = Field(5, ge=2, le=64, description="values an effector can take")


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Fresh weights."""
    ac.start_network(mem, ints, rng)


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Samples an action and remembers what it was based on."""
    ac.remember_action(mem, ints, rng, obs, action)


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Stores the reward; updates when the rollout is full."""
    ended = ac.remember_outcome(hyper, ints, mem, obs, out)
    if ints[ac.FILLED] == ints[ac.CAPACITY]:
        ac.estimate_advantages(hyper, ints, mem, np.float32(0.0) if ended else ac.value_of(mem, ints, obs))
        _update(hyper, ints, mem, rng)
        ints[ac.FILLED] = 0


@kernel()
def _update(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Epochs of shuffled minibatches."""
    n, x = ints[ac.CAPACITY], ints[ac.X]
    order = ints[ints[ac.ORDER] : ints[ac.ORDER] + n]
    for k in range(n):
        order[k] = k
    for _ in range(ints[EPOCHS]):
        for k in range(n - 1):
            j = k + randint(rng, n - k)
            order[k], order[j] = order[j], order[k]
        for start in range(0, n, ints[ac.BATCH]):
            batch = order[start : min(start + ints[ac.BATCH], n)]
            ac.gather_rows(ints, mem, batch)
            outputs = forward(mem, ints, ac.NET, x, batch.size)
            _loss_gradient(hyper, ints, mem, outputs, batch)
            backward(mem, ints, ac.NET, x, batch.size)
            adam_step(mem, ints, ac.NET, hyper[ac.RATE], hyper[ac.MAX_NORM])


@kernel()
def _loss_gradient(hyper: F64, ints: I64, mem: F32, outputs: int, order: I64) -> None:
    """Gradient of the PPO loss of these steps by the network's outputs."""
    ac.log_probabilities(ints, mem, outputs, order)
    rows = order.size
    _, _, logp, weight, _ = ac.column_places(ints, rows)
    _policy_weight(
        hyper,
        mem[logp : logp + rows],
        mem[weight : weight + rows],
        mem[ints[ac.ADVANTAGE] :],
        mem[ints[ac.LOGP] :],
        order,
    )
    ac.output_gradient(hyper, ints, mem, order, rows)


@kernel()
def _policy_weight(hyper: F64, logp: F32, weight: F32, advantages: F32, old: F32, order: I64) -> None:
    """Derivative of the clipped objective by the log probability: -advantage x ratio, or 0 where it is clipped."""
    low, high = np.float32(1.0 - hyper[CLIP]), np.float32(1.0 + hyper[CLIP])
    share = np.float32(1.0) / np.float32(logp.size)
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
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: MlpPpoConfig, body: Interface) -> Layout:
        """Two words and one constant beside what policy-gradient brains share."""
        ints, memory = ac.actor_critic_layout(body, config.hidden, config.levels, config.rollout, config.minibatch)
        ints[EPOCHS] = config.epochs
        hyper = np.array([
            config.learning_rate, config.gamma, config.gae_lambda, config.entropy, config.value_weight,
            config.max_grad_norm, config.clip,
        ])  # fmt: skip
        return Layout(hyper, ints, memory)
