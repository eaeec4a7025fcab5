"""A multilayer perceptron with tanh units on flat memory: layout, initial weights, forward, backward, Adam.

The layout is computed once in Python; its integers travel in a brain's ``ints``. Parameters are contiguous
(weights of a layer as [input, output], then its biases), so that clipping and Adam are single loops. Layer widths are
padded to whole vectors; padded units have zero weights and stay at zero.

| word (relative to ``base``) | meaning |
|---|---|
| 0 | number of layers |
| 1 | batch: rows the buffers hold |
| 2, 3 | parameters: offset, count |
| 4, 5, 6 | gradients, Adam's first and second moments: offsets |
| 7, 8 | a block of zeros, a block of ones |
| 9 | Adam's step counter |
| 10 + 8 l | layer l: inputs, outputs (padded), true outputs, weights, biases, transposed weights, activations, deltas |
"""

from dataclasses import dataclass

import numpy as np

from nematodebench.kernels.jit import F32, I64, U64, kernel
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.rng import normal
from nematodebench.kernels.vectors import matmul, padded, sum_squares, transpose

__all__ = [
    "MlpLayout", "activations", "adam_step", "backward", "copy_weights", "deltas", "forward", "init_weights",
    "output_width", "refresh", "scale_outputs",
]  # fmt: skip

_HEADER = 10
_PER_LAYER = 8


@dataclass(frozen=True)
class MlpLayout:
    """Where everything of one network lies; ``ints`` goes to the compiled side, ``end`` is the first free float."""

    ints: tuple[int, ...]
    end: int

    @classmethod
    def build(cls, inputs: int, hidden: tuple[int, ...], outputs: int, batch: int, start: int) -> "MlpLayout":
        """Lays out a network from float ``start`` on."""
        true_widths = [*hidden, outputs]
        widths = [padded(width) for width in true_widths]
        sizes = list(zip([inputs, *widths[:-1]], widths, strict=True))
        count = padded(sum(n_in * n_out + n_out for n_in, n_out in sizes))
        top = max(*widths, batch)
        params, grads, first, second, zeros = (start + n * count for n in range(5))
        ones = zeros + padded(top)
        cursor, weight = ones + padded(top), params
        ints = [len(sizes), batch, params, count, grads, first, second, zeros, ones, 0]
        for (n_in, n_out), true_out in zip(sizes, true_widths, strict=True):
            transposed = cursor
            act = transposed + padded(n_in * n_out)
            delta = act + batch * n_out
            cursor = delta + batch * n_out
            ints += [n_in, n_out, true_out, weight, weight + n_in * n_out, transposed, act, delta]
            weight += n_in * n_out + n_out
        return cls(tuple(ints), cursor)


@kernel(allocates=True)
def _orthogonal(mem: F32, rng: U64, place: int, n_in: int, n_out: int, true_out: int, gain: float) -> None:
    """Orthonormal rows or columns (whichever are fewer) times gain, by Gram-Schmidt in float64."""
    wide = n_in < true_out
    vectors, length = (n_in, true_out) if wide else (true_out, n_in)
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
        for o in range(true_out):
            mem[place + i * n_out + o] = np.float32(gain * (q[i, o] if wide else q[o, i]))


@kernel()
def init_weights(mem: F32, ints: I64, base: int, rng: U64, gain: float, head_gain: float) -> None:
    """Orthogonal weights, zero biases; ``head_gain`` scales the last layer."""
    layers = ints[base]
    inputs_true = ints[base + _HEADER]
    for layer in range(layers):
        at = base + _HEADER + _PER_LAYER * layer
        scale = head_gain if layer == layers - 1 else gain
        # The rows of padded inputs stay zero: only the true outputs of the layer below carry signals.
        _orthogonal(mem, rng, ints[at + 3], inputs_true, ints[at + 1], ints[at + 2], scale)
        inputs_true = ints[at + 2]
    ones = ints[base + 8]
    for n in range(ints[base + 1]):
        mem[ones + n] = np.float32(1.0)
    refresh(mem, ints, base)


@kernel()
def refresh(mem: F32, ints: I64, base: int) -> None:
    """Renews the transposed weights that :func:`backward` reads; call after every change of parameters."""
    for layer in range(1, ints[base]):
        at = base + _HEADER + _PER_LAYER * layer
        transpose(mem, ints[at + 3], ints[at + 5], ints[at], ints[at + 1])


@kernel()
def scale_outputs(mem: F32, ints: I64, base: int, count: int, factor: float) -> None:
    """Multiplies the weights of the first ``count`` outputs: with a small factor they start nearly equal."""
    last = base + _HEADER + _PER_LAYER * (ints[base] - 1)
    width, weights = ints[last + 1], ints[last + 3]
    for i in range(ints[last]):
        for o in range(count):
            mem[weights + i * width + o] *= np.float32(factor)
    refresh(mem, ints, base)


@kernel()
def copy_weights(mem: F32, ints: I64, source: int, target: int) -> None:
    """Gives the network at ``target`` the parameters of the equally built one at ``source``."""
    first, to, count = ints[source + 2], ints[target + 2], ints[source + 3]
    for n in range(count):
        mem[to + n] = mem[first + n]


@kernel()
def output_width(ints: I64, base: int) -> int:
    """Padded number of outputs: the length of a row of :func:`activations` and :func:`deltas`."""
    return int(ints[base + _HEADER + _PER_LAYER * (ints[base] - 1) + 1])


@kernel()
def activations(ints: I64, base: int) -> int:
    """Offset of the last layer's outputs, rows of its padded width."""
    return int(ints[base + _HEADER + _PER_LAYER * (ints[base] - 1) + 6])


@kernel()
def deltas(ints: I64, base: int) -> int:
    """Offset where the loss gradient by the outputs is put before :func:`backward`."""
    return int(ints[base + _HEADER + _PER_LAYER * (ints[base] - 1) + 7])


@kernel()
def forward(mem: F32, ints: I64, base: int, x: int, rows: int) -> int:
    """Outputs for ``rows`` inputs at offset ``x``; returns their offset."""
    layers = ints[base]
    source, width = x, ints[base + _HEADER]
    for layer in range(layers):
        at = base + _HEADER + _PER_LAYER * layer
        n_out, act = ints[at + 1], ints[at + 6]
        matmul(mem, source, width, 1, ints[at + 3], n_out, ints[at + 4], 0, act, n_out, rows, n_out, ints[at])
        if layer < layers - 1:
            units = mem[act : act + rows * n_out]
            for n in range(units.size):
                units[n] = tanh32(units[n])
        source, width = act, n_out
    return source


@kernel()
def backward(mem: F32, ints: I64, base: int, x: int, rows: int, accumulate: bool = False) -> None:
    """Gradients of all parameters from the deltas of the last layer, after :func:`forward` on the same rows.

    ``accumulate`` adds them to the gradients that are there: how a sum over more rows than the buffers hold is made.
    """
    zeros, ones, params, grads = ints[base + 7], ints[base + 8], ints[base + 2], ints[base + 4]
    for reverse in range(ints[base]):
        layer = ints[base] - 1 - reverse
        at = base + _HEADER + _PER_LAYER * layer
        n_in, n_out, delta = ints[at], ints[at + 1], ints[at + 7]
        source = ints[at - 2] if layer > 0 else x
        weight_grad, bias_grad = grads + ints[at + 3] - params, grads + ints[at + 4] - params
        first, bias_first, first_row = (weight_grad, bias_grad, n_out) if accumulate else (zeros, zeros, 0)
        matmul(mem, source, 1, n_in, delta, n_out, first, first_row, weight_grad, n_out, n_in, n_out, rows)
        matmul(mem, ones, 0, 1, delta, n_out, bias_first, 0, bias_grad, n_out, 1, n_out, rows)
        if layer > 0:
            below = ints[at - 1]
            matmul(mem, delta, n_out, 1, ints[at + 5], n_in, zeros, 0, below, n_in, rows, n_in, n_out)
            slope, units = mem[below : below + rows * n_in], mem[source : source + rows * n_in]
            for n in range(slope.size):
                slope[n] *= np.float32(1.0) - units[n] * units[n]


@kernel()
def adam_step(mem: F32, ints: I64, base: int, rate: float, max_norm: float) -> None:
    """Clips the gradient's norm, makes one Adam step (.9, .999, 1e-5) and renews the transposed weights."""
    count = ints[base + 3]
    g = mem[ints[base + 4] : ints[base + 4] + count]
    scale = np.float32(1.0)
    if max_norm > 0.0:
        norm = np.sqrt(sum_squares(mem, ints[base + 4], count))
        if norm > max_norm:
            scale = np.float32(max_norm / norm)
    ints[base + 9] += 1
    w = mem[ints[base + 2] : ints[base + 2] + count]
    m = mem[ints[base + 5] : ints[base + 5] + count]
    v = mem[ints[base + 6] : ints[base + 6] + count]
    correction1, correction2 = _bias_corrections(ints[base + 9])
    step = np.float32(rate / correction1)
    root = np.float32(1.0 / np.sqrt(correction2))
    for n in range(count):
        gradient = g[n] * scale
        m[n] = np.float32(0.9) * m[n] + np.float32(0.1) * gradient
        v[n] = np.float32(0.999) * v[n] + np.float32(0.001) * gradient * gradient
        w[n] -= step * m[n] / (np.sqrt(v[n]) * root + np.float32(1e-5))
    refresh(mem, ints, base)


@kernel()
def _power(x: float, n: int) -> float:
    result = 1.0
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@kernel()
def _bias_corrections(step: int) -> tuple[float, float]:
    return 1.0 - _power(0.9, step), 1.0 - _power(0.999, step)
