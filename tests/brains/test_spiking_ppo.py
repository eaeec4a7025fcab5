"""Adaptive integrate-and-fire neurons: gradients through time against torch with snntorch's surrogate and neurons."""

import numpy as np
import pytest
import snntorch
import torch
from brain_trial import Trial, discrete, effectors
from cell_trial import CellTrial, assert_close, leaf

from nematodebench.brains.spiking import spiking_ppo

LIVELY = {"units": 13, "decay": 0.8, "adaptation": 1.8, "smoothing": 0.5, "sharpness": 4.0, "gain": 2.0}


def parts(cell, flat):
    """Weights of inputs and neurons, and the bias."""
    i, u = cell.inputs, cell.units
    flat = np.asarray(flat)
    return flat[: i * u].reshape(i, u), flat[i * u : (i + u) * u].reshape(u, u), flat[(i + u) * u :][:u]


@pytest.mark.parametrize("body", [discrete(), effectors(outputs=3)])
def test_gradient_through_time(body):
    trial = CellTrial("spiking_ppo", spiking_ppo.run, spiking_ppo.run_back, body, **LIVELY)
    cell, fire = trial.brain.cell, snntorch.surrogate.fast_sigmoid(slope=4)
    trial.gradients()
    assert 0 < np.asarray(cell.after)[:, 2 * cell.units : 3 * cell.units].mean() < 0.6
    inputs, units, bias = (leaf(values) for values in parts(cell, cell.parameters))
    recovery = torch.tensor(np.asarray(cell.recovery, dtype=np.float64))

    def step(x, state):
        potential, fatigue, spikes, trace = state
        potential = 0.8 * potential + x @ inputs + spikes @ units + bias - spikes.detach()
        fatigue = recovery * fatigue + (1 - recovery) * spikes
        spikes = fire(potential - 1 - 1.8 * fatigue)
        trace = 0.5 * trace + 0.5 * spikes
        return trace, (potential, fatigue, spikes, trace)

    trial.by_torch(step, trial.start(*[cell.units] * 4))
    for ours, exact in zip(parts(cell, cell.gradients), (inputs, units, bias), strict=True):
        assert_close(ours, exact.grad)


def test_without_adaptation_they_are_the_recurrent_leaky_neurons_of_snntorch():
    trial = CellTrial(
        "spiking_ppo",
        spiking_ppo.run,
        spiking_ppo.run_back,
        **(LIVELY | {"units": 16, "adaptation": 0.0, "smoothing": 0.0}),
    )
    cell = trial.brain.cell
    trial.brain.starts[:] = 0  # theirs begins at rest
    trial.gradients()
    inputs, units, bias = parts(cell, cell.parameters)
    peer = snntorch.RLeaky(
        beta=0.8, linear_features=cell.units, spike_grad=snntorch.surrogate.fast_sigmoid(slope=4), reset_delay=True
    ).double()
    given = leaf(inputs)
    with torch.no_grad():
        peer.recurrent.weight.copy_(torch.tensor(units.T))
        peer.recurrent.bias.copy_(torch.tensor(bias))

    def step(x, state):
        spikes, potential = peer(x @ given, state[0], state[1])
        return spikes.double(), (spikes, potential)

    empty = torch.zeros(3, cell.units, dtype=torch.float64)
    trial.by_torch(step, (empty, empty))
    by_inputs, by_units, by_bias = parts(cell, cell.gradients)
    assert_close(by_inputs, given.grad)
    assert_close(by_units.T, peer.recurrent.weight.grad)
    assert_close(by_bias, peer.recurrent.bias.grad)


def test_a_neuron_that_fires_needs_more_to_fire_again():
    def rate(adaptation):
        trial = Trial("spiking_ppo", discrete(), units=40, adaptation=adaptation, gain=1.0)
        for _ in range(200):
            trial.act(np.ones(5))
        return trial.describe()["mean_rate"]

    assert 0 < rate(5.0) < 0.7 * rate(0.0)
