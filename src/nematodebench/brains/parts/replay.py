"""A replay memory: the last transitions, overwritten in a ring."""

import numpy as np

from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, kernel
from nematodebench.kernels.memory import Memory, counter, floats, size

__all__ = ["Replay", "remember_observation", "remember_transition", "transitions"]


class Replay(Memory):
    """``capacity`` transitions; ``steps`` counts all that were ever stored."""

    capacity = size()
    inputs = size()
    heads = size()
    steps = counter()
    observations = floats("capacity", "inputs")
    following = floats("capacity", "inputs")
    chosen = floats("capacity", "heads")
    rewards = floats("capacity")
    alive = floats("capacity")


@kernel()
def transitions(replay: Replay) -> int:
    """How many transitions there are to draw from."""
    return min(replay.steps, replay.capacity)


@kernel()
def remember_observation(replay: Replay, obs: F32) -> int:
    """Stores what an action is based on; returns the transition's place."""
    at = replay.steps % replay.capacity
    for i in range(replay.inputs):
        replay.observations[at, i] = obs[i]
    return at


@kernel()
def remember_transition(replay: Replay, obs: F32, outcome: Feedback) -> None:
    """Stores what came of it. Only termination ends the future, truncation does not."""
    at = replay.steps % replay.capacity
    for i in range(replay.inputs):
        replay.following[at, i] = obs[i]
    replay.rewards[at] = np.float32(outcome.reward)
    replay.alive[at] = np.float32(1.0) if outcome.terminated == 0.0 else np.float32(0.0)
    replay.steps += 1
