"""Drives worlds with policies that are themselves world functions: the null, constant effectors, the reference."""

import numpy as np
from numba import types

from nematodebench.kernels.abi import WORLD, Outcome
from nematodebench.kernels.jit import first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, STREAM_WORLD, set_stream, uniform
from nematodebench.worlds.arrays import WorldArrays


@kernel(cached=True)
def null(params, state, rng, action, obs, out):
    for a in range(action.shape[0]):
        for n in range(action.shape[1]):
            action[a, n] = np.float32(uniform(rng))


@kernel(cached=True)
def constant(params, state, rng, action, obs, out):
    """Leaves the action as it was handed in."""


@kernel(cached=True)
def _episodes(reset, step, policy, params, state, rng, policy_rng, action, obs, out, seed, low, high, metrics):
    """Runs episodes and fills their metrics; returns the ticks and how many observations left their range."""
    ticks, outside = 0, 0
    outcome, first = Outcome(out), out.size - metrics.shape[1]
    for episode in range(metrics.shape[0]):
        set_stream(rng, seed, STREAM_WORLD, episode, 0)
        set_stream(policy_rng, seed, STREAM_EXPLORATION, episode, 0)
        reset(params, state, rng, action, obs, out)
        done = False
        while not done:
            policy(params, state, policy_rng, action, obs, out)
            step(params, state, rng, action, obs, out)
            ticks += 1
            done = outcome.terminated != 0.0 or outcome.truncated != 0.0
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


class Episode:
    """A world with its arrays, to be stepped by hand. What reset and step must fill begins as NaN."""

    def __init__(self, world, seed=0, episode=0):
        self.world, self.arrays = world, WorldArrays(world)
        self.arrays.compile()
        self.action, self.obs = self.arrays.action[0], self.arrays.obs[0]
        self.arrays.states[:] = self.arrays.outs[:] = self.obs[:] = np.nan
        self.start(seed, episode)

    def start(self, seed, episode=0):
        """Begins an episode."""
        self.arrays.begin(seed, episode)

    def step(self, *effectors):
        """One tick; ``effectors`` of the one agent, or nothing to keep the action."""
        if effectors:
            self.action[0] = effectors
        self.arrays.step()
        return self

    def refer(self):
        """The reference's action, then one tick."""
        first_class(self.world.reference, WORLD)(*self.row)
        return self.step()

    @property
    def row(self):
        """What the world's functions are called with."""
        arrays = self.arrays
        return arrays.params, arrays.states[0], arrays.rng[0], self.action, self.obs, arrays.outs[0]

    @property
    def state(self):
        return self.arrays.state()

    def put(self, **values):
        """Writes fields of the state."""
        state = self.state
        for name, value in values.items():
            if state.fields[name].is_array:
                getattr(state, name)[:] = value
            else:
                setattr(state, name, value)
        return self

    def read(self, *names):
        """A copy of fields of the state, one row a field."""
        return np.array([getattr(self.state, name) for name in names])

    @property
    def outcome(self):
        return self.arrays.outcome()

    @property
    def flags(self):
        return self.outcome.terminated, self.outcome.truncated

    @property
    def done(self):
        return self.arrays.done()

    @property
    def rewards(self):
        """Those of all agents."""
        return self.outcome.reward[: self.world.agents].copy()

    @property
    def reward(self):
        return self.outcome.reward[0]

    @property
    def metrics(self):
        return self.arrays.metrics()


def run_episodes(world, policy, seed, episodes=5, effectors=0.0, check_range=False):
    """Metrics of some episodes as an array (episode, metric), ticks taken, observations out of range."""
    for function in (world.reset, world.step, policy):
        first_class(function, WORLD)
    params, state, rng, action, obs, out = Episode(world).row
    action[:] = effectors
    metrics = np.zeros((episodes, len(world.metrics)))
    sensors = world.sensors if check_range else ()
    low, high = np.array([s.low for s in sensors]), np.array([s.high for s in sensors])
    ticks, outside = first_class(_episodes, _SIGNATURE)(
        world.reset, world.step, policy, params, state, rng, np.zeros(RNG_WORDS, np.uint64),
        action, obs, out, np.uint64(seed), low, high, metrics,
    )  # fmt: skip
    return metrics, ticks, outside


def run_scores(world, policy, runs, episodes=5, first_seed=0, **options):
    """Raw scores: one number a run, the mean of the first metric over its episodes."""
    scores = [run_episodes(world, policy, first_seed + n, episodes, **options)[0][:, 0].mean() for n in range(runs)]
    return np.array(scores)


def mean_and_error(scores):
    return scores.mean(), scores.std(ddof=1) / np.sqrt(scores.size)
