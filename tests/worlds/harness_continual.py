"""Drives worlds of the continual family as a continual run does: 28 inputs, 10 actions, policies as world functions."""

import numpy as np
from numba import types

from nematodebench.kernels.abi import WORLD, NoMetrics, Outcome, WorldMemory
from nematodebench.kernels.jit import first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, STREAM_WORLD, randint, set_stream
from nematodebench.worlds.arrays import WorldArrays

WIDEST, MOST = 28, 10
PADDING = -7.0
any_world = WorldMemory(NoMetrics, NoMetrics)
"""For policies that look at nothing a world declares."""


@any_world.kernel
def null(rng, action):
    action[0, 0] = np.float32(randint(rng, MOST))


@kernel(cached=True)
def _episodes(reset, step, policy, params, state, rng, policy_rng, action, obs, out, seed, low, high, results):
    """Runs episodes; fills steps, reward and metrics of each; returns the observations out of range."""
    outside = 0
    outcome = Outcome(out)
    for episode in range(results.shape[0]):
        set_stream(rng, seed, STREAM_WORLD, episode, 0)
        set_stream(policy_rng, seed, STREAM_EXPLORATION, episode, 0)
        reset(params, state, rng, action, obs, out)
        done = False
        while not done:
            policy(params, state, policy_rng, action, obs, out)
            step(params, state, rng, action, obs, out)
            results[episode, 0] += 1.0
            results[episode, 1] += outcome.reward[0]
            done = outcome.terminated != 0.0 or outcome.truncated != 0.0
            for n in range(low.size):
                outside += not (obs[0, n] >= low[n] and obs[0, n] <= high[n])
        metrics = results.shape[1] - 2
        for n in range(metrics):
            results[episode, 2 + n] = out[out.size - metrics + n]
    return outside


# Typed in full, because a dispatcher as an argument would compile the loop anew for every world and policy.
_W, _f64, _u64, _f32m = types.FunctionType(WORLD), types.float64[::1], types.uint64[::1], types.float32[:, ::1]
_SIGNATURE = types.int64(
    _W, _W, _W, _f64, _f64, _u64, _u64, _f32m, _f32m, _f64, types.uint64, _f64, _f64, types.float64[:, ::1]
)


class Trial:
    """A world with its arrays, to be stepped by hand; ``padded`` as in a continual run."""

    def __init__(self, world, seed=0, episode=0, padded=False):
        self.world = world
        self.arrays = WorldArrays(world)
        # What a reset does not write shows.
        self.arrays.states[:] = self.arrays.outs[:] = np.nan
        self.arrays.obs = np.full((1, 1, WIDEST if padded else len(world.sensors)), PADDING, np.float32)
        self.begin(seed, episode)

    def begin(self, seed, episode=0):
        """Begins an episode."""
        self.arrays.begin(seed, episode)

    def step(self, choice):
        """One step."""
        self.action[0, 0] = choice
        self.arrays.step()
        return self

    def ask_reference(self):
        """Lets the reference fill the action."""
        a = self.arrays
        first_class(self.world.reference, WORLD)(a.params, a.states[0], a.rng[0], a.action[0], a.obs[0], a.outs[0])

    def refer(self):
        """One step of the reference."""
        self.ask_reference()
        return self.step(self.action[0, 0])

    def sense(self, name):
        """One input by its name."""
        return self.obs[0, [sensor.name for sensor in self.world.sensors].index(name)]

    @property
    def state(self):
        """By name."""
        return self.arrays.state()

    @property
    def place(self):
        """Where the agent is."""
        return self.state.x, self.state.y

    @property
    def action(self):
        return self.arrays.action[0]

    @property
    def obs(self):
        return self.arrays.obs[0]

    @property
    def done(self):
        return self.arrays.done()

    @property
    def reward(self):
        return self.arrays.outcome().reward[0]

    @property
    def metrics(self):
        return self.arrays.metrics()


def run_episodes(world, policy, episodes, seed=0):
    """Steps, reward and metrics of some episodes as an array (episode, column), and observations out of range."""
    for function in (world.reset, world.step, policy):
        first_class(function, WORLD)
    arrays = Trial(world, padded=True).arrays
    results = np.zeros((episodes, 2 + len(world.metrics)))
    low, high = (np.array([getattr(sensor, end) for sensor in world.sensors]) for end in ("low", "high"))
    outside = first_class(_episodes, _SIGNATURE)(
        world.reset, world.step, policy, arrays.params, arrays.states[0], arrays.rng[0], np.zeros(RNG_WORDS, np.uint64),
        arrays.action[0], arrays.obs[0], arrays.outs[0], np.uint64(seed), low, high, results,
    )  # fmt: skip
    return results, outside


def mean_reward(world, policy, episodes, seed=0):
    """Mean reward of an episode and its standard error."""
    rewards = run_episodes(world, policy, episodes, seed)[0][:, 1]
    return rewards.mean(), rewards.std(ddof=1) / np.sqrt(episodes)
