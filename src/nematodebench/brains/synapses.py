"""What a brain computes for an action, counted as NeuroBench counts it: connections, and the signals that use them.

A brain that is made of known parts says nothing: its networks, readouts and links are found in its memory. A memory, or
a part of one, that has connections of its own tells them in a method ``synapses``; a brain whose memory holds more than
an action goes through (a second network to learn from) overrides ``CompiledBrain.synapses``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.kernels.memory import Memory
from nematodebench.kernels.mlp import Network

__all__ = ["Synapses", "dense_layers", "synapses_of"]


@dataclass(frozen=True)
class Synapses:
    """Connections from one layer of units to another.

    Attributes:
        name: What they are called.
        sources: Units that signals come from.
        targets: Units that they lead to.
        degrees: Connections of every source, one number for each or one for all.
        biases: Further parameters of the targets.
        signals: What the sources sent in the last step: values (one row for each tick, if there are more than one), or
            how often each spiked; None for the observation.
        spiking: Whether signals are spikes, which are added up; others are multiplied and added up.
        ticks: How often signals are sent in a step.
        counted: Whether the signals are activations; not if they only code the observation, or are counted elsewhere.
        operations: Multiply-accumulates of a step where connections do not tell them, as in a simulated circuit.
    """

    name: str
    sources: int
    targets: int
    degrees: NDArray[Any] | int
    biases: int = 0
    signals: NDArray[Any] | None = None
    spiking: bool = False
    ticks: int = 1
    counted: bool = True
    operations: int | None = None

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        per_source = np.broadcast_to(np.asarray(self.degrees), (self.sources,))
        return int(per_source.sum()) + self.biases

    @property
    def dense(self) -> int:
        """Operations of a step if every source sent a signal to every target in every tick."""
        return self.sources * self.targets * self.ticks if self.operations is None else self.operations

    def effective(self, observation: NDArray[Any]) -> float:
        """Operations of the last step: one for each connection and each signal on it that was not 0."""
        if self.operations is not None:
            return float(self.operations)
        return float(np.sum(self._sent(observation) * np.asarray(self.degrees)))

    def active(self) -> tuple[float, int]:
        """How many activations of the last step were not 0, and how many there were; the observation is none."""
        if self.signals is None or not self.counted:
            return 0.0, 0
        return float(np.sum(self._sent(self.signals))), self.sources * self.ticks

    def _sent(self, observation: NDArray[Any]) -> NDArray[Any]:
        signals = np.asarray(observation if self.signals is None else self.signals)
        if self.spiking:
            return signals
        ticks = np.atleast_2d((signals != 0).astype(np.float64))
        sent: NDArray[Any] = ticks.sum(axis=0)
        return sent


def synapses_of(memory: Memory) -> Iterator[Synapses]:
    """The connections of a memory and of its parts."""
    own = getattr(memory, "synapses", None)
    if own is not None:
        yield from own()
    elif isinstance(memory, Network):
        yield from dense_layers(memory)
    else:
        for name, field in type(memory).fields.items():
            if field.part is not None:
                yield from synapses_of(getattr(memory, name))


def dense_layers(net: Network, shown: NDArray[Any] | None = None) -> Iterator[Synapses]:
    """Every layer's units with all their inputs; the first layer sees the observation, or what it is shown instead."""
    below, signals = int(net.inputs[0]) if shown is None else shown.size, shown
    for layer in range(net.layers):
        true, width = int(net.outputs[layer]), int(net.widths[layer])
        yield Synapses(f"layer_{layer}", below, true, true, true, signals)
        first = int(net.first_unit[layer])
        below, signals = true, np.asarray(net.units)[first : first + width][:true]
