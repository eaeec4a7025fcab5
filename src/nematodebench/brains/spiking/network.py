"""The spiking network of `spiking_rstdp`: its neurons, and how they are connected before anything is learned.

Neurons are numbered sensory, hidden, motor; the *targets* of connections are the hidden and the motor ones. Every
neuron has a row of weights to all targets, 0 where there is no connection: a spike adds its row to the targets'
currents, so a tick costs as much as there are spikes. Fresh and lasting eligibility lie in matrices of the same shape.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nematodebench.brains.parts.heads import Heads
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.jit import U64, inlined
from nematodebench.kernels.memory import Memory, constant, counter, floats, part, size, words
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.vectors import LANES, padded

__all__ = ["LEAST", "Network", "draw_network"]

LEAST = np.float32(1e-4)
"""The smallest weight of a connection, which must not become 0: that means that there is none."""

# More hidden neurons than this begin with weaker connections: they fire for anything and would drown the senses.
_ENOUGH = 8.0
_0, _1 = np.float32(0.0), np.float32(1.0)


class Network(Memory):
    """Neurons, connections and their eligibility.

    A population of ``motor`` neurons stands for every level of every head. Neurons up to ``first_motor`` have
    connections that learn. Rows have room for whole vectors: ``room`` neurons, ``stride`` targets.
    """

    weight = constant()
    density = constant()
    inhibitory = constant()
    lateral = constant()
    leak = constant()
    gain = constant()
    noise = constant()
    depression = constant()
    depression_recovery = constant()
    energy_cost = constant()
    energy_recovery = constant()
    trace_decay = constant()
    stdp_ltp = constant()
    stdp_ltd = constant()
    hidden_rate = constant()
    ticks = size()
    sensory = size()
    hidden = size()
    motor = size()
    first_motor = size()
    neurons = size()
    targets = size()
    room = size()
    stride = size()
    vectors = size()
    heads = part(Heads)

    # Of every neuron: what drives the sensory ones, the membrane, spikes of this step, what spikes use up and leave.
    drive = floats("sensory")
    sign = floats("neurons")
    potential = floats("room")
    threshold = floats("room")
    count = floats("neurons")
    trace = floats("room")
    resource = floats("room")
    energy = floats("room")
    # Of every target: what came in, how readily its connections change, and feedback of what was chosen.
    current = floats("stride")
    meta = floats("targets")
    gate = floats("stride")
    # Connections, what their spikes of this step say of them, and what is left of earlier steps.
    weights = floats("neurons", "stride")
    fresh = floats("neurons", "stride")
    lasting = floats("neurons", "stride")
    # Neurons with a trace are listed as recent, neurons with eligibility as warm; a list may be written one too far.
    recent = words("neurons + 1")
    recent_count = counter()
    warm = words("neurons + 1")
    warm_count = counter()
    heat = floats("neurons")
    # Of one tick.
    spiked = words("neurons + 1", scratch=True)
    spikes = counter(scratch=True)
    penalty = floats("stride", scratch=True)
    fired = floats("stride", scratch=True)
    blocks = words("vectors", scratch=True)

    @classmethod
    def shape(cls, sensory: int, hidden: int, motor: int, heads: Mapping[str, int]) -> Mapping[str, Any]:
        """The sizes of a network with so many sensory and hidden neurons and ``motor`` neurons in a population."""
        targets = hidden + heads["count"] * heads["levels"] * motor
        return {
            "sensory": sensory, "hidden": hidden, "motor": motor, "first_motor": sensory + hidden, "heads": heads,
            "targets": targets, "stride": padded(targets), "vectors": padded(targets) // LANES,
            "neurons": sensory + targets, "room": padded(sensory + targets),
        }  # fmt: skip

    def learned(self) -> Iterator[tuple[str, Any]]:
        """All that is kept, without the room that rows and lists have to spare."""
        true = {"room": self.neurons, "stride": self.targets}
        listed = {"recent": self.recent_count, "warm": self.warm_count}
        for name, value in super().learned():
            dims = self.fields[name].dims if name in self.fields else ()
            yield name, value[tuple(slice(listed.get(name, true.get(str(dim)))) for dim in dims)]

    def synapses(self) -> Iterator[Synapses]:
        """From every neuron to the targets it is connected with, by spikes, tick after tick."""
        degrees = np.count_nonzero(np.asarray(self.weights)[:, : self.targets], axis=1)
        spikes = np.asarray(self.count)
        yield Synapses("synapses", self.neurons, self.targets, degrees, self.neurons, spikes, True, self.ticks)


@inlined
def _draw_row(net: Network, i: int, rng: U64) -> None:
    """Weights of a sensory or hidden neuron: some hidden ones, all motor ones, from a random start."""
    row, sign, own = net.weights[i], net.sign[i], i - net.sensory
    largest = net.weight * (min(1.0, _ENOUGH / net.hidden) if own >= 0 else 1.0)
    for j in range(net.targets):
        if j >= net.hidden or (uniform(rng) < net.density and j != own):
            row[j] = sign * max(np.float32(largest * uniform(rng)), LEAST)


@inlined
def _draw_motor_row(net: Network, m: int) -> None:
    """Motor neurons excite the inhibitory ones of their own population, and these inhibit their rivals in its head."""
    row, sign = net.weights[net.first_motor + m], net.sign[net.first_motor + m]
    head = net.motor * net.heads.levels
    for k in range(net.neurons - net.first_motor):
        same = k // net.motor == m // net.motor
        rival = not same and k // head == m // head
        if (sign < _0 and rival) or (sign > _0 and same and net.sign[net.first_motor + k] < _0):
            row[net.hidden + k] = sign * np.float32(net.lateral)


@inlined
def _draw_signs(net: Network) -> None:
    """In every layer each n-th neuron is inhibitory."""
    every = int(np.floor(1.0 / net.inhibitory + 0.5)) if net.inhibitory > 0.0 else 0
    for i in range(net.neurons):
        layer = net.first_motor if i >= net.first_motor else net.sensory if i >= net.sensory else 0
        net.sign[i] = -_1 if every > 0 and (i - layer) % every == every - 1 else _1


@inlined
def draw_network(net: Network, rng: U64) -> None:
    """Signs, weights and the state of rested neurons."""
    _draw_signs(net)
    for i in range(net.first_motor):
        _draw_row(net, i, rng)
    for m in range(net.neurons - net.first_motor):
        _draw_motor_row(net, m)
    for i in range(net.neurons):
        net.resource[i] = net.energy[i] = _1
    # Neurons that do not exist have a threshold too, so that they never fire.
    for i in range(net.room):
        net.threshold[i] = _1
    for j in range(net.targets):
        net.meta[j] = _1
        net.gate[j] = np.float32(net.hidden_rate)
