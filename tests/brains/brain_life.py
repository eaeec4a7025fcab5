"""What the tests of brains share: bodies, a brain driven by hand, a run on the small foraging task."""

import numpy as np
import torch

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import get_brain
from nematodebench.engine import loop
from nematodebench.kernels.abi import BRAIN, WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.kernels.mlp import refresh
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.worlds.worm.foraging import Foraging

torch.set_num_threads(1)

GRADIENT = ("odour_magnitude", "odour_sine", "odour_cosine", "satiety", "touch")
MOVES = ("forward", "left", "right", "stay")


def discrete(sensors=GRADIENT, names=MOVES):
    return Interface(sensors, (-1.0,) * len(sensors), (1.0,) * len(sensors), len(names), 0, names)


def effectors(inputs=4, outputs=3):
    return Interface(tuple(f"ray_{n}" for n in range(inputs)), (0.0,) * inputs, (1.0,) * inputs, 0, outputs)


class Life:
    """A brain in a body, one call at a time."""

    def __init__(self, name, body, seed=1, **config):
        self.brain, self.body = get_brain(name), body
        layout = self.brain.layout(self.brain.config(**config), body)
        self.hyper, self.ints, self.mem = layout.hyper.copy(), layout.ints.copy(), np.zeros(layout.memory, np.float32)
        self.rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        set_stream(self.rng, np.uint64(seed), STREAM_BRAIN, 0, 0)
        self.obs = np.zeros((1, body.inputs), dtype=np.float32)
        self.action, self.out = np.zeros((1, body.action_width), dtype=np.float32), np.zeros(3)
        self._call(self.brain.init)
        self._call(self.brain.begin_episode)

    def _call(self, part):
        part(self.hyper, self.ints, self.mem, self.rng, self.obs, self.action, self.out)

    def act(self, observation):
        self.obs[0] = observation
        self._call(self.brain.act)
        return self.action[0].copy()

    def learn(self, observation, reward, terminated=False, truncated=False):
        self.obs[0] = observation
        self.out[:] = terminated, truncated, reward
        self._call(self.brain.learn)

    def live(self, steps, numbers, end_every=11):
        """Random observations and rewards; every few steps the life ends, by turns terminated and truncated."""
        for step in range(1, steps + 1):
            self.act(numbers.uniform(-1, 1, self.body.inputs))
            ended = step % end_every == 0
            early = ended and step // end_every % 2 == 0
            observation = numbers.uniform(-1, 1, self.body.inputs)
            self.learn(observation, numbers.normal(), terminated=early, truncated=ended and not early)


class Mirror:
    """The network at word ``base`` of a life's ints, in torch's float64."""

    def __init__(self, life, base):
        self.life, self.base, self.parts = life, base, []
        for layer in range(life.ints[base]):
            n_in, n_out, _, weight, bias = life.ints[base + 10 + 8 * layer : base + 15 + 8 * layer]
            w = life.mem[weight : weight + n_in * n_out].reshape(n_in, n_out)
            for part in (w, life.mem[bias : bias + n_out]):
                self.parts.append(torch.tensor(part.astype(np.float64), requires_grad=True))

    def __call__(self, x):
        for n in range(0, len(self.parts), 2):
            x = x @ self.parts[n] + self.parts[n + 1]
            x = torch.tanh(x) if n + 2 < len(self.parts) else x
        return x

    def assert_gradients(self):
        """The gradients in the life's memory are those torch found."""
        exact = np.concatenate([part.grad.numpy().ravel() for part in self.parts])
        first = self.life.ints[self.base + 4]
        ours = self.life.mem[first : first + exact.size]
        assert np.abs(exact).max() > 1e-4
        np.testing.assert_allclose(ours, exact, rtol=0, atol=3e-5 * np.abs(exact).max())


def shake(life, base, numbers, size):
    """Moves all true weights a little, so that no two networks or policies compared are the same."""
    for layer in range(life.ints[base]):
        n_in, n_out, true_out, weight, _ = life.ints[base + 10 + 8 * layer : base + 15 + 8 * layer]
        true_in = n_in if layer == 0 else life.ints[base + 10 + 8 * (layer - 1) + 2]
        w = life.mem[weight : weight + n_in * n_out].reshape(n_in, n_out)
        w[:true_in, :true_out] += size * numbers.standard_normal((true_in, true_out)).astype(np.float32)
    refresh(life.mem, life.ints, base)


def forage(name, episodes=500, seed=1, **config):
    """Success of every episode of one run on the small foraging task, and the life that lived it."""
    world = Foraging()
    sensors = world.sensors
    names = world.actions.names
    body = Interface(
        tuple(s.name for s in sensors),
        tuple(s.low for s in sensors),
        tuple(s.high for s in sensors),
        len(names),
        0,
        names,
    )
    life = Life(name, body, seed, **config)
    functions = [life.brain.begin_episode, life.brain.act, life.brain.learn]
    for function in functions:
        first_class(function, BRAIN)
    for function in (world.reset, world.step):
        first_class(function, WORLD)
    records = np.zeros((episodes, 4 + len(world.metrics)))
    plan, control = np.array([episodes, 0, 0, len(names)], dtype=np.int64), np.zeros(4, dtype=np.int64)
    code = loop.compiled_run_phase()(
        world.reset, world.step, *functions, world.pack(), np.zeros(world.state_size), np.zeros(RNG_WORDS, np.uint64),
        life.action, life.obs, np.zeros(world.out_size), life.hyper, life.ints[None], life.mem[None], life.rng[None],
        life.out[None], np.uint64(seed), plan, control, records,
    )  # fmt: skip
    assert code == episodes
    return records[:, 4], life
