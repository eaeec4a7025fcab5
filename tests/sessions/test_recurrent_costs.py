"""What brains with a cell cost: the cell's connections are counted as NeuroBench counts them."""

import numpy as np
import pytest
import snntorch
import torch
from neurobench.metrics.static import ParameterCount
from neurobench.metrics.workload import ActivationSparsity, SynapticOperations
from neurobench.models import TorchModel

from nematodebench.brains.base import Interface
from nematodebench.brains.connectome.wiring import read_wiring
from nematodebench.brains.registry import get_brain
from nematodebench.engine.agents import Agents

pytestmark = pytest.mark.slow  # compiles the four largest brains
BODY = Interface(("a", "b", "c", "d"), (-1.0,) * 4, (1.0,) * 4, 3, 0)
TOLD, OUTPUTS = 4 + 3 + 1, 3 + 1  # senses, last action and reward; a logit for each action, and the value


def lived(name, steps=3, **config):
    """A brain that has acted for a few steps, and its connections by name."""
    kind, numbers = get_brain(name), np.random.default_rng(0)
    settings = kind.config(**config)
    agents = Agents(kind, settings, BODY, 1, 1)
    brains = agents.brains
    given = (brains.hyper, brains.ints[0], brains.mem[0], agents.rng[0], agents.obs, agents.action, brains.out[0])
    kind.init(*given)
    kind.begin_episode(*given)
    for _ in range(steps):
        agents.obs[0] = numbers.uniform(-1, 1, 4)
        agents.obs[0, 2] = 0.0
        kind.act(*given)
    brain = brains.views()[0]
    return brain, {one.name: one for one in kind.synapses(settings, brain)}


def counted(found, field="effective"):
    values = [one.effective(None) if field == "effective" else getattr(one, field) for one in found.values()]
    return sum(values)


def neurobench_of(net, *data):
    model = TorchModel(net)
    model.add_activation_module(torch.nn.Tanh)
    model.add_activation_module(snntorch.SpikingNeuron)
    model.register_hooks()
    net(*data)
    found = SynapticOperations()(model, None, (data[0], None))
    return {**found, "sparsity": ActivationSparsity()(model, None, None), "parameters": ParameterCount()(model)}


class Gated(torch.nn.Module):
    """The same layers in torch."""

    def __init__(self, units, past):
        super().__init__()
        self.cell, self.past = torch.nn.GRUCell(TOLD, units), torch.nn.Linear(TOLD, past)
        self.squashed, self.readout = torch.nn.Tanh(), torch.nn.Linear(units + past, OUTPUTS)

    def forward(self, told, state):
        shown = self.squashed(self.past(told))
        return self.readout(torch.cat([self.cell(told, state), shown], dim=1))


def test_a_gated_unit_is_counted_as_neurobench_counts_it():
    brain, found = lived("gru_ppo", units=13, shortcut=9)
    told, state = torch.tensor(np.asarray(brain.moment)), torch.tensor(np.asarray(brain.present)[:13])
    assert 0 < int((told != 0).sum()) < TOLD
    assert bool((state != 0).all())
    theirs = neurobench_of(Gated(13, 9), told[None], state[None])
    assert counted(found) == theirs["Effective_MACs"]
    assert counted(found, "dense") == theirs["Dense"]
    # torch has two biases for each gate; both sum up in two of three.
    assert counted(found, "parameters") == theirs["parameters"] - 2 * 13


def test_spikes_among_neurons_are_accumulates_and_the_rest_is_not():
    brain, found = lived("spiking_ppo", steps=8, units=20, shortcut=0, gain=3.0)
    spikes = np.asarray(brain.present).reshape(4, -1)[2, :20]
    assert 0 < spikes.sum() < 20
    layer = torch.nn.Linear(20, 20, bias=False)
    theirs = neurobench_of(torch.nn.Sequential(layer), torch.tensor(spikes[None]))
    among = found["from_units"]
    assert among.spiking
    assert among.effective(None) == theirs["Effective_ACs"] == 20 * spikes.sum()
    active, units = among.active()
    assert (active, units) == (spikes.sum(), 20)
    assert counted(found, "parameters") == (TOLD + 20 + 1) * 20 + (20 + 1) * OUTPUTS
    assert [one.name for one in found.values() if one.spiking] == ["from_units"]


def test_a_liquid_cell_has_its_backbone_and_three_heads():
    _, found = lived("liquid_ppo", units=10, backbone=12, shortcut=0)
    parameters = (TOLD + 10 + 1) * 12 + 3 * (12 + 1) * 10 + (10 + 1) * OUTPUTS
    assert counted(found, "parameters") == parameters
    assert counted(found, "dense") == parameters - 12 - 3 * 10 - OUTPUTS + 2 * 10


@pytest.mark.parametrize("name", ["connectome_ppo", "connectome_rewired"])
def test_the_worm_has_its_edges_in_every_tick(name):
    brain, found = lived(name, ticks=2)
    wiring = read_wiring()
    chemical, gaps, receptors = len(wiring.pre), len(wiring.left), len(wiring.sensory)
    own = chemical + gaps + receptors * TOLD + 2 * 302
    assert counted(found, "parameters") == own + (len(wiring.motor) + 1) * OUTPUTS
    assert (np.asarray(brain.present) != 0).all()
    assert found["chemical"].effective(None) == 2 * chemical
    assert found["junctions"].effective(None) + found["junctions_back"].effective(None) == 2 * 2 * gaps
    told = int((np.asarray(brain.moment) != 0).sum())
    assert found["from_inputs"].effective(None) == 2 * receptors * told
    assert found["chemical"].active() == (2 * 302, 2 * 302)
