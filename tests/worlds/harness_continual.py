"""Drives worlds of the continual family as a continual run does: 28 inputs, 10 actions, policies as world functions."""

import numpy as np
from numba import types

from nematodebench.kernels.abi import WORLD, world_kernel
from nematodebench.kernels.jit import first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, STREAM_WORLD, randint, set_stream

WIDEST, MOST = 28, 10
PADDING = -7.0


@world_kernel
def null(params, state, rng, action, obs, out):
    action[0, 0] = np.float32(randint(rng, MOST))


@kernel(cached=True)
def _episodes(reset, step, policy, params, state, rng, policy_rng, action, obs, out, seed, low, high, results):
    """Lives through episodes; fills steps, reward and metrics of each; returns the observations out of range."""
    outside = 0
    for episode in range(results.shape[0]):
        set_stream(rng, seed, STREAM_WORLD, episode, 0)
        set_stream(policy_rng, seed, STREAM_EXPLORATION, episode, 0)
        reset(params, state, rng, action, obs, out)
        done = False
        while not done:
            policy(params, state, policy_rng, action, obs, out)
            step(params, state, rng, action, obs, out)
            results[episode, 0] += 1.0
            results[episode, 1] += out[2]
            done = out[0] != 0.0 or out[1] != 0.0
            for n in range(low.size):
                outside += not (obs[0, n] >= low[n] and obs[0, n] <= high[n])
        for n in range(2, results.shape[1]):
            results[episode, n] = out[n + 1]
    return outside


# Typed in full, because a dispatcher as an argument would compile the loop anew for every world and policy.
_W, _f64, _u64, _f32m = types.FunctionType(WORLD), types.float64[::1], types.uint64[::1], types.float32[:, ::1]
_SIGNATURE = types.int64(
    _W, _W, _W, _f64, _f64, _u64, _u64, _f32m, _f32m, _f64, types.uint64, _f64, _f64, types.float64[:, ::1]
)


class Life:
    """A world with its arrays, to be stepped by hand; ``padded`` as in a continual run."""

    def __init__(self, world, seed=0, episode=0, padded=False):
        self.world = world
        self.params = world.pack()
        self.state = np.full(world.state_size, np.nan)
        self.rng = np.zeros(RNG_WORDS, np.uint64)
        self.action = np.zeros((1, 1), np.float32)
        self.obs = np.full((1, WIDEST if padded else len(world.sensors)), PADDING, np.float32)
        self.out = np.full(world.out_size, np.nan)
        self.start(seed, episode)

    def start(self, seed, episode=0):
        """Begins an episode."""
        set_stream(self.rng, np.uint64(seed), STREAM_WORLD, episode, 0)
        self._call(self.world.reset)

    def _call(self, function):
        first_class(function, WORLD)(self.params, self.state, self.rng, self.action, self.obs, self.out)

    def step(self, choice):
        """One step."""
        self.action[0, 0] = choice
        self._call(self.world.step)
        return self

    def refer(self):
        """One step of the reference."""
        self._call(self.world.reference)
        return self.step(self.action[0, 0])

    def sense(self, name):
        """One input by its name."""
        return self.obs[0, [sensor.name for sensor in self.world.sensors].index(name)]

    @property
    def done(self):
        return bool(self.out[0] or self.out[1])

    @property
    def reward(self):
        return self.out[2]

    @property
    def metrics(self):
        return dict(zip(self.world.metrics, self.out[3:], strict=True))


def live(world, policy, episodes, seed=0):
    """Steps, reward and metrics of some episodes as an array (episode, column), and observations out of range."""
    for function in (world.reset, world.step, policy):
        first_class(function, WORLD)
    life = Life(world, padded=True)
    results = np.zeros((episodes, 2 + len(world.metrics)))
    low, high = (np.array([getattr(sensor, end) for sensor in world.sensors]) for end in ("low", "high"))
    outside = first_class(_episodes, _SIGNATURE)(
        world.reset, world.step, policy, life.params, life.state, life.rng, np.zeros(RNG_WORDS, np.uint64),
        life.action, life.obs, life.out, np.uint64(seed), low, high, results,
    )  # fmt: skip
    return results, outside


def mean_reward(world, policy, episodes, seed=0):
    """Mean reward of an episode and its standard error."""
    rewards = live(world, policy, episodes, seed)[0][:, 1]
    return rewards.mean(), rewards.std(ddof=1) / np.sqrt(episodes)
