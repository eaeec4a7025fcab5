"""What brains cost: counts against NeuroBench's, brains of several kinds, and what the command shows."""

import itertools
import json
import sys

import numpy as np
import pytest
import snntorch
import torch
from neurobench.metrics.static import ParameterCount
from neurobench.metrics.workload import ActivationSparsity, SynapticOperations
from neurobench.models import TorchModel

from nematodebench.brains.base import Interface
from nematodebench.brains.classical.mlp_ppo import MlpPpo, MlpPpoConfig
from nematodebench.brains.synapses import Synapses
from nematodebench.cli import main
from nematodebench.engine.agents import Agents
from nematodebench.sessions.efficiency import measure_efficiency

BODY = Interface(("a", "b", "c", "d"), (-1.0,) * 4, (1.0,) * 4, 3, 0)
TASK = "association-v2"


def neurobench_of(net, data):
    """NeuroBench's numbers of a module that sees ``data``, one sample or one tick a row."""
    model = TorchModel(net)
    model.add_activation_module(torch.nn.Tanh)
    model.add_activation_module(snntorch.SpikingNeuron)
    model.register_hooks()
    for row in data:
        model(row[None])
    found = SynapticOperations()(model, None, (data[:1], None))
    return {**found, "sparsity": ActivationSparsity()(model, None, None), "parameters": ParameterCount()(model)}


def test_a_dense_network_is_counted_as_neurobench_counts_it():
    config, numbers = MlpPpoConfig(hidden=(13, 9)), np.random.default_rng(0)
    agents = Agents(MlpPpo, config, BODY, 1, 1)
    brain, obs = agents.brains.views()[0], numbers.uniform(-1, 1, 4).astype(np.float32)
    obs[2] = 0.0
    agents.obs[0] = obs
    given = (agents.brains.hyper, agents.brains.ints[0], agents.brains.mem[0], agents.rng[0])
    MlpPpo.act(*given, agents.obs, agents.action, agents.brains.out[0])
    ours = MlpPpo.synapses(config, brain)
    sizes, layers = (4, 13, 9, 4), []
    for below, above in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(below, above), torch.nn.Tanh()]
    theirs = neurobench_of(torch.nn.Sequential(*layers[:-1]), torch.tensor(obs[None]))
    assert sum(one.parameters for one in ours) == theirs["parameters"]
    assert sum(one.dense for one in ours) == theirs["Dense"]
    assert sum(one.effective(obs) for one in ours) == theirs["Effective_MACs"] == theirs["Dense"] - 13
    active, units = (sum(one.active()[n] for one in ours) for n in (0, 1))
    assert 1 - active / units == theirs["sparsity"] == 0


def test_spikes_are_counted_as_neurobench_counts_them():
    numbers, ticks = np.random.default_rng(1), 12
    spikes = (numbers.uniform(size=(ticks, 20)) < 0.3).astype(np.float32)
    first, second = torch.nn.Linear(20, 15, bias=False), torch.nn.Linear(15, 6, bias=False)
    for layer in (first, second):
        layer.weight.data[torch.rand(layer.weight.shape, generator=torch.Generator().manual_seed(0)) < 0.5] = 0
        layer.weight.data *= 8
    neurons = snntorch.Leaky(beta=0.8, init_hidden=True)
    net, fired = torch.nn.Sequential(first, neurons, second), []
    neurons.register_forward_hook(lambda _module, _given, out: fired.append(out.detach().numpy()[0]))
    theirs = neurobench_of(net, torch.tensor(spikes))
    hidden = np.array(fired).sum(axis=0)
    assert 0 < hidden.sum() < ticks * 15
    degrees = [np.count_nonzero(layer.weight.detach().numpy(), axis=0) for layer in (first, second)]
    ours = [
        Synapses("first", 20, 15, degrees[0], 0, spikes.sum(axis=0), spiking=True, ticks=ticks, counted=False),
        Synapses("second", 15, 6, degrees[1], 0, hidden, spiking=True, ticks=ticks),
    ]
    assert sum(one.effective(None) for one in ours) == theirs["Effective_ACs"]
    assert sum(one.dense for one in ours) == theirs["Dense"]
    active, units = ours[1].active()
    assert 1 - active / units == pytest.approx(theirs["sparsity"])


def test_the_cost_of_brains():
    dense = measure_efficiency(TASK, "mlp_ppo", {"hidden": [16]}, episodes=2)
    assert dense.parameters == 8 * 16 + 16 + 16 * 7 + 7
    assert dense.effective_acs == dense.activation_sparsity == 0
    assert dense.effective_macs < dense.dense == 8 * 16 + 16 * 7
    spiking = measure_efficiency(TASK, "spiking_rstdp", episodes=2)
    assert spiking.effective_macs == 0 < spiking.effective_acs < spiking.dense
    assert 0.5 < spiking.activation_sparsity < 1
    for cost in (dense, spiking):
        assert cost.footprint > 4 * cost.parameters
        assert cost.milliseconds > 0


def test_counts_follow_from_the_seed():
    one, same, other = (measure_efficiency(TASK, "spiking_rstdp", episodes=2, seed=seed) for seed in (5, 5, 6))
    assert one.effective_acs == same.effective_acs != other.effective_acs


def test_a_brain_without_memory_costs_no_operations():
    cost = measure_efficiency(TASK, "null_random", episodes=2)
    assert (cost.parameters, cost.effective_macs, cost.dense) == (0, 0, 0)


def shown(monkeypatch, capsys, *words):
    """Exit code and output of a command."""
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
    try:
        main()
    except SystemExit as end:
        return end.code, capsys.readouterr()
    return 0, capsys.readouterr()


def test_the_command_shows_what_a_brain_costs(monkeypatch, capsys):
    code, printed = shown(monkeypatch, capsys, "brains", "null_random", "--task", TASK)
    assert not code
    assert "never part of a score" in printed.out
    code, printed = shown(monkeypatch, capsys, "brains", "null_random", "--task", TASK, "--json")
    assert json.loads(printed.out)["efficiency"]["parameters"] == 0


def test_a_task_without_a_brain_is_refused(monkeypatch, capsys):
    code, printed = shown(monkeypatch, capsys, "brains", "--task", TASK)
    assert code
    assert "name the brain" in printed.err
