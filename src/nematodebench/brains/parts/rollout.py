"""A rollout: the steps a brain remembers until it learns from them, and their advantages."""

import numpy as np

from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, F32M, I64, inlined, kernel
from nematodebench.kernels.memory import Memory, counter, floats, size, words

__all__ = ["Rollout", "estimate_advantages", "gather_rows", "remember_outcome"]


class Rollout(Memory):
    """``capacity`` steps in the order they happened; an update reads them through ``order``, which may be shuffled."""

    capacity = size()
    inputs = size()
    heads = size()
    filled = counter()
    observations = floats("capacity", "inputs")
    chosen = floats("capacity", "heads")
    logp = floats("capacity")
    values = floats("capacity")
    rewards = floats("capacity")
    done = floats("capacity")
    advantages = floats("capacity")
    targets = floats("capacity")
    order = words("capacity", scratch=True)


@inlined
def remember_outcome(rollout: Rollout, outcome: Feedback) -> bool:
    """Stores what came of a step and returns whether the episode ended."""
    at = rollout.filled
    ended = outcome.terminated != 0.0 or outcome.truncated != 0.0
    rollout.rewards[at] = np.float32(outcome.reward)
    rollout.done[at] = np.float32(1.0) if ended else np.float32(0.0)
    rollout.filled = at + 1
    return ended


@kernel()
def estimate_advantages(rollout: Rollout, gamma: float, trace: float, following: np.float32) -> None:
    """Generalised advantages of the stored steps, their value targets, and the advantages standardised.

    ``following`` is the value after the last step (it does not count if an episode ended there). With trace 1 the
    targets are the plain discounted returns.
    """
    n = rollout.filled
    discount, decay = np.float32(gamma), np.float32(gamma * trace)
    reward, done, value = rollout.rewards[:n], rollout.done[:n], rollout.values[:n]
    advantage, target = rollout.advantages[:n], rollout.targets[:n]
    running = np.float32(0.0)
    mean, square = 0.0, 0.0
    for k in range(n):
        t = n - 1 - k
        alive = np.float32(1.0) - done[t]
        running = reward[t] + discount * following * alive - value[t] + decay * alive * running
        advantage[t], target[t], following = running, running + value[t], value[t]
        mean += np.float64(running)
        square += np.float64(running) * running
    mean /= n
    centre = np.float32(mean)
    scale = np.float32(1.0 / (np.sqrt(max(0.0, square / n - mean * mean)) + 1e-8))
    for t in range(n):
        advantage[t] = (advantage[t] - centre) * scale


@kernel()
def gather_rows(source: F32M, order: I64, x: F32M) -> None:
    """Copies these rows to the first rows of ``x``."""
    for r in range(order.size):
        row: F32 = source[order[r]]
        for i in range(row.size):
            x[r, i] = row[i]
