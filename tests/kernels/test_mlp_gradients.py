"""The network by hand against torch: outputs, gradients, Adam."""

import numpy as np
import pytest
import torch

from nematodebench.kernels.memory import Memory, part
from nematodebench.kernels.mlp import (
    Network,
    backward,
    copy_weights,
    forward,
    forward_row,
    init_weights,
    output_deltas,
    outputs_of,
    scale_outputs,
    update_weights,
)
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

torch.set_num_threads(1)

SHAPES = [(5, (64, 64), 5), (3, (10,), 1), (62, (20, 7, 33), 13), (1, (1,), 9), (8, (8, 16), 8)]
ROWS = [1, 5, 64]


def build(declaration, **sizes):
    """A view of fresh memory."""
    layout = declaration.lay_out(**sizes)
    return declaration(layout.hyper, layout.ints, np.zeros(layout.memory, dtype=np.float32))


def brain_stream(seed=1):
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
    return rng


class Mirrored:
    """A network of ours with ``batch`` rows of input, and the same one in torch's float64."""

    def __init__(self, inputs, hidden, outputs, batch=64, seed=1):
        self.outputs = outputs
        self.net = build(Network, **Network.shape(inputs, hidden, outputs, batch))
        init_weights(self.net, brain_stream(seed), np.sqrt(2.0), 1.0)
        self.numbers = np.random.default_rng(seed)
        self.x = self.numbers.standard_normal((batch, inputs)).astype(np.float32)
        self.widths = [inputs, *hidden, outputs]

    def layers(self, of="parameters"):
        """Weights and biases without padding, of the parameters or of the gradients."""
        found, net, flat = [], self.net, getattr(self.net, of)
        for n, (n_in, n_out) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            wide_in, wide_out, first = net.inputs[n], net.widths[n], net.first_weight[n]
            w = flat[first : first + wide_in * wide_out].reshape(wide_in, wide_out)
            b = flat[first + wide_in * wide_out :][:wide_out]
            found += [w[:n_in, :n_out], b[:n_out]]
        return found

    def mirror(self):
        return [torch.tensor(np.asarray(piece, dtype=np.float64), requires_grad=True) for piece in self.layers()]

    def input(self, rows, first=0):
        return torch.tensor(self.x[first : first + rows].astype(np.float64))

    def random_deltas(self, rows):
        """Random gradients of the loss by the true outputs; padded ones have none."""
        delta = output_deltas(self.net, rows)
        delta[:] = 0.0
        delta[:, : self.outputs] = self.numbers.standard_normal((rows, self.outputs))
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
    ours = Mirrored(*shape)
    forward(ours.net, ours.x[:rows])
    outputs = outputs_of(ours.net, rows)
    assert len(outputs) == rows
    assert_close([outputs[:, : ours.outputs]], [torch_forward(ours.mirror(), ours.input(rows))])
    assert not outputs[:, ours.outputs :].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_single_row_has_the_bits_of_a_block(shape):
    ours = Mirrored(*shape)
    forward(ours.net, ours.x[:3])
    expected = np.asarray(outputs_of(ours.net, 3)[2]).tobytes()
    forward_row(ours.net, ours.x[2])
    assert np.asarray(outputs_of(ours.net, 1)[0]).tobytes() == expected


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(shape, rows):
    ours = Mirrored(*shape)
    mirror = ours.mirror()
    forward(ours.net, ours.x[:rows])
    delta = ours.random_deltas(rows)
    (torch_forward(mirror, ours.input(rows)) * delta).sum().backward()
    backward(ours.net, ours.x[:rows])
    assert_close(ours.layers("gradients"), [piece.grad for piece in mirror])


@pytest.mark.parametrize("shape", SHAPES)
def test_padded_parameters_have_no_gradient(shape):
    ours = Mirrored(*shape)
    forward(ours.net, ours.x[:5])
    ours.random_deltas(5)
    backward(ours.net, ours.x[:5])
    assert ours.net.gradients.any()
    for piece in ours.layers("gradients"):
        piece[:] = 0.0
    assert not ours.net.gradients.any()


@pytest.mark.parametrize("shape", SHAPES)
def test_accumulated_gradients_are_those_of_all_rows_together(shape):
    ours = Mirrored(*shape)
    mirror = ours.mirror()
    for first, rows in ((0, 40), (40, 24)):
        x = ours.x[first : first + rows]
        forward(ours.net, x)
        delta = ours.random_deltas(rows)
        (torch_forward(mirror, ours.input(rows, first)) * delta).sum().backward()  # torch adds up as well
        backward(ours.net, x, first > 0)
    assert_close(ours.layers("gradients"), [piece.grad for piece in mirror])


@pytest.mark.parametrize("max_norm", [0.0, 0.5, 1e6])
def test_adam_follows_torch(max_norm):
    ours = Mirrored(5, (20, 12), 5)
    mirror = ours.mirror()
    adam = torch.optim.Adam(mirror, lr=3e-3, eps=1e-5)
    for _ in range(20):
        forward(ours.net, ours.x)
        delta = ours.random_deltas(64)
        adam.zero_grad()
        (torch_forward(mirror, ours.input(64)) * delta).sum().backward()
        if max_norm > 0:
            torch.nn.utils.clip_grad_norm_(mirror, max_norm)
        adam.step()
        backward(ours.net, ours.x)
        update_weights(ours.net, 3e-3, max_norm)
    assert_close(ours.layers(), mirror, 2e-4)
    assert ours.net.adam.steps == 20


def test_adam_with_rate_0_changes_no_parameter():
    ours = Mirrored(5, (20, 12), 5)
    before = [piece.copy() for piece in ours.layers()]
    ours.random_deltas(64)
    forward(ours.net, ours.x)
    backward(ours.net, ours.x)
    update_weights(ours.net, 0.0, 0.5)
    assert ours.net.adam.momentum.any()
    for mine, old in zip(ours.layers(), before, strict=True):
        np.testing.assert_array_equal(mine, old)


@pytest.mark.parametrize("shape", SHAPES)
def test_initial_weights_are_orthogonal_and_biases_zero(shape):
    layers = Mirrored(*shape).layers()
    for n in range(0, len(layers), 2):
        w = np.asarray(layers[n], dtype=np.float64)
        gain = 1.0 if n + 2 == len(layers) else 2.0
        product = w @ w.T if w.shape[0] < w.shape[1] else w.T @ w
        np.testing.assert_allclose(product, gain * np.eye(len(product)), atol=1e-5)
        assert not layers[n + 1].any()


def test_scaled_outputs_are_the_first_ones_only():
    ours = Mirrored(5, (20, 12), 5)
    before = ours.layers()[4].copy()
    scale_outputs(ours.net, 3, 0.5)
    np.testing.assert_array_equal(ours.layers()[4], before * np.array([0.5, 0.5, 0.5, 1, 1], dtype=np.float32))


class Pair(Memory):
    """Two equally built networks in one memory."""

    source = part(Network)
    target = part(Network)


def test_copied_weights_give_the_same_outputs():
    shape = Network.shape(5, (20, 12), 5, 4)
    pair = build(Pair, source=shape, target=shape)
    x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5)
    init_weights(pair.source, brain_stream(), 1.0, 1.0)
    copy_weights(pair.source, pair.target)
    forward(pair.source, x)
    forward(pair.target, x)
    mine, copied = outputs_of(pair.source, 4), outputs_of(pair.target, 4)
    assert mine.shape == (4, 8)
    np.testing.assert_array_equal(mine, copied)
    assert mine.any()
    assert mine.ctypes.data != copied.ctypes.data


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_learned_has_no_padding(shape):
    """Names, true shapes and values of all layers, for the parameters and for both means of the optimiser."""
    ours = Mirrored(*shape)
    forward(ours.net, ours.x)
    ours.random_deltas(64)
    backward(ours.net, ours.x)
    update_weights(ours.net, 1e-3, 0.5)
    learned = dict(ours.net.learned())
    names = [f"{kind}_{n}" for n in range(len(ours.widths) - 1) for kind in ("weights", "bias")]
    assert list(learned) == [*(f"{of}{name}" for of in ("", "momentum.", "variance.") for name in names), "steps"]
    for name, expected in zip(names, ours.layers(), strict=True):
        np.testing.assert_array_equal(learned[name], expected)
        assert learned[f"momentum.{name}"].shape == learned[f"variance.{name}"].shape == expected.shape
    assert learned["steps"] == 1
