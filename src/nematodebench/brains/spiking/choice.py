"""How `spiking_rstdp` decides: the motor populations vote, and the working memory holds what was done."""

import numpy as np

from nematodebench.brains.parts.heads import write_action
from nematodebench.brains.spiking.network import Network
from nematodebench.kernels.jit import F32, U64, inlined
from nematodebench.kernels.math import exp32
from nematodebench.kernels.memory import Memory, constant, floats, size
from nematodebench.kernels.rng import uniform

__all__ = ["Choice", "choose", "forget_actions", "recall_actions", "remember_action"]

_0, _1, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)


class Choice(Memory):
    """The vote for the outputs, which are the levels of all heads, and what was done.

    ``picked`` is 1 for the outputs chosen last; a row of ``done`` holds what was picked in one of the last steps.
    """

    temperature = constant()
    slots = size()
    outputs = size()
    votes = floats("outputs", scratch=True)
    picked = floats("outputs")
    done = floats("slots", "outputs")


@inlined
def _count_votes(choice: Choice, net: Network) -> None:
    """Spikes of the excitatory neurons of every motor population."""
    for n in range(choice.outputs):
        total, first = _0, net.first_motor + n * net.motor
        for m in range(first, first + net.motor):
            if net.sign[m] > _0:
                total += net.count[m]
        choice.votes[n] = total


@inlined
def _draw_level(votes: F32, temperature: np.float32, rng: U64) -> tuple[int, np.float32]:
    """Draws a level, the likelier the more its population spiked; the votes become weights, returned with their sum."""
    top, total = votes[0], _0
    for n in range(1, votes.size):
        top = max(top, votes[n])
    for n in range(votes.size):
        votes[n] = exp32((votes[n] - top) / temperature)
        total += votes[n]
    left, chosen = np.float32(uniform(rng)) * total, votes.size - 1
    for n in range(votes.size - 1, -1, -1):
        left -= votes[n]
        if left < _0:
            chosen = n
            break
    return chosen, total


@inlined
def _feed_back(net: Network, output: int, value: np.float32) -> None:
    """Gates the eligibility of the connections to a motor population."""
    first = net.hidden + output * net.motor
    for j in range(first, first + net.motor):
        net.gate[j] = value


@inlined
def choose(choice: Choice, net: Network, rng: U64, action: F32) -> None:
    """Draws a level for every head; feedback of what was chosen, less its probability, gates eligibility."""
    levels, temperature = net.heads.levels, np.float32(choice.temperature)
    _count_votes(choice, net)
    for head in range(net.heads.count):
        first = head * levels
        votes = choice.votes[first : first + levels]
        chosen, total = _draw_level(votes, temperature, rng)
        for n in range(levels):
            picked = _1 if n == chosen else _0
            choice.picked[first + n] = picked
            _feed_back(net, first + n, picked - votes[n] / total)
        write_action(net.heads, action, head, chosen)


@inlined
def remember_action(choice: Choice, surprise: np.float32) -> None:
    """Working memory: what was done moves into the first slot, strong if it went better than expected."""
    if choice.slots == 0:
        return
    done = choice.done
    for slot in range(choice.slots - 1, 0, -1):
        for n in range(choice.outputs):
            done[slot, n] = done[slot - 1, n]
    strength = _1 if surprise > _0 else _HALF
    for n in range(choice.outputs):
        done[0, n] = strength * choice.picked[n]


@inlined
def recall_actions(choice: Choice, drive: F32) -> None:
    """The working memory drives sensory neurons, one for each of its places."""
    for slot in range(choice.slots):
        for n in range(choice.outputs):
            drive[slot * choice.outputs + n] = choice.done[slot, n]


@inlined
def forget_actions(choice: Choice) -> None:
    """Nothing was done yet."""
    for n in range(choice.outputs):
        choice.picked[n] = _0
        for slot in range(choice.slots):
            choice.done[slot, n] = _0
