"""A recurrent net of adaptive spiking neurons that knows, tick by tick, how its spikes depend on every weight.

This is the eligibility propagation of Bellec and others (2020). A weight's eligibility is what remains of the chain
from that weight through the membrane and the threshold of its own target neuron, carried forward in time; ways through
other neurons are left out. So nothing has to be stored and nothing runs backwards in time.

| what | of source i and neuron j, in every tick |
|---|---|
| membrane | v_j <- decay v_j + sum of w_ij x_i - threshold x (1 if j spiked a tick ago) |
| adaptation | a_j <- rho_j a_j + (1 if j spiked a tick ago) |
| spike | z_j = 1 if v_j > A_j = threshold + beta_j a_j, else 0 |
| pseudo-derivative | psi_j = dampening x max(0, 1 - abs(v_j - A_j)/threshold)/threshold |
| slow trace | s_ij <- psi_j x_i~ + (rho_j - psi_j beta_j) s_ij, before the others |
| fast trace | x_i~ <- decay x_i~ + x_i |
| eligibility | e_ij <- smoothing e_ij + psi_j (x_i~ - beta_j s_ij) |
| readout | y_k = bias_k + sum over j of u_jk r_j, r_j <- smoothing r_j + z_j |

Sources x are the inputs and the spikes of a tick ago. The derivative of y_k by w_ij is u_jk e_ij.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32, F32M, U64, accessor, kernel
from nematodebench.kernels.math import exp64, log64
from nematodebench.kernels.memory import Memory, constant, floats, size
from nematodebench.kernels.rng import normal
from nematodebench.kernels.vectors import matrix

__all__ = [
    "AdaptiveNet", "draw_net", "read_out", "readout_rows", "rest", "run_tick", "source_rows",
]  # fmt: skip

_THRESHOLD = np.float32(1.0)


class AdaptiveNet(Memory):
    """Weights of sources and readout in one stretch, the neurons, and the traces of every weight."""

    decay = constant()
    smoothing = constant()
    dampening = constant()
    adaptation = constant()
    adaptive = constant()
    shortest = constant()
    longest = constant()
    rate_memory = constant()
    inputs = size()
    neurons = size()
    sources = size()
    outputs = size()
    connections = size()
    parameters = size()
    weights = floats("parameters")  # from every source to every neuron, then from every neuron and 1 to every output
    potential = floats("neurons")
    fatigue = floats("neurons")
    spikes = floats("neurons")
    recent = floats("neurons")  # spikes as the readout sees them
    rates = floats("neurons")
    kept = floats("neurons")  # rho
    weakening = floats("neurons")  # beta
    fired = floats("neurons", scratch=True)  # how often in this step
    pseudo = floats("neurons", scratch=True)
    drive = floats("neurons", scratch=True)
    fast = floats("sources", scratch=True)
    slow = floats("sources", "neurons", scratch=True)
    eligibility = floats("sources", "neurons", scratch=True)
    readout = floats("outputs", scratch=True)

    @classmethod
    def shape(cls, inputs: int, neurons: int, outputs: int) -> Mapping[str, Any]:
        """The sizes of a net."""
        connections = (inputs + neurons) * neurons
        return {
            "inputs": inputs,
            "neurons": neurons,
            "sources": inputs + neurons,
            "outputs": outputs,
            "connections": connections,
            "parameters": connections + (neurons + 1) * outputs,
        }


@accessor
def source_rows(net: AdaptiveNet, flat: F32) -> F32M:
    """The part of the parameters, or of anything that there is of each, that belongs to sources: a row each."""
    return matrix(flat, 0, net.sources, net.neurons)


@accessor
def readout_rows(net: AdaptiveNet, flat: F32) -> F32M:
    """The part that belongs to the readout: a row for each neuron, and the last for the bias."""
    return matrix(flat, net.connections, net.neurons + 1, net.outputs)


@kernel()
def draw_net(net: AdaptiveNet, rng: U64, input_gain: float, recurrent_gain: float, output_gain: float) -> None:
    """Normal weights, no bias; of the neurons a share adapts, with time constants spread over a range."""
    rows = source_rows(net, net.weights)
    for i in range(net.sources):
        external = i < net.inputs
        fan, gain = (net.inputs, input_gain) if external else (net.neurons, recurrent_gain)
        for j in range(net.neurons):
            rows[i, j] = np.float32(gain / np.sqrt(float(fan)) * normal(rng))
    outer = readout_rows(net, net.weights)
    for j in range(net.neurons):
        for k in range(net.outputs):
            outer[j, k] = np.float32(output_gain / np.sqrt(float(net.neurons)) * normal(rng))
    adapting = int(net.adaptive * net.neurons)
    ratio = log64(net.longest / net.shortest)
    for j in range(adapting):
        time = net.shortest * exp64(ratio * j / max(adapting - 1, 1))
        net.kept[j], net.weakening[j] = np.float32(exp64(-1.0 / time)), np.float32(net.adaptation)


@kernel()
def rest(net: AdaptiveNet) -> None:
    """No activity and no traces: for the beginning of an episode."""
    for j in range(net.neurons):
        net.potential[j] = net.fatigue[j] = net.spikes[j] = net.recent[j] = net.pseudo[j] = np.float32(0.0)
    for i in range(net.sources):
        net.fast[i] = np.float32(0.0)
        slow, eligibility = net.slow[i], net.eligibility[i]
        for j in range(net.neurons):
            slow[j] = eligibility[j] = np.float32(0.0)


@kernel()
def _collect(net: AdaptiveNet, x: F32) -> None:
    """What every neuron gets from the inputs and from the spikes of a tick ago."""
    rows, drive = source_rows(net, net.weights), net.drive
    for j in range(net.neurons):
        drive[j] = np.float32(0.0)
    for i in range(net.sources):
        amount = x[i] if i < net.inputs else net.spikes[i - net.inputs]
        if amount != 0.0:
            row = rows[i]
            for j in range(net.neurons):
                drive[j] += amount * row[j]


@kernel()
def _age_traces(net: AdaptiveNet, x: F32) -> None:
    """The slow traces take up what neurons did a tick ago, then the fast ones what comes in now."""
    kept, weakening, pseudo, decay = net.kept, net.weakening, net.pseudo, np.float32(net.decay)
    for i in range(net.sources):
        slow, fast = net.slow[i], net.fast[i]
        for j in range(net.neurons):
            slow[j] = (kept[j] - pseudo[j] * weakening[j]) * slow[j] + pseudo[j] * fast
        net.fast[i] = decay * fast + (x[i] if i < net.inputs else net.spikes[i - net.inputs])


@kernel()
def _fire(net: AdaptiveNet) -> int:
    """Membranes, adaptation and spikes; returns how many neurons spiked."""
    decay, smoothing, dampening = np.float32(net.decay), np.float32(net.smoothing), np.float32(net.dampening)
    share, count = np.float32(net.rate_memory), 0
    for j in range(net.neurons):
        before = net.spikes[j]
        net.potential[j] = decay * net.potential[j] + net.drive[j] - _THRESHOLD * before
        net.fatigue[j] = net.kept[j] * net.fatigue[j] + before
        above = net.potential[j] - (_THRESHOLD + net.weakening[j] * net.fatigue[j])
        spike = np.float32(1.0) if above > 0.0 else np.float32(0.0)
        net.spikes[j] = spike
        net.pseudo[j] = dampening * max(np.float32(0.0), np.float32(1.0) - abs(above) / _THRESHOLD) / _THRESHOLD
        net.recent[j] = smoothing * net.recent[j] + spike
        net.fired[j] += spike
        net.rates[j] += share * (spike - net.rates[j])
        count += int(spike)
    return count


@kernel()
def run_tick(net: AdaptiveNet, x: F32) -> int:
    """One tick with these inputs; returns how many neurons spiked."""
    _collect(net, x)
    _age_traces(net, x)
    count = _fire(net)
    pseudo, weakening, smoothing = net.pseudo, net.weakening, np.float32(net.smoothing)
    for i in range(net.sources):
        slow, eligibility, fast = net.slow[i], net.eligibility[i], net.fast[i]
        for j in range(net.neurons):
            eligibility[j] = smoothing * eligibility[j] + pseudo[j] * (fast - weakening[j] * slow[j])
    return count


@kernel()
def read_out(net: AdaptiveNet) -> None:
    """The readout of the spikes up to now."""
    rows = readout_rows(net, net.weights)
    for k in range(net.outputs):
        net.readout[k] = rows[net.neurons, k]
    for j in range(net.neurons):
        if net.recent[j] != 0.0:
            row, recent = rows[j], net.recent[j]
            for k in range(net.outputs):
                net.readout[k] += recent * row[k]
