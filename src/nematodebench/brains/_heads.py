"""Action heads shared by the classical learners: discrete actions and effectors are the same thing to them.

A discrete body is one head with a level for every action; a body with effectors is one head for each effector, whose
levels are spread evenly over [0, 1]. So one softmax serves every task.
"""

import numpy as np

from nematodebench.brains.base import Interface
from nematodebench.kernels.abi import F32, F32M, U64, kernel
from nematodebench.kernels.mathx import exp32, log32
from nematodebench.kernels.rng import uniform

__all__ = ["heads_of", "sample_heads", "write_action"]


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
def sample_heads(
    mem: F32, logits: int, heads: int, levels: int, chosen: int, rng: U64, action: F32M, effectors: bool
) -> np.float32:
    """Draws a level for every head from its softmax, stores them at ``chosen``; returns their log probability.

    Logits that are not finite give an action of NaN, which ends the run as failed instead of going on at random.
    """
    total_logp = np.float32(0.0)
    for head in range(heads):
        z = mem[logits + head * levels : logits + (head + 1) * levels]
        top = z[0]
        for k in range(1, levels):
            top = max(top, z[k])
        total = np.float32(0.0)
        for k in range(levels):
            total += exp32(z[k] - top)
        threshold = np.float32(uniform(rng)) * total
        level, running = levels - 1, np.float32(0.0)
        for k in range(levels - 1):
            running += exp32(z[k] - top)
            if running > threshold:
                level = k
                break
        total_logp += z[level] - top - log32(total)
        mem[chosen + head] = np.float32(level)
        write_action(action, head, effectors, level, levels)
    if not np.isfinite(total_logp):
        action[0, 0] = np.float32(np.nan)
    return total_logp
