"""Brain `eprop`: its eligibilities and its changes against torch's autograd, and what it forgets and keeps."""

import numpy as np
import pytest
import torch
from brain_trial import Trial, discrete, effectors

CONFIG = {"neurons": 11, "ticks": 2, "interval": 1000, "dampening": 0.7, "longest": 30.0, "adaptation": 0.4}
BODIES = [discrete(), effectors(outputs=3)]


class Spike(torch.autograd.Function):
    """A threshold whose derivative is the triangle of e-prop."""

    @staticmethod
    def forward(ctx, above):
        ctx.save_for_backward(above)
        return (above > 0).double()

    @staticmethod
    def backward(ctx, gradient):
        (above,) = ctx.saved_tensors
        return gradient * 0.7 * torch.clamp(1 - above.abs(), min=0)


class Mirror:
    """The same net in torch. Spikes on their way to neurons, and the reset, are cut off from the gradient."""

    def __init__(self, net):
        sources, neurons, outputs = net.sources, net.neurons, net.outputs
        flat = np.asarray(net.weights, dtype=np.float64)
        self.inner = torch.tensor(flat[: net.connections].reshape(sources, neurons), requires_grad=True)
        self.outer = torch.tensor(flat[net.connections :].reshape(neurons + 1, outputs), requires_grad=True)
        self.rho, self.beta = (torch.tensor(np.asarray(v, dtype=np.float64)) for v in (net.kept, net.weakening))
        self.decay, self.smoothing = net.decay, net.smoothing
        self.v = self.a = self.z = self.r = torch.zeros(neurons, dtype=torch.float64)
        self.spikes = 0.0

    def tick(self, x):
        before = self.z.detach()
        self.a = self.rho * self.a + self.z
        self.v = self.decay * self.v + torch.cat([x, before]) @ self.inner - before
        self.z = Spike.apply(self.v - 1 - self.beta * self.a)
        self.r = self.smoothing * self.r + self.z
        self.spikes += self.z.sum().item()

    def step(self, observation, ticks=2):
        x = torch.tensor([*observation, 1.0], dtype=torch.float64)
        for _ in range(ticks):
            self.tick(x)
        return self.r @ self.outer[:-1] + self.outer[-1]


def lively(trial):
    """Readout weights large enough that every learning signal counts."""
    numbers, net = np.random.default_rng(5), trial.brain.net
    net.weights[net.connections :] = numbers.normal(0, 0.5, net.parameters - net.connections)


def gradients(brain):
    """Of the source weights and of the readout, as the brain has collected them."""
    net, flat = brain.net, np.asarray(brain.gradients, dtype=np.float64)
    return flat[: net.connections].reshape(net.sources, -1), flat[net.connections :].reshape(net.neurons + 1, -1)


@pytest.mark.parametrize("body", BODIES, ids=["choices", "effectors"])
@pytest.mark.parametrize("adaptive", [0.0, 0.5, 1.0])
def test_collected_changes_are_those_of_autograd(body, adaptive):
    """Surprise x the sum of earlier derivatives, faded, and entropy at once; the rate is looked at elsewhere."""
    config = {**CONFIG, "adaptive": adaptive, "entropy": 0.05, "rate_cost": 0.0, "gamma": 0.9, "trace": 0.8}
    trial = Trial("eprop", body, **config)
    lively(trial)
    mirror, numbers = Mirror(trial.brain.net), np.random.default_rng(3)
    heads, levels = trial.brain.heads.count, trial.brain.heads.levels
    seen, kept, objective = numbers.uniform(-1, 1, body.inputs).astype(np.float32), [], 0.0
    outputs = mirror.step(seen)
    for step in range(25):
        trial.act(seen)
        split = torch.distributions.Categorical(logits=outputs[:-1].reshape(heads, levels))
        chosen = torch.tensor(np.asarray(trial.brain.chosen[:heads], dtype=np.int64))
        # What is followed is the derivative of log probability + value_weight x value, at the step it belongs to.
        kept.append(split.log_prob(chosen).sum() + 0.5 * outputs[-1])
        objective = objective + 0.05 * split.entropy().sum()
        value, seen = outputs[-1].item(), numbers.uniform(-1, 1, body.inputs).astype(np.float32)
        reward = float(numbers.normal())
        outputs = mirror.step(seen)
        trial.learn(seen, reward)
        spread = max(np.sqrt(float(trial.brain.gain_square)), 1e-3)
        surprise = reward / spread + 0.9 * outputs[-1].item() - value
        faded = sum((0.9 * 0.8) ** (step - k) * one for k, one in enumerate(kept))
        objective = objective + surprise * faded
    (-objective).backward()
    inner, outer = gradients(trial.brain)
    assert mirror.spikes > 100
    scale = np.abs(inner).max()
    assert scale > 0.1
    np.testing.assert_allclose(inner, mirror.inner.grad.numpy(), atol=2e-4 * scale)
    np.testing.assert_allclose(outer, mirror.outer.grad.numpy(), atol=2e-4 * np.abs(outer).max())


def test_the_rate_is_a_signal_of_its_own():
    trial = Trial("eprop", discrete(), **{**CONFIG, "entropy": 0.0, "rate_cost": 2.0, "target_rate": 0.2})
    trial.act(np.full(5, 0.5))
    net = trial.brain.net
    wanted = 2.0 * (0.2 - np.asarray(net.rates)) * np.asarray(net.eligibility)
    np.testing.assert_allclose(gradients(trial.brain)[0], -wanted, atol=1e-6)
    assert np.abs(wanted).max() > 0.01


def test_an_episode_begins_with_no_activity_and_no_credit():
    trial = Trial("eprop", discrete(), **CONFIG)
    trial.play(20, np.random.default_rng(0))
    net = trial.brain.net
    assert np.abs(net.eligibility).max() > 0 and np.abs(trial.brain.credit).max() > 0
    weights = np.array(net.weights)
    trial.begin_episode()
    for field in (net.potential, net.fatigue, net.spikes, net.recent, net.fast, net.slow, net.eligibility):
        assert not np.any(field)
    assert not np.any(trial.brain.credit)
    assert np.array_equal(weights, net.weights)


def test_weights_change_once_in_an_interval():
    trial = Trial("eprop", discrete(), **{**CONFIG, "interval": 7})
    weights, changed = np.array(trial.brain.net.weights), []
    for step in range(1, 22):
        trial.act(np.full(5, 0.1 * (step % 7)))
        trial.learn(np.full(5, 0.1), 1.0)
        if not np.array_equal(weights, trial.brain.net.weights):
            changed.append(step)
            weights = np.array(trial.brain.net.weights)
    assert changed == [7, 14, 21]
    assert trial.brain.adam.steps == 3


def test_only_what_is_not_over_has_a_future():
    ended, cut = (Trial("eprop", discrete(), **CONFIG) for _ in range(2))
    for trial, flags in ((ended, (True, False)), (cut, (False, True))):
        lively(trial)
        trial.act(np.full(5, 0.5))
        trial.learn(np.full(5, -0.5), 1.0, *flags)
    assert np.abs(np.asarray(ended.brain.gradients) - np.asarray(cut.brain.gradients)).max() > 1e-3
    assert (ended.brain.ready, cut.brain.ready) == (0, 1)


def test_time_constants_lie_between_the_shortest_and_the_longest():
    net = Trial("eprop", discrete(), neurons=16, adaptive=0.5, shortest=4.0, longest=50.0).brain.net
    times = -1 / np.log(np.asarray(net.kept[:8], dtype=np.float64))
    assert times == pytest.approx(np.geomspace(4, 50, 8), rel=1e-4)
    assert not np.any(net.weakening[8:]) and not np.any(net.kept[8:])


def test_what_it_costs_is_told():
    trial = Trial("eprop", discrete(), **CONFIG)
    trial.act(np.full(5, 0.5))
    inputs, recurrent, readout = trial.kind.synapses(trial.kind.config(**CONFIG), trial.brain)
    assert (inputs.parameters, recurrent.parameters, readout.parameters) == (6 * 11, 11 * 11, 12 * 5)
    assert inputs.parameters + recurrent.parameters + readout.parameters == trial.brain.net.parameters
    assert 0 < recurrent.active()[0] <= recurrent.active()[1] == 22
