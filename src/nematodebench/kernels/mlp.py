"""A network of dense layers with tanh between them: forward, backward, and its optimiser.

All weights and biases lie in one flat array, layer behind layer, because the optimiser takes them as one. Layers are
padded to whole vector registers: a padded unit has zero weights, zero gradients, and never changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nematodebench.kernels.adam import Adam, adam_step
from nematodebench.kernels.jit import F32, F32M, U64, accessor, inlined, inlined_natively, kernel
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.memory import Memory, floats, part, size, words
from nematodebench.kernels.rng import normal
from nematodebench.kernels.vectors import (
    add_product,
    linear,
    linear_row,
    matrix,
    padded,
    product,
    product_transposed,
    transpose,
)

__all__ = [
    "Network", "backward", "backward_layer", "copy_weights", "forward", "forward_layer", "forward_row", "init_weights",
    "input_deltas", "layer_deltas", "layer_units", "output_deltas", "outputs_of", "rescale_output", "scale_outputs",
    "silence_inputs", "update_weights",
]  # fmt: skip


class Network(Memory):
    """A network and its optimiser; :meth:`shape` gives the sizes."""

    layers = size()
    batch = size()
    count = size()
    room = size()
    widest = size()
    inputs = words("layers", scratch=True)
    widths = words("layers", scratch=True)
    outputs = words("layers", scratch=True)
    first_weight = words("layers", scratch=True)
    first_transposed = words("layers", scratch=True)
    first_unit = words("layers", scratch=True)
    parameters = floats("count")
    gradients = floats("count", scratch=True)
    adam = part(Adam)
    transposed = floats("count", scratch=True)
    units = floats("room", scratch=True)
    deltas = floats("room", scratch=True)
    zeros = floats("widest", scratch=True)
    ones = floats("batch", scratch=True)

    @classmethod
    def shape(cls, inputs: int, hidden: Sequence[int], outputs: int, batch: int) -> Mapping[str, Any]:
        """What a network from ``inputs`` over ``hidden`` to ``outputs`` units needs for ``batch`` rows at once."""
        true = [*hidden, outputs]
        widths = [padded(width) for width in true]
        below = [inputs, *widths[:-1]]
        weights = [n_in * n_out for n_in, n_out in zip(below, widths, strict=True)]
        units = np.cumsum([0, *(batch * width for width in widths)])
        count = padded(sum(weights) + sum(widths))
        return {
            "layers": len(true), "batch": batch, "count": count, "room": int(units[-1]), "widest": max(*widths, batch),
            "inputs": below, "widths": widths, "outputs": true,
            "first_weight": np.cumsum([0, *(w + n for w, n in zip(weights, widths, strict=True))])[:-1],
            "first_transposed": np.cumsum([0, *weights])[:-1], "first_unit": units[:-1], "adam": {"count": count},
        }  # fmt: skip

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Weights and biases of every layer, and what the optimiser keeps of them, without the padding."""
        for name, flat in (("", self.parameters), ("momentum.", self.adam.momentum), ("variance.", self.adam.variance)):
            below = int(self.inputs[0])
            for layer in range(self.layers):
                n_in, width, true = int(self.inputs[layer]), int(self.widths[layer]), int(self.outputs[layer])
                start = int(self.first_weight[layer])
                weights = np.asarray(flat)[start : start + n_in * width].reshape(n_in, width)
                yield f"{name}weights_{layer}", weights[:below, :true]
                yield f"{name}bias_{layer}", np.asarray(flat)[start + n_in * width :][:true]
                below = true
        yield "steps", np.asarray(self.adam.steps)


@accessor
def _weights(net: Network, flat: F32, layer: int) -> F32M:
    """A layer's weights in the parameters, or their gradients in the gradients."""
    return matrix(flat, net.first_weight[layer], net.inputs[layer], net.widths[layer])


@accessor
def _bias(net: Network, flat: F32, layer: int) -> F32:
    """A layer's biases, behind its weights."""
    start = net.first_weight[layer] + net.inputs[layer] * net.widths[layer]
    return flat[start : start + net.widths[layer]]


@accessor
def _rows(net: Network, flat: F32, layer: int, rows: int) -> F32M:
    """The first rows of a layer's units or deltas."""
    return matrix(flat, net.first_unit[layer], rows, net.widths[layer])


@accessor
def _flat_rows(net: Network, flat: F32, layer: int, rows: int) -> F32:
    """The same rows without their shape, for loops over all of them."""
    first = net.first_unit[layer]
    return flat[first : first + rows * net.widths[layer]]


@accessor
def _transposed(net: Network, layer: int) -> F32M:
    return matrix(net.transposed, net.first_transposed[layer], net.widths[layer], net.inputs[layer])


@kernel(allocates=True)
def _draw_orthogonal(weights: F32M, rng: U64, n_in: int, n_out: int, gain: float) -> None:
    """Orthonormal rows or columns (whichever are fewer) times gain, by Gram-Schmidt in float64."""
    wide = n_in < n_out
    vectors, length = (n_in, n_out) if wide else (n_out, n_in)
    q = np.empty((vectors, length))
    for v in range(vectors):
        for i in range(length):
            q[v, i] = normal(rng)
        for _ in range(2):  # twice is enough: the second pass removes the rounding of the first
            for u in range(v):
                dot = 0.0
                for i in range(length):
                    dot += q[u, i] * q[v, i]
                for i in range(length):
                    q[v, i] -= dot * q[u, i]
        norm = 0.0
        for i in range(length):
            norm += q[v, i] * q[v, i]
        norm = np.sqrt(norm)
        for i in range(length):
            q[v, i] /= norm
    for i in range(n_in):
        for o in range(n_out):
            weights[i, o] = np.float32(gain * (q[i, o] if wide else q[o, i]))


@kernel()
def init_weights(net: Network, rng: U64, gain: float, head_gain: float) -> None:
    """Orthogonal weights, zero biases; ``head_gain`` scales the last layer."""
    inputs = net.inputs[0]
    for layer in range(net.layers):
        scale = head_gain if layer == net.layers - 1 else gain
        # The rows of padded inputs stay zero: only the true outputs of the layer below carry signals.
        _draw_orthogonal(_weights(net, net.parameters, layer), rng, inputs, net.outputs[layer], scale)
        inputs = net.outputs[layer]
    for n in range(net.batch):
        net.ones[n] = np.float32(1.0)
    _renew_transposed(net)


@kernel()
def _renew_transposed(net: Network) -> None:
    """Renews the transposed weights that :func:`backward` reads; needed after every change of parameters."""
    for layer in range(1, net.layers):
        transpose(_weights(net, net.parameters, layer), _transposed(net, layer))


@kernel()
def scale_outputs(net: Network, count: int, factor: float) -> None:
    """Multiplies the weights of the first ``count`` outputs: with a small factor they start nearly equal."""
    weights = _weights(net, net.parameters, net.layers - 1)
    for i in range(weights.shape[0]):
        for o in range(count):
            weights[i, o] *= np.float32(factor)
    _renew_transposed(net)


@kernel()
def silence_inputs(net: Network, first: int, last: int) -> None:
    """Takes the weights of the inputs from ``first`` to before ``last``: what is padding there stays padding."""
    weights = _weights(net, net.parameters, 0)
    for i in range(first, last):
        for o in range(weights.shape[1]):
            weights[i, o] = np.float32(0.0)
    _renew_transposed(net)


@kernel()
def rescale_output(net: Network, output: int, factor: float, shift: float) -> None:
    """Changes the weights of one output so that it gives ``factor`` x what it gave + ``shift``."""
    weights, bias = _weights(net, net.parameters, net.layers - 1), _bias(net, net.parameters, net.layers - 1)
    for i in range(weights.shape[0]):
        weights[i, output] *= np.float32(factor)
    bias[output] = np.float32(factor * np.float64(bias[output]) + shift)
    _renew_transposed(net)


@kernel()
def copy_weights(source: Network, target: Network) -> None:
    """Gives a network the parameters of an equally built one."""
    for n in range(source.count):
        target.parameters[n] = source.parameters[n]


@accessor
def output_deltas(net: Network, rows: int) -> F32M:
    """Where the gradient of the loss by the outputs is put before :func:`backward`."""
    return _rows(net, net.deltas, net.layers - 1, rows)


@accessor
def outputs_of(net: Network, rows: int) -> F32M:
    """What the last :func:`forward` computed, in rows of padded width."""
    return _rows(net, net.units, net.layers - 1, rows)


@accessor
def layer_units(net: Network, layer: int, rows: int) -> F32M:
    """The first rows of a layer's units, for a brain that changes them on their way."""
    return _rows(net, net.units, layer, rows)


@accessor
def layer_deltas(net: Network, layer: int, rows: int) -> F32M:
    """The gradient of the loss by a layer's units, before its tanh once :func:`backward` has passed it."""
    return _rows(net, net.deltas, layer, rows)


@inlined_natively
def forward_layer(net: Network, layer: int, source: F32M) -> None:
    """Computes one layer's units from the rows of ``source``."""
    rows = source.shape[0]
    units = _rows(net, net.units, layer, rows)
    linear(source, _weights(net, net.parameters, layer), _bias(net, net.parameters, layer), units)
    if layer < net.layers - 1:
        flat = _flat_rows(net, net.units, layer, rows)
        for n in range(flat.size):
            flat[n] = tanh32(flat[n])


@kernel()
def forward(net: Network, x: F32M) -> None:
    """Computes the outputs for the rows of ``x``."""
    source = x
    for layer in range(net.layers):
        forward_layer(net, layer, source)
        source = _rows(net, net.units, layer, x.shape[0])


@inlined
def forward_row(net: Network, x: F32) -> None:
    """Computes the outputs for a single observation: the bits of :func:`forward`, faster on the path of every step."""
    source = x
    for layer in range(net.layers):
        units = _flat_rows(net, net.units, layer, 1)
        linear_row(source, _weights(net, net.parameters, layer), _bias(net, net.parameters, layer), units)
        if layer < net.layers - 1:
            for n in range(units.size):
                units[n] = tanh32(units[n])
        source = units


@inlined_natively
def backward_layer(net: Network, layer: int, source: F32M, accumulate: bool = False) -> None:
    """A layer's gradients from its deltas and its inputs, and what it passes on to the deltas of the layer below."""
    rows = source.shape[0]
    delta = _rows(net, net.deltas, layer, rows)
    _add_gradients(net, layer, source, delta, accumulate)
    if layer > 0:
        product(delta, _transposed(net, layer), net.zeros, _rows(net, net.deltas, layer - 1, rows))


@kernel()
def backward(net: Network, x: F32M, accumulate: bool = False) -> None:
    """Gradients of all parameters from :func:`output_deltas`, after :func:`forward` on the same rows.

    ``accumulate`` adds them to the gradients that are there: how a sum over more rows than the buffers hold is made.
    """
    rows = x.shape[0]
    for reverse in range(net.layers):
        layer = net.layers - 1 - reverse
        backward_layer(net, layer, _rows(net, net.units, layer - 1, rows) if layer > 0 else x, accumulate)
        if layer > 0:
            slope, units = _flat_rows(net, net.deltas, layer - 1, rows), _flat_rows(net, net.units, layer - 1, rows)
            for n in range(slope.size):
                slope[n] *= np.float32(1.0) - units[n] * units[n]


@kernel()
def input_deltas(net: Network, zeros: F32, deltas: F32M) -> None:
    """Gradient of the loss by the rows that :func:`backward` was given, for whatever computed them.

    Their width is a multiple of the vector length, and ``zeros`` are as many.
    """
    transpose(_weights(net, net.parameters, 0), _transposed(net, 0))
    product(_rows(net, net.deltas, 0, deltas.shape[0]), _transposed(net, 0), zeros, deltas)


@inlined_natively
def _add_gradients(net: Network, layer: int, source: F32M, delta: F32M, accumulate: bool) -> None:
    """A layer's gradients from its inputs and the deltas of its outputs."""
    weights, bias = _weights(net, net.gradients, layer), matrix(_bias(net, net.gradients, layer), 0, 1, delta.shape[1])
    ones = matrix(net.ones, 0, delta.shape[0], 1)
    if accumulate:
        add_product(source, delta, weights)
        add_product(ones, delta, bias)
    else:
        product_transposed(source, delta, net.zeros, weights)
        product_transposed(ones, delta, net.zeros, bias)


@kernel()
def update_weights(net: Network, rate: float, max_norm: float) -> None:
    """One step of the optimiser along the gradients."""
    adam_step(net.adam, net.parameters, net.gradients, rate, max_norm)
    _renew_transposed(net)
