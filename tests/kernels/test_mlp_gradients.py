"""The network by hand against torch: outputs, gradients, Adam."""

import numpy as np
import pytest
import torch

from nematodebench.kernels.mlp import (
    MlpLayout,
    activations,
    adam_step,
    backward,
    copy_weights,
    deltas,
    forward,
    init_weights,
    output_width,
    scale_outputs,
)
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

torch.set_num_threads(1)

BASE = 3
SHAPES = [(5, (64, 64), 5), (3, (10,), 1), (62, (20, 7, 33), 13), (1, (1,), 9), (8, (8, 16), 8)]
ROWS = [1, 5, 64]


class Network:
    """A network of ours with ``batch`` rows of input, and the same one in torch's float64."""

    def __init__(self, inputs, hidden, outputs, batch=64, seed=1):
        self.x, self.inputs, self.outputs, self.batch = 8, inputs, outputs, batch
        layout = MlpLayout.build(inputs, hidden, outputs, batch, self.x + batch * inputs)
        self.ints = np.array([*[0] * BASE, *layout.ints], dtype=np.int64)
        self.mem = np.zeros(layout.end, dtype=np.float32)
        rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        set_stream(rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
        init_weights(self.mem, self.ints, BASE, rng, np.sqrt(2.0), 1.0)
        self.numbers = np.random.default_rng(seed)
        self.mem[self.x : self.x + batch * inputs] = self.numbers.standard_normal(batch * inputs)
        self.widths = [inputs, *hidden, outputs]

    def layers(self, shift=0):
        """Weights and biases without padding; ``shift`` counts parameter blocks: 1 gradients."""
        found = []
        for n, (n_in, n_out) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            at = BASE + 10 + 8 * n
            wide_in, wide_out, _, weight, bias = self.ints[at : at + 5]
            move = shift * self.ints[BASE + 3]
            w = self.mem[weight + move : weight + move + wide_in * wide_out].reshape(wide_in, wide_out)
            b = self.mem[bias + move : bias + move + wide_out]
            found += [w[:n_in, :n_out], b[:n_out]]
        return found

    def mirror(self):
        return [torch.tensor(part.astype(np.float64), requires_grad=True) for part in self.layers()]

    def input(self, rows, first=0):
        x = self.mem[self.x : self.x + self.batch * self.inputs].reshape(self.batch, self.inputs)
        return torch.tensor(x[first : first + rows].astype(np.float64))

    def random_deltas(self, rows):
        width = output_width(self.ints, BASE)
        place = deltas(self.ints, BASE)
        delta = np.zeros((rows, width), dtype=np.float32)
        delta[:, : self.outputs] = self.numbers.standard_normal((rows, self.outputs))
        self.mem[place : place + rows * width] = delta.ravel()
        return torch.tensor(delta[:, : self.outputs].astype(np.float64))


def torch_forward(layers, x):
    for n in range(0, len(layers), 2):
        x = x @ layers[n] + layers[n + 1]
        if n + 2 < len(layers):
            x = torch.tanh(x)
    return x


def assert_close(ours, theirs, tolerance=2e-5):
    for mine, his in zip(ours, theirs, strict=True):
        exact = his.detach().numpy()
        np.testing.assert_allclose(mine, exact, rtol=0, atol=tolerance * max(1e-3, np.abs(exact).max()))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_forward(shape, rows):
    net = Network(*shape)
    place = forward(net.mem, net.ints, BASE, net.x, rows)
    width = output_width(net.ints, BASE)
    ours = net.mem[place : place + rows * width].reshape(rows, width)
    assert place == activations(net.ints, BASE)
    assert_close([ours[:, : net.outputs]], [torch_forward(net.mirror(), net.input(rows))])
    assert not ours[:, net.outputs :].any()


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(shape, rows):
    net = Network(*shape)
    mirror = net.mirror()
    forward(net.mem, net.ints, BASE, net.x, rows)
    delta = net.random_deltas(rows)
    (torch_forward(mirror, net.input(rows)) * delta).sum().backward()
    backward(net.mem, net.ints, BASE, net.x, rows)
    assert_close(net.layers(shift=1), [part.grad for part in mirror])


@pytest.mark.parametrize("shape", SHAPES)
def test_padded_parameters_have_no_gradient(shape):
    net = Network(*shape)
    forward(net.mem, net.ints, BASE, net.x, 5)
    net.random_deltas(5)
    backward(net.mem, net.ints, BASE, net.x, 5)
    first, count = net.ints[BASE + 4], net.ints[BASE + 3]
    for part in net.layers(shift=1):
        part[:] = 0.0
    assert not net.mem[first : first + count].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_accumulated_gradients_are_those_of_all_rows_together(shape):
    net = Network(*shape)
    mirror = net.mirror()
    for first, rows in ((0, 40), (40, 24)):
        x = net.x + first * net.inputs
        forward(net.mem, net.ints, BASE, x, rows)
        delta = net.random_deltas(rows)
        (torch_forward(mirror, net.input(rows, first)) * delta).sum().backward()  # torch adds up as well
        backward(net.mem, net.ints, BASE, x, rows, first > 0)
    assert_close(net.layers(shift=1), [part.grad for part in mirror])


@pytest.mark.parametrize("max_norm", [0.0, 0.5, 1e6])
def test_adam_follows_torch(max_norm):
    net = Network(5, (20, 12), 5)
    mirror = net.mirror()
    adam = torch.optim.Adam(mirror, lr=3e-3, eps=1e-5)
    for _ in range(20):
        forward(net.mem, net.ints, BASE, net.x, 64)
        delta = net.random_deltas(64)
        adam.zero_grad()
        (torch_forward(mirror, net.input(64)) * delta).sum().backward()
        if max_norm > 0:
            torch.nn.utils.clip_grad_norm_(mirror, max_norm)
        adam.step()
        backward(net.mem, net.ints, BASE, net.x, 64)
        adam_step(net.mem, net.ints, BASE, 3e-3, max_norm)
    assert_close(net.layers(), mirror, 2e-4)


def test_adam_with_rate_0_changes_no_parameter():
    net = Network(5, (20, 12), 5)
    before = [part.copy() for part in net.layers()]
    net.random_deltas(64)
    forward(net.mem, net.ints, BASE, net.x, 64)
    backward(net.mem, net.ints, BASE, net.x, 64)
    adam_step(net.mem, net.ints, BASE, 0.0, 0.5)
    for mine, old in zip(net.layers(), before, strict=True):
        np.testing.assert_array_equal(mine, old)


@pytest.mark.parametrize("shape", SHAPES)
def test_initial_weights_are_orthogonal_and_biases_zero(shape):
    net = Network(*shape)
    layers = net.layers()
    for n in range(0, len(layers), 2):
        w = layers[n].astype(np.float64)
        gain = 1.0 if n + 2 == len(layers) else 2.0
        product = w @ w.T if w.shape[0] < w.shape[1] else w.T @ w
        np.testing.assert_allclose(product, gain * np.eye(len(product)), atol=1e-5)
        assert not layers[n + 1].any()


def test_scaled_outputs_are_the_first_ones_only():
    net = Network(5, (20, 12), 5)
    before = net.layers()[4].copy()
    scale_outputs(net.mem, net.ints, BASE, 3, 0.5)
    np.testing.assert_array_equal(net.layers()[4], before * np.array([0.5, 0.5, 0.5, 1, 1], dtype=np.float32))


def test_copied_weights_give_the_same_outputs():
    source, target = (MlpLayout.build(5, (20, 12), 5, 4, start) for start in (20, 5000))
    ints = np.array([*source.ints, *target.ints], dtype=np.int64)
    mem = np.zeros(target.end, dtype=np.float32)
    mem[:20] = np.linspace(-1, 1, 20)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    init_weights(mem, ints, 0, rng, 1.0, 1.0)
    copy_weights(mem, ints, 0, len(source.ints))
    mine, copied = forward(mem, ints, 0, 0, 4), forward(mem, ints, len(source.ints), 0, 4)
    np.testing.assert_array_equal(mem[mine : mine + 32], mem[copied : copied + 32])
    assert mem[mine : mine + 32].any()
