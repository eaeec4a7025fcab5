"""Brain `mlp_reinforce`: the plain policy gradient with a learned baseline."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.brains.parameters import searched
from nematodebench.brains.parts import actor_critic as ac
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.mlp import adam_step, backward, forward

__all__ = ["MlpReinforce", "MlpReinforceConfig"]

BATCH_EPISODES, EPISODES = ac.OWN, ac.OWN + 1
_ROWS = 64  # of one pass through the network: as many as keep its activations in the fast cache


class MlpReinforceConfig(BrainConfig):
    """Parameters of `mlp_reinforce`."""

    hidden: tuple[int, ...] = Field((64, 64), min_length=1, max_length=8, description="units of each hidden layer")
    horizon: int = Field(
        128,
        ge=8,
        le=65536,
        description="at the latest after this many steps comes an update",
        json_schema_extra=searched(16, 1024, "medium", log=True),
    )
    batch_episodes: int = Field(
        1,
        ge=1,
        le=1000,
        description="episodes of one update, if the horizon allows",
        json_schema_extra=searched(1, 16, "low", log=True),
    )
    learning_rate: float = Field(
        3e-3,
        ge=0,
        le=1,
        description="Adam's step size",
        json_schema_extra=searched(0.0003, 0.03, "high", log=True, off=0.0),
    )
    gamma: float = Field(
        0.95,
        ge=0,
        le=1,
        description="discount of future reward",
        json_schema_extra=searched(0.8, 0.999, "high", off=0.0),
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
        description="weight of the baseline's loss",
        json_schema_extra=searched(0.1, 2, "low", log=True, off=0.0),
    )
    max_grad_norm: float = Field(0.5, ge=0, description="gradients are clipped to this norm; 0 = never")
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
    """Stores the reward; updates when enough episodes are stored or the horizon is reached."""
    ended = ac.remember_outcome(hyper, ints, mem, obs, out)
    ints[EPISODES] += ended
    if ints[ac.FILLED] == ints[ac.CAPACITY] or ints[EPISODES] == ints[BATCH_EPISODES]:
        ac.estimate_advantages(hyper, ints, mem, np.float32(0.0) if ended else ac.value_of(mem, ints, obs))
        _update(hyper, ints, mem)
        ints[ac.FILLED], ints[EPISODES] = 0, 0


@kernel()
def _update(hyper: F64, ints: I64, mem: F32) -> None:
    """One gradient step on all stored steps, summed over as many passes as they need."""
    n, x = ints[ac.FILLED], ints[ac.X]
    order = ints[ints[ac.ORDER] : ints[ac.ORDER] + n]
    for start in range(0, n, ints[ac.BATCH]):
        batch = order[start : min(start + ints[ac.BATCH], n)]
        ac.gather_rows(ints, mem, batch)
        outputs = forward(mem, ints, ac.NET, x, batch.size)
        _loss_gradient(hyper, ints, mem, outputs, batch)
        backward(mem, ints, ac.NET, x, batch.size, start > 0)
    adam_step(mem, ints, ac.NET, hyper[ac.RATE], hyper[ac.MAX_NORM])


@kernel()
def _loss_gradient(hyper: F64, ints: I64, mem: F32, outputs: int, order: I64) -> None:
    """Gradient of the mean of -advantage x log probability, and of the other two terms, by the network's outputs."""
    ac.log_probabilities(ints, mem, outputs, order)
    _, _, _, weight, _ = ac.column_places(ints, order.size)
    share = np.float32(1.0) / np.float32(ints[ac.FILLED])
    for r in range(order.size):
        mem[weight + r] = -mem[ints[ac.ADVANTAGE] + order[r]] * share
    ac.output_gradient(hyper, ints, mem, order, ints[ac.FILLED])


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
    """

    name: ClassVar[str] = "mlp_reinforce"
    kind: ClassVar[BrainClass] = "classical"
    config = MlpReinforceConfig
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: MlpReinforceConfig, body: Interface) -> Layout:
        """Two words beside what policy-gradient brains share; lambda is 1."""
        ints, memory = ac.actor_critic_layout(body, config.hidden, config.levels, config.horizon, _ROWS)
        ints[BATCH_EPISODES] = config.batch_episodes
        hyper = np.array([
            config.learning_rate, config.gamma, 1.0, config.entropy, config.value_weight, config.max_grad_norm,
        ])  # fmt: skip
        return Layout(hyper, ints, memory)
