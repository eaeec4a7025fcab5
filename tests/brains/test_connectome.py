"""The worm's wiring: its data, what rewiring keeps, and the gradient of the circuit against torch."""

import numpy as np
import pytest
import torch
from brain_trial import Trial, discrete
from cell_trial import CellTrial, assert_close, leaf

from nematodebench.brains.connectome import connectome_ppo, wiring
from nematodebench.errors import UsageError

SMALL = {"sequence": 4, "minibatch": 8, "rollout": 16, "epochs": 1}


def edges(trial):
    cell = trial.brain.cell
    return [np.asarray(values).copy() for values in (cell.pre, cell.post, cell.left, cell.right)]


@pytest.fixture(scope="module")
def rewired():
    return [edges(Trial("connectome_rewired", discrete(), seed=seed, **SMALL)) for seed in (1, 1, 2)]


def test_the_data_is_that_of_the_worm():
    worm = wiring.read_wiring()
    assert (len(worm.names), len(worm.pre), worm.sections.sum(), len(worm.left)) == (302, 3709, 20965, 1091)
    assert (len(worm.sensory), len(worm.motor)) == (83, 123)
    assert worm.names[worm.pre[0]] == worm.names[worm.post[0]] == "ADAL"
    assert len({*zip(worm.pre, worm.post, strict=True)}) == 3709
    assert (worm.left < worm.right).all()


def test_changed_data_is_refused(monkeypatch):
    monkeypatch.setitem(wiring.CHECKSUMS, "celegans_neurons.csv", "0" * 64)
    with pytest.raises(UsageError, match=r"celegans_neurons\.csv was changed"):
        wiring._rows("celegans_neurons.csv")


def test_rewiring_keeps_every_degree_and_no_pattern(rewired):
    worm, (pre, post, left, right) = wiring.read_wiring(), rewired[0]
    np.testing.assert_array_equal(np.bincount(pre, minlength=302), np.bincount(worm.pre, minlength=302))
    np.testing.assert_array_equal(post, worm.post)
    ends, true_ends = np.append(left, right), np.append(worm.left, worm.right)
    np.testing.assert_array_equal(np.bincount(ends, minlength=302), np.bincount(true_ends, minlength=302))
    assert len({*zip(pre, post, strict=True)}) == 3709
    assert len({frozenset(pair) for pair in zip(left, right, strict=True)}) == 1091
    assert (left != right).all()
    itself = worm.pre == worm.post
    np.testing.assert_array_equal(pre[itself], worm.pre[itself])
    assert ((pre == post) == itself).all()
    kept = {*zip(pre, post, strict=True)} & {*zip(worm.pre, worm.post, strict=True)}
    assert len(kept) < 0.3 * 3709


def test_every_run_is_wired_anew_and_the_worm_never(rewired):
    for one, same, other, drawn in zip(*rewired, (True, False, False, True), strict=True):
        np.testing.assert_array_equal(one, same)
        assert (one != other).any() == drawn
    worm = wiring.read_wiring()
    for ours, true in zip(edges(Trial("connectome_ppo", discrete(), **SMALL)), (worm.pre, worm.post), strict=False):
        np.testing.assert_array_equal(ours, true)


@pytest.mark.parametrize("name", ["connectome_ppo", "connectome_rewired"])
def test_gradient_through_time(name):
    trial = CellTrial(name, connectome_ppo.run, connectome_ppo.run_back, ticks=2)
    cell = trial.brain.cell
    trial.gradients()
    flat = np.asarray(cell.parameters)
    sizes = np.cumsum([cell.chemicals, cell.gaps, cell.receptors * cell.inputs, cell.neurons, cell.neurons])
    weights, roots, given, offset, leak = (leaf(part) for part in np.split(flat, sizes)[:5])
    pre, post, left, right = (torch.tensor(values) for values in edges(trial.trial))
    sensory, motor = torch.tensor(np.asarray(cell.sensory)), torch.tensor(np.asarray(cell.motor))
    pad = torch.zeros(3, cell.units - cell.true_units, dtype=torch.float64)

    def step(x, state):
        h, follow = state[0], torch.sigmoid(leak)
        heard = torch.zeros(x.shape[0], cell.neurons, dtype=torch.float64)
        heard = heard.index_add(1, sensory, x @ given.reshape(cell.receptors, cell.inputs).T)
        for _ in range(2):
            drive = heard.index_add(1, post, h[:, pre] * weights) + offset
            current = roots**2 * (h[:, left] - h[:, right])
            drive = drive.index_add(1, right, current).index_add(1, left, -current)
            h = h + follow * (torch.tanh(drive) - h)
        return torch.cat([h[:, motor], pad], dim=1), (h,)

    trial.by_torch(step, trial.start(cell.neurons))
    gradients = np.split(np.asarray(cell.gradients), sizes)[:5]
    for ours, exact in zip(gradients, (weights, roots, given, offset, leak), strict=True):
        assert_close(ours, exact.grad)


def test_sections_make_strong_synapses():
    trial, worm = Trial("connectome_ppo", discrete(), gain=2.0, **SMALL), wiring.read_wiring()
    weights = np.asarray(trial.brain.cell.parameters)[:3709].astype(float)
    total = np.bincount(worm.post, worm.sections, minlength=302)
    share = worm.sections / total[worm.post]
    assert np.mean(weights**2 / share) == pytest.approx(4.0, rel=0.1)
    assert abs(np.mean(np.sign(weights))) < 0.1
