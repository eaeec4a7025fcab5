"""What the tests of brains share: bodies, a brain driven by hand, a run on the small foraging task."""

import numpy as np
import torch

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import get_brain
from nematodebench.engine.agents import Agents
from nematodebench.kernels.abi import BRAIN, WORLD, Feedback
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.mlp import scale_outputs
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.tasks.base import Phase
from nematodebench.worlds.worm.foraging import Foraging

torch.set_num_threads(1)

GRADIENT = ("odour_magnitude", "odour_sine", "odour_cosine", "satiety", "touch")
MOVES = ("forward", "left", "right", "stay")


def discrete(sensors=GRADIENT, names=MOVES):
    return Interface(sensors, (-1.0,) * len(sensors), (1.0,) * len(sensors), len(names), 0, names)


def effectors(inputs=4, outputs=3):
    return Interface(tuple(f"ray_{n}" for n in range(inputs)), (0.0,) * inputs, (1.0,) * inputs, 0, outputs)


class Trial:
    """A brain in a body, one call at a time; ``brain`` is what it remembers, by name."""

    def __init__(self, name, body, seed=1, **config):
        self.kind, self.body = get_brain(name), body
        layout = self.kind.layout(self.kind.config(**config), body)
        self.hyper, self.ints, self.mem = layout.hyper.copy(), layout.ints.copy(), np.zeros(layout.memory, np.float32)
        self.brain = self.kind.memory(self.hyper, self.ints, self.mem)
        self.rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        set_stream(self.rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
        self.obs = np.zeros((1, body.inputs), dtype=np.float32)
        self.action = np.zeros((1, body.action_width), dtype=np.float32)
        self.out = np.zeros(Feedback.count())
        self.outcome = Feedback(self.out)
        self._call(self.kind.init)
        self.begin_episode()

    def begin_episode(self):
        self._call(self.kind.begin_episode)

    def _call(self, function):
        function(self.hyper, self.ints, self.mem, self.rng, self.obs, self.action, self.out)

    def act(self, observation):
        self.obs[0] = observation
        self._call(self.kind.act)
        return self.action[0].copy()

    def learn(self, observation, reward, terminated=False, truncated=False):
        self.obs[0] = observation
        self.outcome.terminated, self.outcome.truncated, self.outcome.reward = terminated, truncated, reward
        self._call(self.kind.learn)

    def play(self, steps, numbers, end_every=11):
        """Random observations and rewards; every few steps the episode ends, by turns terminated and truncated."""
        for step in range(1, steps + 1):
            self.act(numbers.uniform(-1, 1, self.body.inputs))
            ended = step % end_every == 0
            early = ended and step // end_every % 2 == 0
            observation = numbers.uniform(-1, 1, self.body.inputs)
            self.learn(observation, numbers.normal(), terminated=early, truncated=ended and not early)

    def describe(self):
        return self.kind.describe(None, self.brain)


class Mirror:
    """A network of named memory, in torch's float64."""

    def __init__(self, net):
        self.net, self.parts = net, []
        for layer in range(net.layers):
            for part in layer_of(net, layer):
                self.parts.append(torch.tensor(part.astype(np.float64), requires_grad=True))

    def __call__(self, x):
        for n in range(0, len(self.parts), 2):
            x = x @ self.parts[n] + self.parts[n + 1]
            x = torch.tanh(x) if n + 2 < len(self.parts) else x
        return x

    def assert_gradients(self):
        """The gradients in the network's memory are those torch found."""
        exact = np.concatenate([part.grad.numpy().ravel() for part in self.parts])
        ours = np.asarray(self.net.gradients)[: exact.size]
        assert np.abs(exact).max() > 1e-4
        np.testing.assert_allclose(ours, exact, rtol=0, atol=3e-5 * np.abs(exact).max())


def layer_of(net, layer):
    """Weights and biases of a layer, padding included."""
    n_in, width, start = net.inputs[layer], net.widths[layer], net.first_weight[layer]
    flat = np.asarray(net.parameters)[start : start + (n_in + 1) * width].reshape(n_in + 1, width)
    return flat[:n_in], flat[n_in]


def shake(net, numbers, size):
    """Moves all true weights a little, so that no two networks or policies compared are the same."""
    for layer in range(net.layers):
        true_in = net.inputs[0] if layer == 0 else net.outputs[layer - 1]
        true_out = net.outputs[layer]
        weights, _ = layer_of(net, layer)
        weights[:true_in, :true_out] += size * numbers.standard_normal((true_in, true_out)).astype(np.float32)
    scale_outputs(net, 0, 1.0)  # changes no weight, but renews the transposed ones


def forage(name, episodes=500, seed=1, **config):
    """Success of every episode of one run on the small foraging task, and the brain with its arrays."""
    world, brain = Foraging(), get_brain(name)
    sensors, names = world.sensors, world.actions.names
    low, high = tuple(s.low for s in sensors), tuple(s.high for s in sensors)
    body = Interface(tuple(s.name for s in sensors), low, high, len(names), 0, names)
    for function in (brain.init, brain.begin_episode, brain.act, brain.learn):
        first_class(function, BRAIN)
    for function in (world.reset, world.step):
        first_class(function, WORLD)
    agents = Agents(brain, brain.config(**config), body, seed, 1)
    phase = Phase("train", world, episodes=episodes)
    code, records = agents.run(phase, 0)
    assert code == episodes
    return records[:, phase.columns.index("success")], agents
