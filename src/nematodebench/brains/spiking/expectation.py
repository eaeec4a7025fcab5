"""What `spiking_rstdp` expects, and the dopamine that tells how much better things went."""

import numpy as np

from nematodebench.brains.spiking.network import LEAST
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, inlined
from nematodebench.kernels.memory import Memory, constant, floats, real, size

__all__ = ["Expectation", "dopamine", "expect_nothing"]

_1 = np.float32(1.0)
_HABITUATION = np.float32(0.01)


class Expectation(Memory):
    """Expected reward, in general (``bias``) and by sensory cell (``value``), and how new each cell's answer still is.

    ``following`` holds the answers of the cells to the next observation, ``power`` how much activity there was.
    """

    gamma = constant()
    expectation_rate = constant()
    value_rate = constant()
    curiosity = constant()
    sensed = size()
    bias = real()
    value = floats("sensed")
    novelty = floats("sensed")
    following = floats("sensed", scratch=True)
    power = real(scratch=True)


@inlined
def expect_nothing(expectation: Expectation) -> None:
    """Everything is new."""
    for c in range(expectation.sensed):
        expectation.novelty[c] = _1


@inlined
def _expected(expectation: Expectation, rates: F32) -> np.float32:
    """What is to be expected, by the sensory cells' rates."""
    total, value = expectation.bias, expectation.value
    for c in range(expectation.sensed):
        total += value[c] * rates[c]
    return total


@inlined
def _bonus(expectation: Expectation) -> float:
    """Bonus for cells that seldom answered; they habituate."""
    seen, new = 1e-6, 0.0
    for c in range(expectation.sensed):
        rate, novelty = expectation.following[c], expectation.novelty[c]
        seen += np.float64(rate)
        new += np.float64(rate * novelty)
        expectation.novelty[c] = max(novelty * (_1 - _HABITUATION * rate), LEAST)
    return expectation.curiosity * new / seen


@inlined
def dopamine(expectation: Expectation, rates: F32, outcome: Feedback) -> np.float32:
    """Reward minus what was expected at ``rates``, within [-1, 1]; the expectation learns from it."""
    reward = outcome.reward
    if expectation.curiosity > 0.0:
        reward += _bonus(expectation)
    ahead = 0.0
    if outcome.terminated == 0.0:
        ahead = expectation.gamma * np.float64(_expected(expectation, expectation.following))
    surprise = np.float32(min(max(reward + ahead - np.float64(_expected(expectation, rates)), -1.0), 1.0))
    power = _1
    for c in range(expectation.sensed):
        power += rates[c] * rates[c]
    expectation.power = power
    step = np.float32(expectation.value_rate) * surprise / power
    for c in range(expectation.sensed):
        expectation.value[c] += step * rates[c]
    expectation.bias += np.float32(expectation.expectation_rate) * surprise
    return surprise
