"""What the policy-gradient brains share: one network for policy and value, a rollout, and the gradient of the loss.

A brain whose network sees the observations as they are calls ``remember_action``, ``remember_step`` and
``weigh_steps``. One that computes the network's inputs itself calls what these are made of: ``store_observation``,
``choose_action``, ``present_value``, ``store_step`` and ``weigh_stored_steps``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.brains.parts.heads import Heads, policy_columns, sample_heads, softmax_columns
from nematodebench.brains.parts.rollout import Rollout, estimate_advantages, remember_outcome
from nematodebench.brains.parts.value_scale import ValueScale, standardise_targets, start_scale, true_value
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, F32M, I64, U64, accessor, inlined, inlined_natively, kernel
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.mlp import (
    Network,
    forward,
    forward_row,
    init_weights,
    output_deltas,
    outputs_of,
    scale_outputs,
)
from nematodebench.kernels.vectors import matrix, padded, transpose, transpose_back

__all__ = [
    "ActorCritic", "choose_action", "is_cut_off", "log_probabilities", "output_gradient", "present_value",
    "remember_action", "remember_step", "start_network", "store_observation", "store_step", "weigh_steps",
    "weigh_stored_steps",
]  # fmt: skip


class ActorCritic(BrainMemory):
    """A network with a logit for each level of each head and, behind them, the value; and the steps to learn from."""

    learning_rate = constant()
    gamma = constant()
    entropy = constant()
    value_weight = constant()
    max_grad_norm = constant()
    value_scaling = constant()
    batch = size()
    inputs = size()
    room = size()
    heads = part(Heads)
    net = part(Network)
    rollout = part(Rollout)
    scale = part(ValueScale)
    x = floats("batch", "inputs", scratch=True)
    logits = floats("room", scratch=True)
    shares = floats("room", scratch=True)
    logp = floats("batch", scratch=True)
    weight = floats("batch", scratch=True)
    entropies = floats("room", scratch=True)

    @classmethod
    def shape(
        cls, body: Interface, hidden: tuple[int, ...], levels: int, capacity: int, batch: int, seen: int = 0
    ) -> Mapping[str, Any]:
        """The sizes of a brain that stores ``capacity`` steps and learns from ``batch`` of them at once.

        The network sees ``seen`` numbers that the brain computes; 0: the observations as they are.
        """
        heads = Heads.shape(body, levels)
        outputs = heads["count"] * heads["levels"] + 1
        batch = min(batch, capacity)
        return {
            "batch": batch,
            "room": padded(outputs) * batch,
            "heads": heads,
            "net": Network.shape(seen or body.inputs, hidden, outputs, batch),
            "rollout": {"capacity": capacity, "inputs": body.inputs, "heads": heads["count"]},
        }

    def learned(self) -> Iterator[tuple[str, Any]]:
        """What it keeps; of the scale only if there is one: hashes of brains that were run before it existed hold."""
        for name, value in super().learned():
            if self.value_scaling > 0.0 or not name.startswith("scale."):
                yield name, value


@kernel()
def start_network(brain: ActorCritic, rng: U64) -> None:
    """Orthogonal weights; the policy starts nearly uniform."""
    init_weights(brain.net, rng, np.sqrt(2.0), 1.0)
    scale_outputs(brain.net, brain.heads.count * brain.heads.levels, 0.01)
    start_scale(brain.scale)
    for k in range(brain.rollout.capacity):
        brain.rollout.order[k] = k


@inlined
def present_value(brain: ActorCritic) -> np.float32:
    """The value of the observation that the network has just seen alone."""
    return true_value(brain.scale, outputs_of(brain.net, 1)[0, brain.heads.count * brain.heads.levels])


@kernel()
def _value_of(brain: ActorCritic, obs: F32) -> np.float32:
    """The value of an observation."""
    for i in range(brain.inputs):
        brain.x[0, i] = obs[i]
    forward(brain.net, brain.x[:1])
    return present_value(brain)


@inlined
def store_observation(brain: ActorCritic, obs: F32) -> int:
    """Stores what an action will be based on; returns its place in the rollout."""
    at = brain.rollout.filled
    for i in range(brain.inputs):
        brain.rollout.observations[at, i] = obs[i]
    return at


@inlined
def choose_action(brain: ActorCritic, rng: U64, action: F32) -> None:
    """Samples an action by the network's outputs for the stored observation, and stores it with its value."""
    heads, rollout = brain.heads, brain.rollout
    at, outputs = rollout.filled, outputs_of(brain.net, 1)[0]
    rollout.values[at] = present_value(brain)
    rollout.logp[at] = sample_heads(heads, outputs, rollout.chosen[at], rng, action)


@inlined
def remember_action(brain: ActorCritic, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and stores what it was based on."""
    at = store_observation(brain, obs)
    forward_row(brain.net, brain.rollout.observations[at])
    choose_action(brain, rng, action)


@inlined
def is_cut_off(outcome: Feedback) -> bool:
    """Whether an episode was truncated: the value of its last observation continues it."""
    return outcome.truncated != 0.0 and outcome.terminated == 0.0


@inlined
def store_step(brain: ActorCritic, outcome: Feedback, gamma: float, value: np.float32) -> bool:
    """Stores the reward and returns whether the episode ended. A truncated one is continued by ``value``."""
    ended = remember_outcome(brain.rollout, outcome)
    if is_cut_off(outcome):
        brain.rollout.rewards[brain.rollout.filled - 1] += np.float32(gamma) * value
    return ended


@inlined
def remember_step(brain: ActorCritic, obs: F32, outcome: Feedback, gamma: float) -> bool:
    """Stores the reward and returns whether the episode ended. A truncated episode is continued by its value."""
    return store_step(brain, outcome, gamma, _value_of(brain, obs) if is_cut_off(outcome) else np.float32(0.0))


@kernel()
def weigh_stored_steps(brain: ActorCritic, following: np.float32, gamma: float, trace: float) -> None:
    """Advantages and value targets of the stored steps; ``following`` is the value of what came after them."""
    estimate_advantages(brain.rollout, gamma, trace, following)
    if brain.value_scaling > 0.0:
        value = brain.heads.count * brain.heads.levels
        standardise_targets(brain.scale, brain.rollout, brain.value_scaling, brain.net, value)


@kernel()
def weigh_steps(brain: ActorCritic, obs: F32, ended: bool, gamma: float, trace: float) -> None:
    """Advantages and value targets of the stored steps; ``obs`` came after the last of them."""
    weigh_stored_steps(brain, np.float32(0.0) if ended else _value_of(brain, obs), gamma, trace)


@accessor
def _columns(brain: ActorCritic, flat: F32, rows: int) -> F32M:
    """Scratch with one row for each output of the network and one column for each sample."""
    return matrix(flat, 0, brain.net.widths[brain.net.layers - 1], rows)


@inlined_natively
def log_probabilities(brain: ActorCritic, order: I64) -> None:
    """Softmax of the network's outputs; log probabilities of the chosen actions go to ``logp``.

    The outputs are turned so that samples lie side by side, because loops over samples vectorise.
    """
    rows, levels, chosen = order.size, brain.heads.levels, brain.rollout.chosen
    z, p, logp = _columns(brain, brain.logits, rows), _columns(brain, brain.shares, rows), brain.logp
    transpose(outputs_of(brain.net, rows), z)
    for r in range(rows):
        logp[r] = np.float32(0.0)
    for head in range(brain.heads.count):
        first = head * levels
        entropy = brain.entropies[head * rows : (head + 1) * rows]
        softmax_columns(z[first : first + levels], p[first : first + levels], entropy)
        for r in range(rows):
            logp[r] += z[first + np.int64(chosen[order[r], head]), r]


@inlined_natively
def output_gradient(brain: ActorCritic, order: I64, count: int) -> None:
    """Gradient of the loss by the network's outputs, into the deltas of its last layer.

    loss = policy loss - entropy x H + value_weight x (v - target)^2, a mean over ``count`` samples of which these rows
    are a part. ``weight`` holds the policy loss's derivative by the log probability of the chosen action.
    """
    rows, heads, levels, rollout = order.size, brain.heads.count, brain.heads.levels, brain.rollout
    z, p, weight = _columns(brain, brain.logits, rows), _columns(brain, brain.shares, rows), brain.weight[:rows]
    bonus = np.float32(brain.entropy) / np.float32(count)
    for head in range(heads):
        first = head * levels
        entropy = brain.entropies[head * rows : (head + 1) * rows]
        policy_columns(z[first : first + levels], p[first : first + levels], weight, entropy, bonus)
        for r in range(rows):
            z[first + np.int64(rollout.chosen[order[r], head]), r] += weight[r]
    scale = np.float32(2.0 * brain.value_weight) / np.float32(count)
    value = z[heads * levels]
    for r in range(rows):
        value[r] = scale * (value[r] - rollout.targets[order[r]])
    transpose_back(z, output_deltas(brain.net, rows))
