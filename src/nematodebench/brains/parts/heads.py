"""Action heads shared by the classical learners: discrete actions and effectors are the same thing to them.

A discrete body is one head with a level for every action; a body with effectors is one head for each effector, whose
levels are spread evenly over [0, 1]. So one softmax serves every task.
"""

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.jit import F32, F32M, F64, U64, kernel
from nematodebench.kernels.math import exp32, log32
from nematodebench.kernels.rng import uniform

__all__ = [
    "best_level", "epsilon_of", "heads_of", "policy_columns", "sample_heads", "softmax_columns", "write_action",
]  # fmt: skip


def heads_of(body: Interface, levels: int) -> tuple[int, int]:
    """Number of heads and levels of each."""
    return (1, body.choices) if body.choices else (body.effectors, levels)


@kernel()
def write_action(action: F32M, head: int, heads_are_effectors: bool, level: int, levels: int) -> None:
    """Puts a chosen level into the action."""
    if heads_are_effectors:
        action[0, head] = np.float32(level) / np.float32(levels - 1)
    else:
        action[0, 0] = np.float32(level)


@kernel()
def best_level(mem: F32, values: int, levels: int) -> int:
    """The level with the highest value; the first of equals."""
    best = 0
    for k in range(1, levels):
        if mem[values + k] > mem[values + best]:
            best = k
    return best


@kernel()
def epsilon_of(hyper: F64, at: int, steps: int) -> float:
    """Share of random actions after ``steps``: from hyper[at] to hyper[at + 1] in a straight line of hyper[at + 2]."""
    if steps >= hyper[at + 2]:
        return float(hyper[at + 1])
    return float(hyper[at] + (hyper[at + 1] - hyper[at]) * (steps / hyper[at + 2]))


@kernel()
def sample_heads(
    mem: F32, logits: int, heads: int, levels: int, chosen: int, rng: U64, action: F32M, effectors: bool
) -> np.float32:
    """Draws a level for every head from its softmax, stores them at ``chosen``; returns their log probability.

    The logits are overwritten. Where they are not finite the action is NaN, which ends the run as failed instead of
    going on at random.
    """
    total_logp = np.float32(0.0)
    for head in range(heads):
        z = mem[logits + head * levels : logits + (head + 1) * levels]
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
        mem[chosen + head] = np.float32(level)
        write_action(action, head, effectors, level, levels)
        if not np.isfinite(total):
            action[0, 0] = np.float32(np.nan)
    return total_logp


@kernel()
def softmax_columns(mem: F32, z: int, p: int, entropy: int, rows: int, levels: int) -> None:
    """One head's columns of logits become log probabilities; their probabilities and entropies are written too."""
    top, total = mem[entropy : entropy + rows], mem[p : p + rows]
    for r in range(rows):
        top[r] = mem[z + r]
    for k in range(1, levels):
        column = mem[z + k * rows : z + (k + 1) * rows]
        for r in range(rows):
            top[r] = max(top[r], column[r])
    for r in range(rows):
        total[r] = np.float32(0.0)
    for k in range(levels):
        column = mem[z + k * rows : z + (k + 1) * rows]
        for r in range(rows):
            column[r] -= top[r]
            total[r] += exp32(column[r])
    for r in range(rows):
        total[r] = log32(total[r])
        top[r] = np.float32(0.0)
    for reverse in range(levels):
        k = levels - 1 - reverse  # downwards: the first column of p still holds log(total)
        column, share = mem[z + k * rows : z + (k + 1) * rows], mem[p + k * rows : p + (k + 1) * rows]
        for r in range(rows):
            column[r] -= total[r]
            share[r] = exp32(column[r])
            top[r] -= share[r] * column[r]


@kernel()
def policy_columns(mem: F32, z: int, p: int, weight: F32, entropy: F32, bonus: np.float32, levels: int) -> None:
    """Log probabilities become -weight p + bonus p (log p + H): the loss gradient but for the chosen level's share."""
    rows = weight.size
    for k in range(levels):
        column, share = mem[z + k * rows : z + (k + 1) * rows], mem[p + k * rows : p + (k + 1) * rows]
        for r in range(rows):
            column[r] = share[r] * (bonus * (column[r] + entropy[r]) - weight[r])
