"""Brain `mlp_dqn`: deep Q-learning from a replay memory, with a target network and double estimates."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.brains.parameters import searched
from nematodebench.brains.parts.heads import best_level, epsilon_of, heads_of, write_action
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.mlp import (
    MlpLayout,
    adam_step,
    backward,
    copy_weights,
    deltas,
    forward,
    init_weights,
    output_width,
    scale_outputs,
)
from nematodebench.kernels.rng import randint, uniform
from nematodebench.kernels.vectors import padded

__all__ = ["MlpDqn", "MlpDqnConfig"]

# Words of ints; the network's own begin at NET, the target network's where TARGET says, the minibatch where DRAWN says.
INPUTS, HEADS, LEVELS, EFFECTORS, CAPACITY, BATCH, EVERY, WARMUP, RENEWAL, STEPS, UPDATES = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
)
OBS, NEXT, CHOSEN, REWARD, ALIVE, X, GOAL, TARGET, DRAWN = 11, 12, 13, 14, 15, 16, 17, 18, 19
NET = 20
# Words of hyper.
RATE, GAMMA, MAX_NORM, EPSILON = 0, 1, 2, 3


class MlpDqnConfig(BrainConfig):
    """Parameters of `mlp_dqn`."""

    hidden: tuple[int, ...] = Field((64, 64), min_length=1, max_length=8, description="units of each hidden layer")
    replay: int = Field(8192, ge=8, le=1 << 20, description="transitions remembered")
    minibatch: int = Field(
        32,
        ge=1,
        le=65536,
        description="transitions of one gradient step",
        json_schema_extra=searched(8, 128, "medium", log=True),
    )
    train_every: int = Field(
        8,
        ge=1,
        le=10000,
        description="steps between gradient steps",
        json_schema_extra=searched(1, 32, "medium", log=True),
    )
    warmup: int = Field(500, ge=1, le=1 << 20, description="steps before the first gradient step")
    target_every: int = Field(
        250,
        ge=1,
        le=100000,
        description="gradient steps between renewals of the target network",
        json_schema_extra=searched(10, 2000, "medium", log=True),
    )
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
    epsilon_start: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of random actions at first",
        json_schema_extra=searched(0.1, 1, "low", off=0.0),
    )
    epsilon_end: float = Field(
        0.05,
        ge=0,
        le=1,
        description="share of random actions at last",
        json_schema_extra=searched(0.001, 0.2, "high", log=True, off=0.0),
    )
    epsilon_steps: int = Field(
        5000,
        ge=0,
        le=1 << 30,
        description="steps over which it goes down",
        json_schema_extra=searched(100, 50000, "high", log=True),
    )
    max_grad_norm: float = Field(10.0, ge=0, description="gradients are clipped to this norm; 0 = never")
    levels: int = Field(5, ge=2, le=64, description="values an effector can take")


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Orthogonal weights, all Q values near 0; the target network is a copy."""
    init_weights(mem, ints, NET, rng, np.sqrt(2.0), 1.0)
    scale_outputs(mem, ints, NET, ints[HEADS] * ints[LEVELS], 0.01)
    copy_weights(mem, ints, NET, ints[TARGET])


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The best action, or a random one; remembers what it was based on."""
    at, inputs, levels = ints[STEPS] % ints[CAPACITY], ints[INPUTS], ints[LEVELS]
    x = ints[OBS] + at * inputs
    for i in range(inputs):
        mem[x + i] = obs[0, i]
    outputs = forward(mem, ints, NET, x, 1)
    epsilon = epsilon_of(hyper, EPSILON, ints[STEPS])
    for head in range(ints[HEADS]):
        level = best_level(mem, outputs + head * levels, levels)
        if uniform(rng) < epsilon:
            level = randint(rng, levels)
        mem[ints[CHOSEN] + at * ints[HEADS] + head] = np.float32(level)
        write_action(action, head, ints[EFFECTORS] > 0, level, levels)
    if not np.isfinite(mem[outputs]):
        action[0, 0] = np.float32(np.nan)


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Stores the transition; every few steps a gradient step. Only death ends the future, truncation does not."""
    at, inputs = ints[STEPS] % ints[CAPACITY], ints[INPUTS]
    for i in range(inputs):
        mem[ints[NEXT] + at * inputs + i] = obs[0, i]
    mem[ints[REWARD] + at] = np.float32(out[2])
    mem[ints[ALIVE] + at] = np.float32(1.0) if out[0] == 0.0 else np.float32(0.0)
    ints[STEPS] += 1
    if ints[STEPS] >= ints[WARMUP] and ints[STEPS] % ints[EVERY] == 0:
        _update(hyper, ints, mem, rng)


@kernel()
def _update(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """One gradient step on transitions drawn with replacement."""
    rows, x = ints[BATCH], ints[X]
    batch = ints[ints[DRAWN] : ints[DRAWN] + rows]
    for r in range(rows):
        batch[r] = randint(rng, min(ints[STEPS], ints[CAPACITY]))
    _goals(hyper, ints, mem, batch)
    _gather(ints, mem, ints[OBS], batch)
    outputs = forward(mem, ints, NET, x, rows)
    _loss_gradient(ints, mem, outputs, batch)
    backward(mem, ints, NET, x, rows)
    adam_step(mem, ints, NET, hyper[RATE], hyper[MAX_NORM])
    ints[UPDATES] += 1
    if ints[UPDATES] % ints[RENEWAL] == 0:
        copy_weights(mem, ints, NET, ints[TARGET])


@kernel()
def _gather(ints: I64, mem: F32, source: int, batch: I64) -> None:
    inputs, x = ints[INPUTS], ints[X]
    for r in range(batch.size):
        for i in range(inputs):
            mem[x + r * inputs + i] = mem[source + batch[r] * inputs + i]


@kernel()
def _goals(hyper: F64, ints: I64, mem: F32, batch: I64) -> None:
    """Reward + gamma x the target network's value of the level the network itself finds best (double Q-learning)."""
    rows, heads, levels, gamma = batch.size, ints[HEADS], ints[LEVELS], np.float32(hyper[GAMMA])
    _gather(ints, mem, ints[NEXT], batch)
    own = forward(mem, ints, NET, ints[X], rows)
    target = forward(mem, ints, ints[TARGET], ints[X], rows)
    width = output_width(ints, NET)
    for r in range(rows):
        reward, future = mem[ints[REWARD] + batch[r]], gamma * mem[ints[ALIVE] + batch[r]]
        for head in range(heads):
            first = r * width + head * levels
            level = best_level(mem, own + first, levels)
            mem[ints[GOAL] + r * heads + head] = reward + future * mem[target + first + level]


@kernel()
def _loss_gradient(ints: I64, mem: F32, outputs: int, batch: I64) -> None:
    """Gradient of the Huber loss (quadratic within 1, a mean over rows) by the outputs, into the deltas."""
    rows, heads, levels, width = batch.size, ints[HEADS], ints[LEVELS], output_width(ints, NET)
    share, one = np.float32(1.0) / np.float32(rows), np.float32(1.0)
    delta = deltas(ints, NET)
    for n in range(rows * width):
        mem[delta + n] = np.float32(0.0)
    for r in range(rows):
        for head in range(heads):
            place = r * width + head * levels + np.int64(mem[ints[CHOSEN] + batch[r] * heads + head])
            error = mem[outputs + place] - mem[ints[GOAL] + r * heads + head]
            mem[delta + place] = min(max(error, -one), one) * share


class MlpDqn(CompiledBrain):
    """Deep Q-learning: replay memory, target network, double estimates, epsilon-greedy actions.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - a Q value for each level of each action head |
    | effectors | one head each over `levels` values spread over [0, 1]; every head learns for itself |
    | exploration | epsilon falls linearly from `epsilon_start` to `epsilon_end`, drawn for each head |
    | goal | reward + gamma x the target network's Q of the network's best level; truncation is not death |
    | loss | Huber, a mean over the minibatch |
    | optimiser | Adam, gradient norm clipped |
    """

    name: ClassVar[str] = "mlp_dqn"
    kind: ClassVar[BrainClass] = "classical"
    config = MlpDqnConfig
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: MlpDqnConfig, body: Interface) -> Layout:
        """Replay memory, scratch, the network, its target."""
        heads, levels = heads_of(body, config.levels)
        n, batch = config.replay, config.minibatch
        sizes = [n * body.inputs, n * body.inputs, n * heads, n, n, batch * body.inputs, batch * heads]
        offsets = np.concatenate([[0], np.cumsum([padded(size) for size in sizes])])
        net = MlpLayout.build(body.inputs, config.hidden, heads * levels, batch, int(offsets[-1]))
        target = MlpLayout.build(body.inputs, config.hidden, heads * levels, batch, net.end)
        head = [
            body.inputs, heads, levels, body.effectors, n, batch, config.train_every, config.warmup,
            config.target_every, 0, 0, *offsets[:-1], NET + len(net.ints), NET + 2 * len(net.ints),
        ]  # fmt: skip
        ints = np.array([*head, *net.ints, *target.ints, *[0] * batch], dtype=np.int64)
        hyper = np.array([
            config.learning_rate, config.gamma, config.max_grad_norm, config.epsilon_start, config.epsilon_end,
            config.epsilon_steps,
        ], dtype=np.float64)  # fmt: skip
        return Layout(hyper, ints, target.end)
