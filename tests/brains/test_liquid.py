"""The closed-form continuous-time cell against the one of ncps."""

import numpy as np
import pytest
import torch
from brain_trial import Trial, discrete, effectors
from cell_trial import CellTrial, assert_close

from nematodebench.brains.recurrent import liquid_ppo

pytest.importorskip("ncps", reason="the reference of this cell")
from ncps.torch.cfc_cell import CfCCell


def parts(cell, flat):
    """Weights as torch has them, outputs first: of backbone, its bias, and of the heads near, far and time."""
    i, u, b = cell.inputs, cell.units, cell.backbone
    flat, first = np.asarray(flat), (cell.inputs + cell.units + 1) * cell.backbone
    trunk = flat[: (i + u) * b].reshape(i + u, b).T
    heads = flat[first : first + 3 * b * u].reshape(3, b, u).transpose(0, 2, 1)
    bias = flat[first + 3 * b * u :][: 3 * u].reshape(3, u)
    return trunk, flat[(i + u) * b : first], heads, bias


@pytest.mark.parametrize("body", [discrete(), effectors(outputs=3)])
def test_gradient_through_time_is_that_of_ncps(body):
    trial = CellTrial("liquid_ppo", liquid_ppo.run, liquid_ppo.run_back, body, units=13, backbone=11)
    cell = trial.brain.cell
    trial.gradients()
    peer = CfCCell(cell.inputs, cell.units, backbone_units=cell.backbone, backbone_layers=1).double()
    trunk, trunk_bias, heads, bias = parts(cell, cell.parameters)
    layers = (peer.ff1, peer.ff2, peer.time_b)
    with torch.no_grad():
        peer.backbone[0].weight.copy_(torch.tensor(trunk))
        peer.backbone[0].bias.copy_(torch.tensor(trunk_bias))
        for n, layer in enumerate(layers):
            layer.weight.copy_(torch.tensor(heads[n]))
            layer.bias.copy_(torch.tensor(bias[n]))
        peer.time_a.weight.zero_()
        peer.time_a.bias.zero_()

    def step(x, state):
        new, _ = peer(x, state[0], 1.0)
        return new, (new,)

    trial.by_torch(step, trial.start(cell.units))
    trunk, trunk_bias, heads, bias = parts(cell, cell.gradients)
    assert_close(trunk, peer.backbone[0].weight.grad)
    assert_close(trunk_bias, peer.backbone[0].bias.grad)
    for n, layer in enumerate(layers):
        assert_close(heads[n], layer.weight.grad)
        assert_close(bias[n], layer.bias.grad)


def test_padded_units_stay_silent():
    trial = Trial("liquid_ppo", discrete(), units=13, backbone=11, sequence=4, minibatch=8, rollout=16, epochs=2)
    trial.play(64, np.random.default_rng(0))
    trunk, trunk_bias, heads, bias = parts(trial.brain.cell, trial.brain.cell.parameters)
    inputs = trial.brain.inputs
    assert trunk[:11, : inputs + 13].all()
    assert not trunk[11:].any()
    assert not trunk[:, inputs + 13 :].any()
    assert not trunk_bias[11:].any()
    assert not heads[:, 13:].any()
    assert not heads[:, :, 11:].any()
    assert not bias[:, 13:].any()
