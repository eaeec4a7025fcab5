"""How the connections of `spiking_rstdp` change: by dopamine, and by the slow mechanisms that keep a balance."""

import numpy as np

from nematodebench.brains.spiking.network import LEAST, Network
from nematodebench.brains.spiking.rows import learn_row
from nematodebench.kernels.jit import inlined
from nematodebench.kernels.memory import Memory, constant, floats, size

__all__ = ["Plasticity", "adapt", "change_weights"]

_0, _1 = np.float32(0.0), np.float32(1.0)
_COLD = np.float32(0.02)
_LEAST_THRESHOLD, _LARGEST_THRESHOLD = np.float32(0.1), np.float32(20.0)
_SLOW = np.float32(0.01)


class Plasticity(Memory):
    """How fast everything changes, and the usual number of spikes of every neuron in a step.

    ``step`` is how far weights to each target move by their eligibility, ``excess`` how far its inhibition does.
    """

    learning_rate = constant()
    eligibility_decay = constant()
    weight_limit = constant()
    habituation = constant()
    metaplasticity = constant()
    inhibitory_rate = constant()
    homeostasis = constant()
    target_rate = constant()
    neurons = size()
    stride = size()
    usual = floats("neurons")
    step = floats("stride", scratch=True)
    excess = floats("stride", scratch=True)


@inlined
def _unusual(plasticity: Plasticity, net: Network, i: int) -> np.float32:
    """Share of a neuron's spikes that is beyond what it usually fires, negative if it fired less."""
    usual = np.float32(plasticity.habituation) * plasticity.usual[i]
    return max(_1 - usual / max(net.count[i], _1), -_1)


@inlined
def _prepare_steps(plasticity: Plasticity, net: Network, surprise: np.float32, power: np.float32) -> None:
    """How far weights to each target move by their eligibility: dopamine, if the target has energy for it."""
    full = np.float32(net.gain * net.ticks) + _COLD
    for i in range(net.sensory, net.first_motor):
        power += (net.count[i] / full) * (net.count[i] / full)
    amount = np.float32(plasticity.learning_rate) * surprise / power
    energy, step = net.energy[net.sensory : net.neurons], plasticity.step
    for j in range(net.targets):
        step[j] = amount * energy[j]


@inlined
def change_weights(plasticity: Plasticity, net: Network, surprise: np.float32, power: np.float32) -> None:
    """Dopamine turns eligibility into weights; rows whose eligibility has faded go cold.

    ``power`` is how much the senses were active: the more they were, the less each of their connections moves.
    """
    _prepare_steps(plasticity, net, surprise, power)
    weights, lasting, fresh, gate, step = net.weights, net.lasting, net.fresh, net.gate, plasticity.step
    keep, limit = np.float32(plasticity.eligibility_decay), np.float32(plasticity.weight_limit)
    cooling = np.float32(min(max(plasticity.eligibility_decay, 0.2), 0.99))
    warm, heat, n = net.warm, net.heat, 0
    for k in range(net.warm_count):
        i = warm[k]
        low, high = (LEAST, limit) if net.sign[i] > _0 else (-limit, -LEAST)
        learn_row(weights[i], lasting[i], fresh[i], gate, step, keep, _unusual(plasticity, net, i), low, high)
        heat[i] *= cooling
        warm[n] = i
        if heat[i] > _COLD:
            n += 1
        else:
            heat[i] = _0
            for j in range(net.stride):
                lasting[i, j] = _0
    net.warm_count = n


@inlined
def _balance(plasticity: Plasticity, net: Network) -> None:
    """Inhibitory neurons that fired grip targets harder that fire too much, and the others less."""
    ticks, limit = np.float32(net.ticks), np.float32(plasticity.weight_limit)
    count, excess = net.count[net.sensory :], plasticity.excess
    speed, target = np.float32(plasticity.inhibitory_rate) / ticks, np.float32(plasticity.target_rate)
    for j in range(net.targets):
        excess[j] = speed * (count[j] / ticks - target)
    for i in range(net.neurons):
        spikes = net.count[i]
        if spikes > _0 and net.sign[i] < _0:
            row = net.weights[i]
            for j in range(net.targets):
                moved = min(max(row[j] - spikes * excess[j], -limit), -LEAST)
                row[j] = moved if row[j] != _0 else _0


@inlined
def adapt(plasticity: Plasticity, net: Network) -> None:
    """The slow mechanisms, once a step: inhibition, thresholds, and how readily a neuron's connections change."""
    ticks, target = np.float32(net.ticks), np.float32(plasticity.target_rate)
    if plasticity.inhibitory_rate > 0.0:
        _balance(plasticity, net)
    usual, spikes = plasticity.usual, net.count
    for i in range(net.neurons):
        usual[i] += _SLOW * (spikes[i] - usual[i])
    count, threshold, meta = spikes[net.sensory :], net.threshold[net.sensory : net.neurons], net.meta
    slide, speed = np.float32(plasticity.metaplasticity), np.float32(plasticity.homeostasis)
    for j in range(net.targets):
        rate = count[j] / ticks
        threshold[j] = min(max(threshold[j] + speed * (rate - target), _LEAST_THRESHOLD), _LARGEST_THRESHOLD)
        meta[j] += _SLOW * (_1 + slide * rate * rate - meta[j])
