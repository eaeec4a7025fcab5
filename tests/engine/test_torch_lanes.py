"""What a torch population computes beside torch: slopes of the loss, and chains of layers with their gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from nematodebench.engine.population_kernels import lanes_function  # noqa: E402
from nematodebench.engine.torch_lanes import Networks  # noqa: E402

ROWS, HEADS, LEVELS, ENTROPY, CLIP = 40, 2, 3, 0.03, 0.2


def losses_of(odds, choices, weights, before):
    """The loss of every row as one writes it in torch."""
    logs = torch.log_softmax(odds, dim=-1)
    chosen = logs.gather(-1, choices[..., None])[..., 0].sum(dim=-1)
    gains = chosen * weights
    if before.numel():
        ratio = torch.exp(chosen - before)
        gains = torch.minimum(ratio * weights, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * weights)
    return chosen, -gains + ENTROPY * (logs.exp() * logs).sum(dim=(-1, -2))


@pytest.mark.parametrize("ppo", [False, True])
def test_slopes_of_the_loss_are_those_of_autograd(ppo):
    generator = torch.Generator().manual_seed(1)
    odds = torch.randn(ROWS, HEADS, LEVELS, generator=generator).requires_grad_()
    choices = torch.randint(LEVELS, (ROWS, HEADS), generator=generator)
    weights = torch.randn(ROWS, generator=generator)
    before = losses_of(odds, choices, weights, torch.zeros(0))[0].detach() if ppo else torch.zeros(0)
    before = before + 0.4 * torch.randn(before.shape, generator=generator)  # some are clipped, some are not
    chosen, losses = losses_of(odds, choices, weights, before)
    (wanted,) = torch.autograd.grad(losses.sum(), odds)
    logs, slopes = np.empty(ROWS, dtype=np.float32), np.empty((ROWS, HEADS, LEVELS), dtype=np.float32)
    given = odds.detach().clone().numpy(), choices.numpy(), weights.numpy(), before.numpy()
    lanes_function("slopes")(*given, ENTROPY, CLIP, logs, slopes)
    np.testing.assert_allclose(logs, chosen.detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slopes, wanted.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("activation", [nn.Tanh, nn.ReLU])
@pytest.mark.parametrize(("hidden", "outputs", "bias"), [(32, 4, True), (13, 7, True), (24, 40, False)])
def test_a_chain_has_the_values_and_gradients_of_its_modules(activation, hidden, outputs, bias):
    torch.manual_seed(3)
    modules = [
        nn.Sequential(
            nn.Linear(5, hidden, bias=bias), activation(), nn.Linear(hidden, hidden), activation(),
            nn.Linear(hidden, outputs, bias=bias), activation(),
        )
        for _ in range(3)
    ]  # fmt: skip
    networks = Networks(modules, 5)
    lanes, x = np.array([2, 0]), torch.randn(2, 11, 5)
    slope = torch.randn(2, 11, outputs)
    some = networks.some(lanes)
    given = networks(x, some)
    found = networks.gathered(torch.autograd.grad(given, list(some.parameters.values()), slope))
    for row, lane in enumerate(lanes):
        wanted = modules[lane](x[row])
        np.testing.assert_allclose(given[row].detach().numpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-6)
        slopes = torch.autograd.grad(wanted, list(modules[lane].parameters()), slope[row])
        for ours, theirs in zip(networks.natural(found), slopes, strict=True):
            np.testing.assert_allclose(ours[row].numpy(), theirs.numpy(), rtol=1e-3, atol=1e-5)
