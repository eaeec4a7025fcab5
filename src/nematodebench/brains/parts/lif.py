"""A layer of leaky integrate-and-fire neurons: the smallest piece a spiking brain is made of."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import Memory, constant, floats, size
from nematodebench.kernels.rng import normal

__all__ = ["LifLayer", "draw_weights", "rest_layer", "run_layer"]


class LifLayer(Memory):
    """Weights from every input to every neuron, membranes, and which neurons spiked in the last tick (1 or 0)."""

    leak = constant()
    threshold = constant()
    inputs = size()
    neurons = size()
    weights = floats("inputs", "neurons")
    potential = floats("neurons")
    spikes = floats("neurons")

    @classmethod
    def shape(cls, inputs: int, neurons: int, leak: float = 0.1, threshold: float = 1.0) -> Mapping[str, Any]:
        """A layer; ``leak`` is the share of the potential that is lost in a tick."""
        return {"inputs": inputs, "neurons": neurons, "leak": leak, "threshold": threshold}


@kernel()
def draw_weights(layer: LifLayer, rng: U64, gain: float) -> None:
    """Normal weights; with ``gain`` 1 inputs of size 1 drive a neuron by about 1."""
    scale = gain / np.sqrt(float(layer.inputs))
    for i in range(layer.inputs):
        for j in range(layer.neurons):
            layer.weights[i, j] = np.float32(scale * normal(rng))


@kernel()
def rest_layer(layer: LifLayer) -> None:
    """Membranes at rest, no spikes: for the beginning of an episode."""
    for j in range(layer.neurons):
        layer.potential[j] = layer.spikes[j] = np.float32(0.0)


@kernel()
def run_layer(layer: LifLayer, drive: F32) -> int:
    """One tick: membranes leak and take up ``drive`` (values, or the spikes of another layer); returns the spikes."""
    kept, threshold = np.float32(1.0 - layer.leak), np.float32(layer.threshold)
    for j in range(layer.neurons):
        layer.potential[j] *= kept
    for i in range(layer.inputs):
        if drive[i] != np.float32(0.0):  # spikes are mostly absent
            row = layer.weights[i]
            for j in range(layer.neurons):
                layer.potential[j] += drive[i] * row[j]
    count = 0
    for j in range(layer.neurons):
        fired = layer.potential[j] >= threshold
        layer.spikes[j] = np.float32(1.0) if fired else np.float32(0.0)
        if fired:
            layer.potential[j] = np.float32(0.0)
            count += 1
    return count
