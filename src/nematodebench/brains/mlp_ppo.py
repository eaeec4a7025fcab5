"""Brain `mlp_ppo`: proximal policy optimisation with one tanh network for policy and value."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains._heads import heads_of, policy_columns, sample_heads, softmax_columns
from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.kernels.abi import F32, F32M, F64, I64, U64, brain_kernel, kernel
from nematodebench.kernels.mathx import exp32
from nematodebench.kernels.mlp import MlpLayout, adam_step, backward, deltas, forward, init_weights, refresh
from nematodebench.kernels.rng import randint
from nematodebench.kernels.tiles import padded, transpose, transpose_back

__all__ = ["MlpPpo", "MlpPpoConfig"]

# Words of ints; the network's own words begin at NET, the order of the samples at ORDER.
INPUTS, HEADS, LEVELS, EFFECTORS, ROLLOUT, EPOCHS, MINIBATCH, FILLED, ORDER = 0, 1, 2, 3, 4, 5, 6, 7, 8
OBS, CHOSEN, LOGP, VALUE, REWARD, DONE, ADVANTAGE, RETURN, X, COLUMNS = 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
NET = 20
# Words of hyper.
RATE, GAMMA, LAMBDA, CLIP, ENTROPY, VALUE_WEIGHT, MAX_NORM = 0, 1, 2, 3, 4, 5, 6


class MlpPpoConfig(BrainConfig):
    """Parameters of `mlp_ppo`."""

    hidden: tuple[int, ...] = Field((64, 64), min_length=1, max_length=8, description="units of each hidden layer")
    rollout: int = Field(512, ge=8, le=65536, description="steps between updates")
    epochs: int = Field(10, ge=1, le=100, description="passes over a rollout")
    minibatch: int = Field(64, ge=1, le=65536, description="samples of one gradient step")
    learning_rate: float = Field(1e-3, ge=0, le=1, description="Adam's step size")
    gamma: float = Field(0.95, ge=0, le=1, description="discount of future reward")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="trace of the advantage estimate")
    clip: float = Field(0.2, gt=0, le=10, description="how far the policy may move in one update")
    entropy: float = Field(0.01, ge=0, le=10, description="weight of the entropy bonus")
    value_weight: float = Field(0.5, ge=0, le=10, description="weight of the value loss")
    max_grad_norm: float = Field(0.5, ge=0, description="gradients are clipped to this norm; 0 = never")
    levels: int = Field(5, ge=2, le=64, description="values an effector can take")


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Orthogonal weights; the policy starts nearly uniform."""
    init_weights(mem, ints, NET, rng, np.sqrt(2.0), 1.0)
    last = NET + 10 + 8 * (ints[NET] - 1)
    width, weights = ints[last + 1], ints[last + 3]
    for i in range(ints[last]):
        for o in range(ints[HEADS] * ints[LEVELS]):
            mem[weights + i * width + o] *= np.float32(0.01)
    refresh(mem, ints, NET)


@kernel()
def _value(mem: F32, ints: I64, obs: F32M) -> np.float32:
    x = ints[X]
    for i in range(ints[INPUTS]):
        mem[x + i] = obs[0, i]
    return mem[forward(mem, ints, NET, x, 1) + ints[HEADS] * ints[LEVELS]]


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Samples an action and remembers what it was based on."""
    at, inputs, heads = ints[FILLED], ints[INPUTS], ints[HEADS]
    x = ints[OBS] + at * inputs
    for i in range(inputs):
        mem[x + i] = obs[0, i]
    outputs = forward(mem, ints, NET, x, 1)
    mem[ints[VALUE] + at] = mem[outputs + heads * ints[LEVELS]]
    mem[ints[LOGP] + at] = sample_heads(
        mem, outputs, heads, ints[LEVELS], ints[CHOSEN] + at * heads, rng, action, ints[EFFECTORS] > 0
    )


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Stores the reward; updates when the rollout is full. A truncated life is continued by its value."""
    at = ints[FILLED]
    reward = np.float32(out[2])
    terminated, truncated = out[0] != 0.0, out[1] != 0.0
    if truncated and not terminated:
        reward += np.float32(hyper[GAMMA]) * _value(mem, ints, obs)
    mem[ints[REWARD] + at] = reward
    mem[ints[DONE] + at] = np.float32(1.0) if terminated or truncated else np.float32(0.0)
    ints[FILLED] = at + 1
    if at + 1 == ints[ROLLOUT]:
        following = np.float32(0.0) if terminated or truncated else _value(mem, ints, obs)
        _advantages(hyper, ints, mem, following)
        _update(hyper, ints, mem, rng)
        ints[FILLED] = 0


@kernel()
def _advantages(hyper: F64, ints: I64, mem: F32, following: np.float32) -> None:
    """Generalised advantage estimates, their value targets, and the advantages standardised over the rollout."""
    n = ints[ROLLOUT]
    gamma, trace = np.float32(hyper[GAMMA]), np.float32(hyper[GAMMA] * hyper[LAMBDA])
    reward, done = mem[ints[REWARD] : ints[REWARD] + n], mem[ints[DONE] : ints[DONE] + n]
    value, advantage = mem[ints[VALUE] : ints[VALUE] + n], mem[ints[ADVANTAGE] : ints[ADVANTAGE] + n]
    target = mem[ints[RETURN] : ints[RETURN] + n]
    running = np.float32(0.0)
    mean, square = 0.0, 0.0
    for k in range(n):
        t = n - 1 - k
        alive = np.float32(1.0) - done[t]
        running = reward[t] + gamma * following * alive - value[t] + trace * alive * running
        advantage[t], target[t], following = running, running + value[t], value[t]
        mean += running
        square += np.float64(running) * running
    mean /= n
    centre = np.float32(mean)
    scale = np.float32(1.0 / (np.sqrt(max(0.0, square / n - mean * mean)) + 1e-8))
    for t in range(n):
        advantage[t] = (advantage[t] - centre) * scale


@kernel()
def _update(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Epochs of shuffled minibatches."""
    n, batch, inputs = ints[ROLLOUT], ints[MINIBATCH], ints[INPUTS]
    order = ints[ints[ORDER] : ints[ORDER] + n]
    x = ints[X]
    for k in range(n):
        order[k] = k
    for _ in range(ints[EPOCHS]):
        for k in range(n - 1):
            j = k + randint(rng, n - k)
            order[k], order[j] = order[j], order[k]
        start = 0
        while start < n:
            rows = min(batch, n - start)
            for r in range(rows):
                source = ints[OBS] + order[start + r] * inputs
                for i in range(inputs):
                    mem[x + r * inputs + i] = mem[source + i]
            outputs = forward(mem, ints, NET, x, rows)
            _loss_gradient(hyper, ints, mem, outputs, order[start : start + rows])
            backward(mem, ints, NET, x, rows)
            adam_step(mem, ints, NET, hyper[RATE], hyper[MAX_NORM])
            start += rows


@kernel()
def _policy_weight(hyper: F64, logp: F32, old: F32, advantage: F32, weight: F32) -> None:
    """Derivative of the clipped objective by the log probability: -advantage x ratio, or 0 where it is clipped."""
    low, high = np.float32(1.0 - hyper[CLIP]), np.float32(1.0 + hyper[CLIP])
    share = np.float32(1.0) / np.float32(logp.size)
    for r in range(logp.size):
        ratio = exp32(logp[r] - old[r])
        clipped = (advantage[r] > 0.0 and ratio > high) or (advantage[r] < 0.0 and ratio < low)
        weight[r] = np.float32(0.0) if clipped else -advantage[r] * ratio * share


@kernel()
def _loss_gradient(hyper: F64, ints: I64, mem: F32, outputs: int, order: I64) -> None:
    """Gradient of the PPO loss by the network's outputs, into the deltas of its last layer.

    loss = clipped objective - entropy x H + value_weight x (v - target)^2, means over the minibatch. It works on whole
    columns (one output, all samples), so that its loops vectorise.
    """
    rows, heads, levels = order.size, ints[HEADS], ints[LEVELS]
    width = ints[NET + 10 + 8 * (ints[NET] - 1) + 1]
    z = ints[COLUMNS]
    p, logp = z + width * rows, z + 2 * width * rows
    old, advantage, weight, entropy = logp + rows, logp + 2 * rows, logp + 3 * rows, logp + 4 * rows
    transpose(mem, outputs, z, rows, width)
    value_scale = np.float32(2.0 * hyper[VALUE_WEIGHT]) / np.float32(rows)
    for r in range(rows):
        sample, value = order[r], z + heads * levels * rows + r
        mem[old + r], mem[advantage + r] = mem[ints[LOGP] + sample], mem[ints[ADVANTAGE] + sample]
        mem[value] = value_scale * (mem[value] - mem[ints[RETURN] + sample])
        mem[logp + r] = np.float32(0.0)
    for head in range(heads):
        first = z + head * levels * rows
        softmax_columns(mem, first, p + head * levels * rows, entropy + head * rows, rows, levels)
        for r in range(rows):
            level = np.int64(mem[ints[CHOSEN] + order[r] * heads + head])
            mem[logp + r] += mem[first + level * rows + r]
    weights = mem[weight : weight + rows]
    _policy_weight(hyper, mem[logp : logp + rows], mem[old : old + rows], mem[advantage : advantage + rows], weights)
    for head in range(heads):
        first, spread = z + head * levels * rows, mem[entropy + head * rows : entropy + (head + 1) * rows]
        bonus = np.float32(hyper[ENTROPY]) / np.float32(rows)
        policy_columns(mem, first, p + head * levels * rows, weights, spread, bonus, levels)
        for r in range(rows):
            level = np.int64(mem[ints[CHOSEN] + order[r] * heads + head])
            mem[first + level * rows + r] += weights[r]
    transpose_back(mem, z, deltas(ints, NET), width, rows)


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
        """Rollout buffers first, then scratch, then the network."""
        heads, levels = heads_of(body, config.levels)
        n, batch = config.rollout, min(config.minibatch, config.rollout)
        sizes = [n * body.inputs, n * heads, *[n] * 6, batch * body.inputs, (2 * padded(heads * levels + 1) + 4 + heads) * batch]
        offsets = np.concatenate([[0], np.cumsum([padded(size) for size in sizes])])
        net = MlpLayout.build(body.inputs, config.hidden, heads * levels + 1, batch, int(offsets[-1]))
        ints = np.zeros(NET + len(net.ints) + n, dtype=np.int64)
        ints[:9] = (
            body.inputs, heads, levels, body.effectors, n, config.epochs, batch, 0, NET + len(net.ints),
        )  # fmt: skip
        ints[OBS : OBS + 10] = offsets[:-1]
        ints[NET : NET + len(net.ints)] = net.ints
        hyper = np.array([
            config.learning_rate, config.gamma, config.gae_lambda, config.clip, config.entropy, config.value_weight,
            config.max_grad_norm,
        ])  # fmt: skip
        return Layout(hyper, ints, net.end)
