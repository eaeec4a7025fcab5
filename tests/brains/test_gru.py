"""The gated recurrent unit against torch's, and what the brain does with its state."""

import numpy as np
import pytest
import torch
from brain_trial import Trial, discrete, effectors, layer_of
from cell_trial import CellTrial, assert_close

from nematodebench.brains.recurrent import gru_ppo

SMALL = {"units": 13, "shortcut": 5, "sequence": 4, "minibatch": 8, "rollout": 16, "epochs": 2}


def torch_gru(cell, flat):
    """A cell's parameters as torch orders them: weights of inputs and state, both biases, of reset, keep and new."""
    i, u = cell.inputs, cell.units
    flat = np.asarray(flat)
    inputs = flat[: 3 * i * u].reshape(3, i, u).transpose(0, 2, 1).reshape(3 * u, i)
    units = flat[3 * i * u :][: 3 * u * u].reshape(3, u, u).transpose(0, 2, 1).reshape(3 * u, u)
    bias = flat[3 * (i + u) * u :][: 4 * u].reshape(4, u)
    return inputs, units, bias[:3].ravel(), bias[3]


@pytest.mark.parametrize("body", [discrete(), effectors(outputs=3)])
def test_gradient_through_time(body):
    trial = CellTrial("gru_ppo", gru_ppo.run, gru_ppo.run_back, body, units=13)
    cell = trial.brain.cell
    trial.gradients()
    assert (np.asarray(cell.start)[:, 13:] == 0).all()
    peer = torch.nn.GRUCell(cell.inputs, cell.units, dtype=torch.float64)
    inputs, units, bias, old = torch_gru(cell, cell.parameters)
    with torch.no_grad():
        peer.weight_ih.copy_(torch.tensor(inputs))
        peer.weight_hh.copy_(torch.tensor(units))
        peer.bias_ih.copy_(torch.tensor(bias))
        peer.bias_hh.zero_()
        peer.bias_hh[2 * cell.units :] = torch.tensor(old)

    def step(x, state):
        new = peer(x, state[0])
        return new, (new,)

    trial.by_torch(step, trial.start(cell.units))
    inputs, units, bias, old = torch_gru(cell, cell.gradients)
    assert_close(inputs, peer.weight_ih.grad)
    assert_close(units, peer.weight_hh.grad)
    assert_close(bias, peer.bias_ih.grad)
    assert_close(old, peer.bias_hh.grad[2 * cell.units :])
    np.testing.assert_allclose(cell.end[:, : cell.units], cell.outputs[-len(cell.end) :])


def test_an_action_follows_from_what_was_sensed_before():
    """The state is carried from step to step, and empty when an episode begins."""
    trial = Trial("gru_ppo", discrete(), **SMALL)
    empty = np.asarray(trial.brain.present).copy()
    assert not empty.any()
    trial.act(np.ones(5))
    first = np.asarray(trial.brain.present).copy()
    trial.act(np.ones(5))
    assert (np.asarray(trial.brain.present) != first)[:13].all()
    trial.begin_episode()
    assert not np.asarray(trial.brain.present).any()
    trial.act(np.ones(5))
    np.testing.assert_array_equal(trial.brain.present, first)


def test_the_last_action_and_reward_are_told():
    trial = Trial("gru_ppo", discrete(), **SMALL)
    action = trial.act(np.full(5, 0.5))
    trial.learn(np.full(5, 0.25), 2.0)
    told = np.zeros(4)
    told[int(action[0])] = 1
    np.testing.assert_allclose(trial.brain.moment, [*[0.25] * 5, *told, np.tanh(2.0)], rtol=1e-6)
    trial.begin_episode()
    assert not np.asarray(trial.brain.moment)[5:].any()
    trial = Trial("gru_ppo", effectors(4, 3), **SMALL)
    action = trial.act(np.full(4, 0.5))
    np.testing.assert_array_equal(np.asarray(trial.brain.moment)[4:7], action)


def test_a_brain_that_does_not_hear_its_reward_is_never_told_it():
    trial = Trial("gru_ppo", discrete(), hears_reward=False, **SMALL)
    trial.act(np.ones(5))
    trial.learn(np.ones(5), 1.0)
    trial.act(np.ones(5))
    told = np.asarray(trial.brain.rollout.observations)[1]
    assert told[-1] == 0
    assert told[5:-1].sum() == 1  # the last action still is
    assert np.asarray(trial.brain.rollout.rewards)[0] == 1


def test_sequences_know_their_first_state_and_where_episodes_begin():
    trial = Trial("gru_ppo", discrete(), **SMALL)
    states = []
    for step in range(12):
        states.append(np.asarray(trial.brain.present).copy())
        trial.act(np.full(5, step / 12))
        trial.learn(np.zeros(5), 0.0, terminated=step == 5)
        if step == 5:
            trial.begin_episode()
    np.testing.assert_array_equal(np.asarray(trial.brain.starts)[:3], np.array(states)[[0, 4, 8]])
    np.testing.assert_array_equal(np.asarray(trial.brain.alive)[:12], [float(n not in {0, 6}) for n in range(12)])


def test_updates_when_the_rollout_is_full_of_whole_sequences():
    trial, numbers = Trial("gru_ppo", discrete(), **{**SMALL, "rollout": 20}), np.random.default_rng(0)
    trial.play(15, numbers)
    assert trial.brain.cell.adam.steps == trial.brain.net.adam.steps == 0
    before = np.asarray(trial.brain.cell.parameters).copy()
    trial.play(1, numbers)
    assert trial.brain.cell.adam.steps == trial.brain.net.adam.steps == 2 * 2
    assert (np.asarray(trial.brain.cell.parameters) != before).any()


def test_padded_units_stay_silent():
    trial = Trial("gru_ppo", discrete(), **SMALL)
    trial.play(64, np.random.default_rng(0))
    assert not np.asarray(trial.brain.present)[13:].any()
    inputs, units, bias, old = torch_gru(trial.brain.cell, trial.brain.cell.parameters)
    for matrix in (inputs, units, bias[:, None], old[:, None]):
        assert not matrix.reshape(-1, 16, matrix.shape[1])[:, 13:].any()
    assert not units[:, 13:].any()
    weights, bias = layer_of(trial.brain.past, 0)
    assert weights[:, :5].all()
    assert not weights[:, 5:].any()
    assert not bias[5:].any()


def test_without_a_shortcut_the_readout_sees_the_cell_alone():
    trial = Trial("gru_ppo", discrete(), **{**SMALL, "shortcut": 0})
    trial.play(64, np.random.default_rng(0))
    assert trial.brain.shown_width == trial.brain.cell.units
    assert not [name for name, _ in trial.brain.learned() if name.startswith("past.")]


def test_a_fresh_unit_remembers_for_up_to_its_span():
    trial = Trial("gru_ppo", discrete(), units=200, span=50.0)
    keep = np.exp(torch_gru(trial.brain.cell, trial.brain.cell.parameters)[2][200:400].astype(float))
    assert 1 <= keep.min() < 4
    assert 45 < keep.max() <= 50
    assert abs(keep.mean() - 25.5) < 4
