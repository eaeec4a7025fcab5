"""The reservoirs: their equations against NumPy, what their parameters do, and that they learn."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors, forage
from reservoir_trial import control_task, dense, run, spikes_of, trace_of

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import get_brain
from nematodebench.worlds.swarm.forage import Forage

RESERVOIRS = ["homeostatic_reservoir", "echo_state", "sorn"]
LEARNERS = RESERVOIRS[1:]
CHANGES = {
    "homeostatic_reservoir": {
        "nodes": 60, "amplitude": 3.0, "leak": 0.5, "lr_w": 0.5, "lr_t": 0.1, "density": 0.3, "readout_density": 0.3,
        "plastic": False, "blind": True,
    },
    "echo_state": {
        "nodes": 60, "spectral_radius": 0.5, "input_scale": 2.0, "bias_scale": 1.0, "leak": 0.9, "density": 0.3,
        "input_density": 0.2, "lr_policy": 0.1, "lr_value": 0.2, "gamma": 0.5, "trace": 0.5, "entropy": 0.1,
        "levels": 3,
    },
    "sorn": {
        "nodes": 60, "amplitude": 3.0, "density": 0.3, "input_density": 0.3, "inhibition_density": 0.5,
        "target_rate": 0.3, "lr_stdp": 0.1, "lr_ip": 0.1, "smoothing": 1.0, "plastic": False, "lr_policy": 0.1,
        "lr_value": 0.2, "gamma": 0.5, "trace": 0.5, "entropy": 0.1, "levels": 3,
    },
}  # fmt: skip

# What all reservoirs share.


@pytest.mark.parametrize(("low", "high", "value", "rates"), [
    (0, 1, 0.25, [0.25]), (2, 6, 3, [0.25]), (0, 1, 7, [1]), (0, 1, -7, [0]), (0, 1, np.nan, [0]), (3, 3, 3, [0]),
    (-1, 1, 0.5, [0.5, 0]), (-2, 1, -0.5, [0, 0.25]), (-2, 4, 4, [1, 0]), (-2, 0, -2, [0, 1]), (-1, 1, np.nan, [0, 0]),
])  # fmt: skip
def test_inputs_are_coded_as_rates(low, high, value, rates):
    trial = Trial("homeostatic_reservoir", Interface(("x",), (float(low),), (float(high),), 0, 1))
    trial.act([value])
    np.testing.assert_allclose(trial.brain.code.rates, rates)


@pytest.mark.parametrize("density", [0.001, 0.1, 0.333, 1.0])
def test_listed_connections_are_distinct_and_as_many_as_asked_for(density):
    trial = Trial("echo_state", effectors(), nodes=50, density=density, input_density=density)
    for links in (trial.brain.inputs, trial.brain.recurrent):
        assert (dense(links).sum(1) == max(1, round(density * 50))).all()


def test_listed_connections_never_lead_to_oneself():
    assert not np.diag(dense(Trial("sorn", effectors(), nodes=50, density=1.0).brain.excite)).any()


def test_every_listed_connection_is_equally_likely():
    trials = (Trial("sorn", effectors(), seed, nodes=20, density=0.1) for seed in range(600))
    counts = sum(dense(trial.brain.excite) for trial in trials)
    off = counts[~np.eye(20, dtype=bool)]
    expected = 600 * 2 / 19
    assert np.abs(off - expected).max() < 5 * np.sqrt(expected)
    assert off.std() == pytest.approx(np.sqrt(expected * 17 / 19), rel=0.15)


def test_liveness_counts_what_happened():
    trial, numbers = Trial("homeostatic_reservoir", effectors(6, 2), nodes=40), np.random.default_rng(0)
    rates = []
    for _ in range(500):
        trial.act(numbers.uniform(0, 1, 6) * (numbers.uniform() < 0.3))
        rates.append(trial.brain.spikes.count / 40)
    found = trial.describe()
    assert found["mean_rate"] == pytest.approx(np.mean(rates))
    assert found["rate_variance"] == pytest.approx(np.var(rates))
    assert found["silent"] == pytest.approx(np.mean(np.array(rates) == 0))
    assert found["silent"] > 0
    assert found["saturated"] == pytest.approx(np.mean(np.array(rates) >= 0.9))


def test_a_saturated_network_is_called_saturated():
    _, trial = trace_of("sorn", amplitude=1000.0, input_density=1.0)
    assert trial.describe()["saturated"] > 0.9


@pytest.mark.parametrize("name", RESERVOIRS)
def test_descriptors_before_the_first_step_are_numbers(name):
    trial = Trial(name, effectors())
    assert set(trial.describe()) == {"mean_rate", "rate_variance", "silent", "saturated"}


@pytest.mark.parametrize(("name", "parameter"), [(name, key) for name in RESERVOIRS for key in CHANGES[name]])
def test_every_parameter_changes_behaviour(name, parameter):
    before, _ = trace_of(name)
    after, _ = trace_of(name, **{parameter: CHANGES[name][parameter]})
    assert (before != after).any()


@pytest.mark.parametrize("name", RESERVOIRS)
def test_all_parameters_are_covered(name):
    assert set(CHANGES[name]) == set(get_brain(name).config.model_fields)


@pytest.mark.parametrize("name", RESERVOIRS)
@pytest.mark.parametrize("body", [discrete(), effectors(6, 3)], ids=["discrete", "effectors"])
def test_long_runs_stay_finite_and_legal(name, body):
    trial, numbers = Trial(name, body), np.random.default_rng(0)
    absent = np.isnan(trial.mem)
    assert absent.any() == (name == "homeostatic_reservoir")
    for _ in range(40):
        trial.play(500, numbers, end_every=97)
        legal = (trial.action >= 0) & (trial.action <= (1 if body.effectors else body.choices - 1))
        assert legal.all()
        assert np.isfinite(trial.mem[~absent]).all()
        assert np.isnan(trial.mem[absent]).all()


@pytest.mark.parametrize("name", RESERVOIRS)
def test_each_of_eight_agents_has_its_own_brain(name):
    result = run(control_task(Forage(), 300, "forage_score"), name, seed=1)
    assert result.failure is None
    assert result.steps == 300 + 1000
    assert 0 < result.descriptors["mean_rate"] < 1


@pytest.mark.parametrize("name", RESERVOIRS)
def test_a_run_repeats_bit_for_bit(name):
    (first, one), (second, other) = trace_of(name), trace_of(name)
    assert first.tobytes() == second.tobytes()
    assert one.mem.tobytes() == other.mem.tobytes()
    assert one.ints.tobytes() == other.ints.tobytes()


# The readout that learns from reward.


@pytest.mark.parametrize("name", LEARNERS)
def test_learns_to_forage(name):
    successes, _ = forage(name, episodes=400)
    assert successes[-100:].mean() >= 0.9


@pytest.mark.parametrize(("terminated", "followed"), [(False, 1.0), (True, 0.0)])
def test_readout_follows_its_equations(terminated, followed):
    trial, numbers = Trial("echo_state", discrete(), nodes=20), np.random.default_rng(0)
    trial.play(30, numbers, end_every=1000)
    readout = trial.brain.readout
    levels, gamma = readout.heads.levels, readout.gamma
    w, z, phi = (array.astype(float) for array in (readout.weights, readout.traces, readout.phi))
    trial.act(np.zeros(5))
    surprise2, length = float(readout.mean_square_surprise), float(readout.mean_square_length)
    p = np.exp(phi @ w[:, :levels])
    p /= p.sum()
    factor = np.append(np.eye(levels)[int(trial.action[0, 0])] - p, 1.0)
    z[:, : levels + 1] = gamma * readout.trace * z[:, : levels + 1] + np.outer(phi, factor)
    value = phi @ w[:, levels]
    bonus = -p * (np.log(p) - p @ np.log(p))
    w[:, :levels] += readout.lr_policy * readout.entropy / length * np.outer(phi, bonus)
    np.testing.assert_allclose(readout.traces, z, atol=1e-5)
    trial.learn(numbers.uniform(-1, 1, 5), 1.5, terminated=terminated)
    phi = readout.phi.astype(float)
    d = 1.5 + gamma * followed * (phi @ w[:, levels]) - value
    surprise2 += 0.001 * (d * d - surprise2)
    w[:, :levels] += readout.lr_policy / length * d / np.sqrt(surprise2) * z[:, :levels]
    w[:, levels] += readout.lr_value / length * d * z[:, levels]
    np.testing.assert_allclose(readout.weights, w, atol=1e-5)


@pytest.mark.parametrize("name", LEARNERS)
def test_acting_twice_hears_twice_and_learning_hears_ahead(name):
    one, other = Trial(name, effectors()), Trial(name, effectors())
    for trial in (one, other):
        trial.act(np.full(4, 0.2))
    one.act(np.full(4, 0.7))
    other.learn(np.full(4, 0.7), 0.0)
    other.act(np.full(4, 0.7))
    assert one.brain.liveness.ticks == other.brain.liveness.ticks == 2


@pytest.mark.parametrize("name", LEARNERS)
def test_broken_weights_give_an_illegal_action(name):
    trial = Trial(name, discrete())
    trial.brain.readout.weights[:] = np.nan
    assert np.isnan(trial.act(np.ones(5))[0])


# The echo state network.


@pytest.mark.parametrize(("nodes", "radius", "density"), [(100, 0.9, 0.1), (40, 0.5, 0.5), (30, 1.2, 1.0)])
def test_recurrent_weights_have_the_spectral_radius_asked_for(nodes, radius, density):
    for seed in range(5):
        trial = Trial("echo_state", effectors(), seed, nodes=nodes, spectral_radius=radius, density=density)
        eigenvalues = np.linalg.eigvals(dense(trial.brain.recurrent, weighted=True))
        assert np.abs(eigenvalues).max() == pytest.approx(radius, rel=0.05)


def test_echo_state_follows_its_equations():
    trial, numbers = Trial("echo_state", effectors(6, 2)), np.random.default_rng(0)
    n, leak = 100, trial.brain.leak
    w, inputs = dense(trial.brain.recurrent, weighted=True), dense(trial.brain.inputs, weighted=True)
    bias, x = trial.brain.bias.astype(float), np.zeros(n)
    for _ in range(50):
        rates = numbers.uniform(0, 1, 6).astype(np.float32)
        x = (1 - leak) * x + leak * np.tanh(x @ w + rates @ inputs + bias)
        trial.act(rates)
        seen = trial.brain.readout.phi
        np.testing.assert_allclose(seen[:n], x, atol=1e-5)
        np.testing.assert_allclose(seen[n:], [*rates, 1])


# The self-organising network.


def sorn_weights(trial):
    """Excitatory weights as they act: divided by the sum that comes in to a unit."""
    return dense(trial.brain.excite, weighted=True) / np.asarray(trial.brain.sums)[: trial.brain.nodes]


def test_sorn_follows_its_equations():
    trial, numbers = Trial("sorn", effectors(6, 2), lr_stdp=0.01, lr_ip=0.02), np.random.default_rng(0)
    memory = trial.brain
    n, m = memory.nodes, memory.inhibitory
    alert, inhibit = dense(memory.alert, weighted=True), dense(memory.inhibit, weighted=True)
    inputs, mask, limit = dense(memory.inputs), dense(memory.excite), memory.alarm_threshold
    x, y, compared = np.zeros(n), np.zeros(m), 0
    for _ in range(300):
        rates, w = numbers.uniform(0, 1, 6).astype(np.float32), sorn_weights(trial)
        threshold = memory.threshold.astype(float)
        drive, alarm = x @ w - y @ inhibit + rates @ inputs, x @ alert
        trial.act(rates)
        after, y_after = memory.now[:n].astype(float), spikes_of(memory.inhibitory_spikes)
        if np.abs(drive - threshold).min() > 1e-5 and np.abs(alarm - limit).min() > 1e-5:
            np.testing.assert_array_equal(after, drive >= threshold)
            np.testing.assert_array_equal(y_after, alarm >= limit)
            compared += 1
        w = np.maximum(w + 0.01 * mask * np.outer(x, after), 0)
        w = np.maximum(w - 0.01 * mask * np.outer(after, x), 0)
        total = w.sum(0)
        np.testing.assert_allclose(sorn_weights(trial), w / np.where(total > 0, total, 1), atol=1e-5)
        np.testing.assert_allclose(memory.threshold, threshold + 0.02 * (after - 0.1), atol=1e-5)
        x, y = after, y_after
    assert compared > 100


def test_incoming_weights_always_add_up_to_one():
    _, trial = trace_of("sorn", steps=2000, lr_stdp=0.01)
    total = sorn_weights(trial).sum(0)
    reached = dense(trial.brain.excite).any(0)
    np.testing.assert_allclose(total[reached], 1, atol=1e-5)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_intrinsic_plasticity_reaches_the_target_rate(rate):
    trial, numbers = Trial("sorn", effectors(6, 2), target_rate=rate, lr_ip=0.01), np.random.default_rng(0)
    for _ in range(2):
        liveness = trial.brain.liveness
        liveness.ticks = liveness.active = liveness.squares = liveness.silent = liveness.saturated = 0
        for _ in range(3000):
            trial.act(numbers.uniform(0, 1, 6))
    assert trial.describe()["mean_rate"] == pytest.approx(rate, rel=0.1)
