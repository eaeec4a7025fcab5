"""Drives worlds with policies that are themselves world functions: the null, constant effectors, the reference."""

import numpy as np
from numba import types

from nematodebench.kernels.abi import WORLD, world_kernel
from nematodebench.kernels.jit import first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, STREAM_WORLD, set_stream, uniform


@world_kernel
def null(params, state, rng, action, obs, out):
    for a in range(action.shape[0]):
        for n in range(action.shape[1]):
            action[a, n] = np.float32(uniform(rng))


@world_kernel
def constant(params, state, rng, action, obs, out):
    """Leaves the action as it was handed in."""


@kernel(cached=True)
def _episodes(reset, step, policy, params, state, rng, policy_rng, action, obs, out, seed, low, high, metrics):
    """Lives through episodes; fills their metrics; returns ticks lived and how many observations left their range."""
    ticks, outside = 0, 0
    first = out.size - metrics.shape[1]
    for episode in range(metrics.shape[0]):
        set_stream(rng, seed, STREAM_WORLD, episode, 0)
        set_stream(policy_rng, seed, STREAM_EXPLORATION, episode, 0)
        reset(params, state, rng, action, obs, out)
        done = False
        while not done:
            policy(params, state, policy_rng, action, obs, out)
            step(params, state, rng, action, obs, out)
            ticks += 1
            done = out[0] != 0.0 or out[1] != 0.0
            for a in range(obs.shape[0] if low.size else 0):
                for n in range(obs.shape[1]):
                    outside += not (obs[a, n] >= low[n] and obs[a, n] <= high[n])
        for n in range(metrics.shape[1]):
            metrics[episode, n] = out[first + n]
    return ticks, outside


# Typed in full, because a dispatcher as an argument would compile the loop anew for every world and policy.
_W, _f64, _u64, _f32m = types.FunctionType(WORLD), types.float64[::1], types.uint64[::1], types.float32[:, ::1]
_SIGNATURE = types.UniTuple(types.int64, 2)(
    _W, _W, _W, _f64, _f64, _u64, _u64, _f32m, _f32m, _f64, types.uint64, _f64, _f64, types.float64[:, ::1]
)


class Life:
    """A world with its arrays, to be stepped by hand."""

    def __init__(self, world, seed=0, episode=0):
        self.world = world
        self.params = world.pack()
        self.state = np.full(world.state_size, np.nan)
        self.rng = np.zeros(RNG_WORDS, np.uint64)
        self.action = np.zeros((world.agents, world.actions.n), np.float32)
        self.obs = np.full((world.agents, len(world.sensors)), np.nan, np.float32)
        self.out = np.full(world.out_size, np.nan)
        self.start(seed, episode)

    def start(self, seed, episode=0):
        """Begins an episode."""
        set_stream(self.rng, np.uint64(seed), STREAM_WORLD, episode, 0)
        self._call(self.world.reset)

    def _call(self, function):
        first_class(function, WORLD)(self.params, self.state, self.rng, self.action, self.obs, self.out)

    def step(self, *effectors):
        """One tick; ``effectors`` of the one agent, or nothing to keep the action."""
        if effectors:
            self.action[0] = effectors
        self._call(self.world.step)
        return self

    def refer(self):
        """The reference's action, then one tick."""
        self._call(self.world.reference)
        return self.step()

    @property
    def done(self):
        return bool(self.out[0] or self.out[1])

    @property
    def reward(self):
        return self.out[2]

    @property
    def metrics(self):
        return dict(zip(self.world.metrics, self.out[2 + self.world.agents :], strict=True))


def live(world, policy, seed, episodes=5, effectors=0.0, check_range=False):
    """Metrics of some episodes as an array (episode, metric), ticks lived, observations out of range."""
    for function in (world.reset, world.step, policy):
        first_class(function, WORLD)
    life = Life(world)
    life.action[:] = effectors
    metrics = np.zeros((episodes, len(world.metrics)))
    sensors = world.sensors if check_range else ()
    low, high = np.array([s.low for s in sensors]), np.array([s.high for s in sensors])
    ticks, outside = first_class(_episodes, _SIGNATURE)(
        world.reset, world.step, policy, life.params, life.state, life.rng, np.zeros(RNG_WORDS, np.uint64),
        life.action, life.obs, life.out, np.uint64(seed), low, high, metrics,
    )  # fmt: skip
    return metrics, ticks, outside


def run_scores(world, policy, runs, episodes=5, first_seed=0, **options):
    """Raw scores: one number a run, the mean of the first metric over its episodes."""
    scores = [live(world, policy, first_seed + n, episodes, **options)[0][:, 0].mean() for n in range(runs)]
    return np.array(scores)


def mean_and_error(scores):
    return scores.mean(), scores.std(ddof=1) / np.sqrt(scores.size)
