"""The quantum brains: circuit and gradients against PennyLane, shots, and the twin's equal number of parameters."""

import numpy as np
import pennylane as qml
import pytest
import torch
from brain_trial import Mirror, Trial, discrete, effectors, shake

from nematodebench.brains.parts.actor_critic import weigh_stored_steps
from nematodebench.brains.parts.ppo import ppo_gradient
from nematodebench.brains.parts.rollout import gather_rows
from nematodebench.brains.quantum import quantum_vqc
from nematodebench.brains.quantum.circuit import (
    Circuit,
    circuit_backward,
    circuit_forward,
    measure_pairs,
    sample_shots,
    true_parameters,
)
from nematodebench.brains.quantum.quantum_twin import QuantumTwin, hidden_units
from nematodebench.brains.quantum.quantum_vqc import CircuitConfig
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

STORED = ("observations", "chosen", "logp", "advantages", "targets")


def pennylane_circuit(qubits, layers):
    """The circuit of the docstring, by PennyLane: angles [layers + 1, 3, qubits] and inputs [..., qubits]."""

    @qml.qnode(qml.device("default.qubit", wires=qubits), interface="torch", diff_method="backprop")
    def node(angles, x):
        for layer in range(layers + 1):
            for q in range(qubits):
                if layer > 0:
                    qml.RX(angles[layer, 0, q] * x[..., q], wires=q)
                    qml.RZ(angles[layer, 1, q], wires=q)
                qml.RY(angles[layer, 2, q], wires=q)
            if layer < layers:
                for q in range(qubits if qubits > 2 else 1):
                    qml.CZ(wires=[q, (q + 1) % qubits])
        return [qml.expval(qml.PauliZ(q)) for q in range(qubits)]

    return lambda angles, x: torch.stack(node(angles, x), dim=-1)


def table_of(circuit, flat):
    """Parameters or gradients by layer, kind and qubit."""
    shape = circuit.stages, 3, circuit.qubits
    return np.asarray(flat)[: np.prod(shape)].reshape(shape)


def drawn_circuit(qubits, layers, rows, numbers):
    layout = Circuit.lay_out(**Circuit.shape(qubits, layers, rows))
    circuit = Circuit(layout.hyper, layout.ints, np.zeros(layout.memory, np.float32))
    angles = table_of(circuit, circuit.parameters)
    angles[:] = numbers.normal(0, 1, angles.shape)
    angles[0, :2] = 0
    return circuit, angles


@pytest.mark.parametrize(("qubits", "layers", "rows"), [(4, 3, 21), (4, 3, 1), (2, 1, 8), (3, 2, 9), (5, 1, 3)])
def test_expectations_and_gradients_are_pennylanes(qubits, layers, rows):
    numbers = np.random.default_rng(1)
    circuit, angles = drawn_circuit(qubits, layers, rows, numbers)
    x, y = numbers.uniform(-2, 2, (rows, 8)).astype(np.float32), np.zeros((rows, 8), np.float32)
    slopes = numbers.normal(0, 1, (rows, 8)).astype(np.float32)
    exact_angles = torch.tensor(angles.astype(np.float64), requires_grad=True)
    exact_x = torch.tensor(x[:, :qubits].astype(np.float64), requires_grad=True)
    exact = pennylane_circuit(qubits, layers)(exact_angles, exact_x)
    (exact * torch.tensor(slopes[:, :qubits].astype(np.float64))).sum().backward()

    circuit_forward(circuit, x, y)
    circuit_backward(circuit, x, slopes)

    np.testing.assert_allclose(y[:, :qubits], exact.detach().numpy(), atol=2e-6)
    wanted = exact_angles.grad.numpy().copy()
    wanted[0, :2] = 0  # of the first layer only the turns are parameters
    assert (np.abs(wanted).max(axis=(1, 2)) > 1e-2).all()
    np.testing.assert_allclose(table_of(circuit, circuit.gradients), wanted, atol=2e-6 * rows)
    np.testing.assert_allclose(slopes[:, :qubits], exact_x.grad.numpy(), atol=1e-5)


def test_the_state_is_undone_and_stays_normalised():
    numbers = np.random.default_rng(2)
    circuit, _ = drawn_circuit(4, 3, 8, numbers)
    x, y = numbers.uniform(-2, 2, (8, 8)).astype(np.float32), np.zeros((8, 8), np.float32)
    circuit_forward(circuit, x, y)
    amplitudes = np.asarray(circuit.kets[0]).reshape(16, 2, 8)
    np.testing.assert_allclose((amplitudes**2).sum(axis=(0, 1)), 1, atol=1e-5)
    circuit_backward(circuit, x, y)
    amplitudes[0, 0] -= 1
    np.testing.assert_allclose(amplitudes, 0, atol=1e-5)


@pytest.mark.parametrize("body", [discrete(), effectors(outputs=3)])
def test_the_gradient_of_the_whole_brain(body):
    numbers = np.random.default_rng(1)
    trial = Trial("quantum_vqc", body, rollout=50, minibatch=32, entropy=0.05, value_weight=0.7, clip=0.1, shots=20)
    trial.play(49, numbers)
    brain, rollout = trial.brain, trial.brain.rollout
    weigh_stored_steps(brain, np.float32(0.3), brain.gamma, brain.gae_lambda)
    shake(brain.net, numbers, 0.1)
    order = numbers.permutation(49)[:29]
    x = brain.x[:29]
    gather_rows(rollout.observations, order, x)
    quantum_vqc._think(brain, x)
    ppo_gradient(brain, order)
    quantum_vqc._propagate_back(brain, x)

    mirror = Mirror(brain.net)
    before, behind = mirror.parts[:2], mirror.parts[2:]
    angles = torch.tensor(
        table_of(brain.circuit, brain.circuit.parameters).astype(np.float64), requires_grad=True
    )  # fmt: skip
    steps = {name: torch.tensor(np.asarray(getattr(rollout, name), np.float64)[order]) for name in STORED}
    inputs = torch.tanh(steps["observations"] @ before[0] + before[1])[:, :4]
    expectations = pennylane_circuit(4, 3)(angles, inputs)
    outputs = expectations @ behind[0][:4] + behind[1]
    heads, levels = brain.heads.count, brain.heads.levels
    split = torch.distributions.Categorical(logits=outputs[:, : heads * levels].reshape(-1, heads, levels))
    logp, entropy = split.log_prob(steps["chosen"]).sum(1), split.entropy().sum(1)
    ratio = torch.exp(logp - steps["logp"])
    gain = torch.minimum(ratio * steps["advantages"], torch.clamp(ratio, 0.9, 1.1) * steps["advantages"])
    loss = -gain - 0.05 * entropy + 0.7 * (outputs[:, heads * levels] - steps["targets"]) ** 2
    loss.mean().backward()

    mirror.assert_gradients()
    wanted = angles.grad.numpy()
    wanted[0, :2] = 0
    scale = np.abs(wanted).max()
    assert scale > 1e-4
    np.testing.assert_allclose(table_of(brain.circuit, brain.circuit.gradients), wanted, atol=3e-5 * scale)


def test_shots_are_means_of_measurements_around_the_expectation():
    numbers = np.random.default_rng(3)
    circuit, _ = drawn_circuit(4, 3, 1, numbers)
    x, exact = numbers.uniform(-2, 2, (1, 8)).astype(np.float32), np.zeros((1, 8), np.float32)
    circuit_forward(circuit, x, exact)
    rng = np.zeros(RNG_WORDS, np.uint64)
    set_stream(rng, np.uint64(5), STREAM_BRAIN, 0, 0)
    found = []
    for _ in range(2000):
        y = np.zeros((1, 8), np.float32)
        sample_shots(circuit, rng, 10, y)
        found.append(y[0, :4])
    counts = (np.array(found) + 1) * 5
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-5)
    spread = np.sqrt((1 - exact[0, :4] ** 2) / 10)
    np.testing.assert_allclose(np.std(found, axis=0), spread, rtol=0.1)
    np.testing.assert_allclose(np.mean(found, axis=0), exact[0, :4], atol=5 * spread.max() / np.sqrt(2000))


def acted(shots, seed, steps=40):
    """A brain that has acted, with a readout strong enough for its policy to be far from uniform."""
    trial = Trial("quantum_vqc", discrete(), seed=1, shots=shots, rollout=50)
    shake(trial.brain.net, np.random.default_rng(4), 1.0)
    set_stream(trial.rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
    for _ in range(steps):
        trial.act(np.full(5, 0.4))
        trial.learn(np.full(5, 0.4), 0.1)
    return trial.brain.rollout


def test_actions_by_shots_vary_more_than_the_exact_policy():
    shares = {}
    for shots in (0, 1):
        chosen = np.concatenate([np.asarray(acted(shots, seed).chosen)[:40, 0] for seed in range(25)])
        shares[shots] = np.bincount(chosen.astype(int), minlength=4) / chosen.size
    assert np.abs(shares[0] - shares[1]).max() > 0.05


def test_what_is_learned_from_shots_is_exact():
    """The value, and the chance of the action by the exact policy: with that of ten shots an update ends at once."""
    exact, noisy = acted(0, 1), acted(10, 2)
    np.testing.assert_array_equal(np.asarray(noisy.values)[:40], np.asarray(exact.values)[:40])
    chances = {}
    for rollout in (exact, noisy):
        for action, logp in zip(np.asarray(rollout.chosen)[:40, 0], np.asarray(rollout.logp)[:40], strict=True):
            chances.setdefault(int(action), []).append(float(logp))
    for logp in chances.values():
        np.testing.assert_allclose(logp, logp[0], atol=2e-6)


def test_circuit_and_twin_have_equally_many_parameters():
    trial = Trial("quantum_vqc", discrete())
    circuit = dict(trial.brain.circuit.learned())
    ours = sum(circuit[name].size for name in ("scales", "twists", "turns"))
    twin = dict(Trial("quantum_twin", discrete()).brain.net.learned())
    theirs = sum(twin[f"{kind}_{layer}"].size for kind in ("weights", "bias") for layer in (1, 2))
    assert ours == theirs == true_parameters(4, 3) == 40
    whole = dict(trial.brain.net.learned())
    for kind in ("weights", "bias"):
        assert whole[f"{kind}_0"].shape == twin[f"{kind}_0"].shape
        assert whole[f"{kind}_1"].shape == twin[f"{kind}_3"].shape


@pytest.mark.parametrize(("qubits", "layers"), [(2, 1), (3, 2), (6, 4), (8, 8)])
def test_the_twin_is_as_near_as_units_allow(qubits, layers):
    units = hidden_units(qubits, layers)
    shape = QuantumTwin.sizes(CircuitConfig(qubits=qubits, layers=layers), discrete())["net"]
    assert shape["outputs"][:3] == [qubits, units, qubits]
    count = units * (2 * qubits + 1) + qubits
    assert abs(count - true_parameters(qubits, layers)) <= (2 * qubits + 1) / 2


def test_the_reservoirs_features_are_pennylanes_expectations():
    trial, numbers = Trial("quantum_reservoir", discrete(), qubits=4, layers=2), np.random.default_rng(4)
    brain, node = trial.brain, pennylane_circuit(4, 2)
    angles = torch.tensor(table_of(brain.circuit, brain.circuit.parameters).astype(np.float64))
    last = np.zeros(4)
    for _ in range(3):
        obs = numbers.uniform(-1, 1, 5)
        if not brain.readout.fresh:
            trial.act(obs)
        inputs = obs.astype(np.float32) @ np.asarray(brain.input_weights) + last @ np.asarray(brain.feedback_weights)
        last = node(angles, torch.tensor(inputs)).numpy()
        np.testing.assert_allclose(brain.readout.phi[:4], last, atol=1e-5)
        brain.readout.fresh = 0  # hear the next one when acting: every observation is heard once
    assert np.abs(last).max() > 0.05
    trial.begin_episode()
    assert not np.any(np.asarray(brain.last))


def test_expectations_of_pairs():
    numbers = np.random.default_rng(5)
    circuit, _ = drawn_circuit(4, 3, 1, numbers)
    circuit_forward(circuit, numbers.uniform(-2, 2, (1, 8)).astype(np.float32), np.zeros((1, 8), np.float32))
    amplitudes = np.asarray(circuit.kets[0]).reshape(16, 2, 8)[:, :, 0]
    chance, signs = (amplitudes**2).sum(axis=1), 1 - 2 * (np.arange(16)[:, None] >> np.arange(4) & 1)
    found = np.zeros(6, np.float32)
    measure_pairs(circuit, found)
    wanted = [(chance * signs[:, q] * signs[:, p]).sum() for q in range(4) for p in range(q)]
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert np.abs(wanted).max() > 0.1


def test_only_the_readout_of_the_reservoir_learns():
    trial = Trial("quantum_reservoir", discrete(), qubits=4, layers=2)
    before = dict(trial.brain.learned())
    fixed = {
        name: value.copy() for name, value in before.items() if name.startswith(("circuit.", "input_", "feedback_"))
    }
    trial.play(40, np.random.default_rng(0))
    after = dict(trial.brain.learned())
    assert all(np.array_equal(value, after[name]) for name, value in fixed.items())
    assert np.any(after["readout.weights"])
