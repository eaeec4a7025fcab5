"""What the policy-gradient brains share: one network for policy and value, the steps they remember, the loss gradient.

Words of ``ints`` and ``hyper`` that are not theirs alone are named here. Steps are stored in the order they happened;
an update reads them through the list at ORDER, so that a brain may shuffle them.
"""

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.brains.parts.heads import heads_of, policy_columns, sample_heads, softmax_columns
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.mlp import MlpLayout, deltas, forward, init_weights, output_width, scale_outputs
from nematodebench.kernels.vectors import padded, transpose, transpose_back

__all__ = [
    "ADVANTAGE", "BATCH", "CAPACITY", "CHOSEN", "COLUMNS", "ENTROPY", "FILLED", "GAMMA", "LAMBDA", "LOGP", "MAX_NORM",
    "NET", "ORDER", "OWN", "OWN_HYPER", "RATE", "VALUE_WEIGHT", "X", "actor_critic_layout", "column_places",
    "estimate_advantages", "gather_rows", "log_probabilities", "output_gradient", "remember_action", "remember_outcome",
    "start_network", "value_of",
]  # fmt: skip

# Words of ints: two are free for the brain from OWN on; the network's own begin at NET.
INPUTS, HEADS, LEVELS, EFFECTORS, CAPACITY, BATCH, FILLED, ORDER = 0, 1, 2, 3, 4, 5, 6, 7
OBS, CHOSEN, LOGP, VALUE, REWARD, DONE, ADVANTAGE, RETURN, X, COLUMNS = 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
OWN, NET = 18, 20
# Words of hyper: the brain's own begin at OWN_HYPER.
RATE, GAMMA, LAMBDA, ENTROPY, VALUE_WEIGHT, MAX_NORM, OWN_HYPER = 0, 1, 2, 3, 4, 5, 6


def actor_critic_layout(
    body: Interface, hidden: tuple[int, ...], levels: int, capacity: int, batch: int
) -> tuple[I64, int]:
    """Words of ints and memory size of a brain that stores ``capacity`` steps and learns from ``batch`` at once."""
    heads, levels = heads_of(body, levels)
    batch = min(batch, capacity)
    scratch = (2 * padded(heads * levels + 1) + 2 + heads) * batch
    sizes = [capacity * body.inputs, capacity * heads, *[capacity] * 6, batch * body.inputs, scratch]
    offsets = np.concatenate([[0], np.cumsum([padded(size) for size in sizes])])
    net = MlpLayout.build(body.inputs, hidden, heads * levels + 1, batch, int(offsets[-1]))
    order = NET + len(net.ints)
    ints = np.zeros(order + capacity, dtype=np.int64)
    ints[: ORDER + 1] = body.inputs, heads, levels, body.effectors, capacity, batch, 0, order
    ints[OBS : COLUMNS + 1] = offsets[:-1]
    ints[NET:order] = net.ints
    ints[order:] = np.arange(capacity)
    return ints, net.end


@kernel()
def start_network(mem: F32, ints: I64, rng: U64) -> None:
    """Orthogonal weights; the policy starts nearly uniform."""
    init_weights(mem, ints, NET, rng, np.sqrt(2.0), 1.0)
    scale_outputs(mem, ints, NET, ints[HEADS] * ints[LEVELS], 0.01)


@kernel()
def value_of(mem: F32, ints: I64, obs: F32M) -> np.float32:
    """The network's value of an observation."""
    x = ints[X]
    for i in range(ints[INPUTS]):
        mem[x + i] = obs[0, i]
    return np.float32(mem[forward(mem, ints, NET, x, 1) + ints[HEADS] * ints[LEVELS]])


@kernel()
def remember_action(mem: F32, ints: I64, rng: U64, obs: F32M, action: F32M) -> None:
    """Samples an action and stores what it was based on."""
    at, inputs, heads = ints[FILLED], ints[INPUTS], ints[HEADS]
    x = ints[OBS] + at * inputs
    for i in range(inputs):
        mem[x + i] = obs[0, i]
    outputs = forward(mem, ints, NET, x, 1)
    mem[ints[VALUE] + at] = mem[outputs + heads * ints[LEVELS]]
    mem[ints[LOGP] + at] = sample_heads(
        mem, outputs, heads, ints[LEVELS], ints[CHOSEN] + at * heads, rng, action, ints[EFFECTORS] > 0
    )


@kernel()
def remember_outcome(hyper: F64, ints: I64, mem: F32, obs: F32M, out: F64) -> bool:
    """Stores the reward and returns whether the life ended. A truncated life is continued by its value."""
    at = ints[FILLED]
    reward = np.float32(out[2])
    terminated, truncated = out[0] != 0.0, out[1] != 0.0
    if truncated and not terminated:
        reward += np.float32(hyper[GAMMA]) * value_of(mem, ints, obs)
    mem[ints[REWARD] + at] = reward
    mem[ints[DONE] + at] = np.float32(1.0) if terminated or truncated else np.float32(0.0)
    ints[FILLED] = at + 1
    return bool(terminated or truncated)


@kernel()
def estimate_advantages(hyper: F64, ints: I64, mem: F32, following: np.float32) -> None:
    """Generalised advantages of the stored steps, their value targets, and the advantages standardised.

    ``following`` is the value after the last step (it does not count if a life ended there). With lambda 1 the targets
    are the plain discounted returns.
    """
    n = ints[FILLED]
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
def gather_rows(ints: I64, mem: F32, order: I64) -> None:
    """Copies the observations of these steps to X, the network's input."""
    inputs, x = ints[INPUTS], ints[X]
    for r in range(order.size):
        source = ints[OBS] + order[r] * inputs
        for i in range(inputs):
            mem[x + r * inputs + i] = mem[source + i]


@kernel()
def column_places(ints: I64, rows: int) -> tuple[int, int, int, int, int]:
    """Scratch of the loss gradient: logits, probabilities, log probability, weight and entropies, one column a row."""
    z = ints[COLUMNS]
    width = output_width(ints, NET)
    logp = z + 2 * width * rows
    return z, z + width * rows, logp, logp + rows, logp + 2 * rows


@kernel()
def log_probabilities(ints: I64, mem: F32, outputs: int, order: I64) -> None:
    """The network's outputs as columns (one output, all rows), softmaxed; log probabilities of the chosen actions.

    Columns, because loops over rows vectorise.
    """
    rows, heads, levels = order.size, ints[HEADS], ints[LEVELS]
    z, p, logp, _, entropy = column_places(ints, rows)
    transpose(mem, outputs, z, rows, output_width(ints, NET))
    for r in range(rows):
        mem[logp + r] = np.float32(0.0)
    for head in range(heads):
        first = z + head * levels * rows
        softmax_columns(mem, first, p + head * levels * rows, entropy + head * rows, rows, levels)
        for r in range(rows):
            level = np.int64(mem[ints[CHOSEN] + order[r] * heads + head])
            mem[logp + r] += mem[first + level * rows + r]


@kernel()
def output_gradient(hyper: F64, ints: I64, mem: F32, order: I64, count: int) -> None:
    """Gradient of the loss by the network's outputs, into the deltas of its last layer.

    loss = policy loss - entropy x H + value_weight x (v - target)^2, a mean over ``count`` samples of which these rows
    are a part. The weight column holds the policy loss's derivative by the log probability of the chosen action.
    """
    rows, heads, levels = order.size, ints[HEADS], ints[LEVELS]
    z, p, _, weight, entropy = column_places(ints, rows)
    weights = mem[weight : weight + rows]
    bonus = np.float32(hyper[ENTROPY]) / np.float32(count)
    for head in range(heads):
        first, spread = z + head * levels * rows, mem[entropy + head * rows : entropy + (head + 1) * rows]
        policy_columns(mem, first, p + head * levels * rows, weights, spread, bonus, levels)
        for r in range(rows):
            level = np.int64(mem[ints[CHOSEN] + order[r] * heads + head])
            mem[first + level * rows + r] += weights[r]
    scale = np.float32(2.0 * hyper[VALUE_WEIGHT]) / np.float32(count)
    value = z + heads * levels * rows
    for r in range(rows):
        mem[value + r] = scale * (mem[value + r] - mem[ints[RETURN] + order[r]])
    transpose_back(mem, z, deltas(ints, NET), output_width(ints, NET), rows)
