"""Action heads: discrete actions and effectors are the same thing to a brain that has them.

A discrete body is one head with a level for every action; a body with effectors is one head for each effector, whose
levels are spread evenly over [0, 1]. So one softmax serves every task.
"""

from collections.abc import Mapping

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, F32M, U64, inlined, kernel
from nematodebench.kernels.math import exp32, log32
from nematodebench.kernels.memory import Memory, constant, size
from nematodebench.kernels.rng import uniform

__all__ = [
    "Exploration", "Heads", "best_level", "epsilon_after", "policy_columns", "sample_heads", "softmax_columns",
    "write_action",
]  # fmt: skip


class Heads(Memory):
    """How many heads there are, how many levels each has, and whether they are effectors."""

    count = size()
    levels = size()
    effectors = size()

    @classmethod
    def shape(cls, body: Interface, levels: int) -> Mapping[str, int]:
        """The heads that a body needs; ``levels`` are those of an effector."""
        count, levels = (1, body.choices) if body.choices else (body.effectors, levels)
        return {"count": count, "levels": levels, "effectors": body.effectors}


class Exploration(Memory):
    """How many actions are random: a share that falls in a straight line."""

    epsilon_start = constant()
    epsilon_end = constant()
    epsilon_steps = constant()


@inlined
def write_action(heads: Heads, action: F32, head: int, level: int) -> None:
    """Puts a chosen level into the action."""
    if heads.effectors > 0:
        action[head] = np.float32(level) / np.float32(heads.levels - 1)
    else:
        action[0] = np.float32(level)


@kernel()
def best_level(values: F32) -> int:
    """The level with the highest value; the first of equals."""
    best = 0
    for k in range(1, values.size):
        if values[k] > values[best]:
            best = k
    return best


@kernel()
def epsilon_after(exploration: Exploration, steps: int) -> float:
    """Share of random actions after ``steps``."""
    start, end = exploration.epsilon_start, exploration.epsilon_end
    if steps >= exploration.epsilon_steps:
        return end
    return start + (end - start) * (steps / exploration.epsilon_steps)


@inlined
def sample_heads(heads: Heads, logits: F32, chosen: F32, rng: U64, action: F32) -> np.float32:
    """Draws a level for every head from its softmax, stores them in ``chosen``; returns their log probability.

    The logits are overwritten. Where they are not finite the action is NaN, which ends the run as failed instead of
    going on at random.
    """
    total_logp = np.float32(0.0)
    levels = heads.levels
    for head in range(heads.count):
        z = logits[head * levels : (head + 1) * levels]
        top = z[0]
        for k in range(1, levels):
            top = max(top, z[k])
        total = np.float32(0.0)
        for k in range(levels):
            z[k] = exp32(z[k] - top)
            total += z[k]
        threshold = np.float32(uniform(rng)) * total
        level, running = levels - 1, np.float32(0.0)
        for k in range(levels - 1):
            running += z[k]
            if running > threshold:
                level = k
                break
        total_logp += log32(z[level] / total)
        chosen[head] = np.float32(level)
        write_action(heads, action, head, level)
        if not np.isfinite(total):
            action[0] = np.float32(np.nan)
    return total_logp


@kernel()
def softmax_columns(z: F32M, p: F32M, entropy: F32) -> None:
    """One head's logits, a row a level and a column a sample, become log probabilities.

    Their probabilities and entropies are written too. Loops go along the samples, because these vectorise.
    """
    levels, rows = z.shape
    top, total = entropy, p[0]
    for r in range(rows):
        top[r] = z[0, r]
    for k in range(1, levels):
        logits = z[k]
        for r in range(rows):
            top[r] = max(top[r], logits[r])
    for r in range(rows):
        total[r] = np.float32(0.0)
    for k in range(levels):
        logits = z[k]
        for r in range(rows):
            logits[r] -= top[r]
            total[r] += exp32(logits[r])
    for r in range(rows):
        total[r] = log32(total[r])
        top[r] = np.float32(0.0)
    for reverse in range(levels):
        k = levels - 1 - reverse  # downwards: the first row of p still holds log(total)
        logits, share = z[k], p[k]
        for r in range(rows):
            logits[r] -= total[r]
            share[r] = exp32(logits[r])
            top[r] -= share[r] * logits[r]


@kernel()
def policy_columns(z: F32M, p: F32M, weight: F32, entropy: F32, bonus: np.float32) -> None:
    """Log probabilities become -weight p + bonus p (log p + H): the loss gradient but for the chosen level's share."""
    for k in range(z.shape[0]):
        logits, share = z[k], p[k]
        for r in range(weight.size):
            logits[r] = share[r] * (bonus * (logits[r] + entropy[r]) - weight[r])
