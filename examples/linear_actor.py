"""A linear actor-critic with eligibility traces in NumPy, twice: for one run, and for many runs at once.

``LinearActor`` is the brain; ``LinearActors`` does the same for all lanes of a batch, and its arrays have one more axis
behind. The platform uses it by itself because the brain names it in ``batched``:

    nematodebench run foraging_small-v1 examples/linear_actor.py:LinearActor

Both compute every number by the same operations in the same order, so that a run has the same bits in both: sums run
along the first axis, where NumPy adds one row after another, however long it is and whatever lies behind.
"""

from typing import Any

import numpy as np

from nematodebench import Streams

RATE, VALUE_RATE, DISCOUNT, TRACE = 0.02, 0.05, 0.95, 0.8


class LinearActor:
    """One run. Every action has a column of weights, and the last column is the value of what is sensed."""

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
        """All weights are 0; the last input is always 1."""
        if not hasattr(action_space, "n"):
            raise ValueError("this brain chooses among actions, it cannot move effectors")
        inputs, self.actions = observation_space.shape[0] + 1, int(action_space.n)
        self.generator = np.random.default_rng(seed)
        self.weights, self.traces = np.zeros((2, inputs, self.actions + 1))
        self.sensed, self.following = np.ones((2, inputs))
        self.rates = np.array([RATE] * self.actions + [VALUE_RATE])
        self.slope = np.ones(self.actions + 1)

    def outputs(self, sensed: Any) -> Any:
        """What every column makes of the senses."""
        return (self.weights * sensed[:, None]).sum(axis=0)

    def begin_episode(self) -> None:
        """Clears the traces."""
        self.traces[:] = 0.0

    def act(self, observation: Any) -> int:
        """Draws an action from a softmax."""
        self.sensed[:-1] = observation
        outputs = self.outputs(self.sensed)
        wishes, self.value = outputs[:-1], outputs[-1]
        powers = np.exp(wishes - wishes.max())
        sums = powers.cumsum()
        self.chances = powers / sums[-1]
        return min(int((sums <= self.generator.random() * sums[-1]).sum()), self.actions - 1)

    def learn(self, step: Any) -> None:
        """Moves the weights along their traces, as far as the value was wrong."""
        self.following[:-1] = step.next_observation
        future = self.outputs(self.following)[-1]
        error = step.reward + DISCOUNT * future * (not step.terminated) - self.value
        self.slope[:-1] = -self.chances
        self.slope[step.action] += 1.0
        self.traces *= DISCOUNT * TRACE
        self.traces += self.slope * self.sensed[:, None]
        self.weights += self.rates * error * self.traces

    def memory(self) -> bytes:
        """The weights."""
        return bytes(self.weights.tobytes())


class LinearActors:
    """All lanes of a batch: line by line what ``LinearActor`` does. Weights outside of a mask stay as they are."""

    lanes = 64

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seeds: tuple[int, ...]) -> None:
        """As for one run, with a random stream for every lane."""
        lanes, inputs, self.actions = len(seeds), observation_space.shape[0] + 1, int(action_space.n)
        self.streams = Streams(seeds)
        self.weights, self.traces = np.zeros((2, inputs, self.actions + 1, lanes))
        self.sensed, self.following = np.ones((2, inputs, lanes))
        self.rates = np.array([RATE] * self.actions + [VALUE_RATE])[:, None]
        self.slope = np.ones((self.actions + 1, lanes))
        self.each = np.arange(lanes)

    def outputs(self, sensed: Any) -> Any:
        """What every column makes of the senses."""
        return (self.weights * sensed[:, None]).sum(axis=0)

    def begin_batch(self, lanes: Any) -> None:
        """Clears the traces of the lanes that begin an episode."""
        self.traces[:, :, lanes] = 0.0

    def act_batch(self, observations: Any, lanes: Any) -> Any:
        """Draws an action for every lane."""
        self.sensed[:-1] = observations.T
        outputs = self.outputs(self.sensed)
        wishes, self.value = outputs[:-1], outputs[-1]
        powers = np.exp(wishes - wishes.max(axis=0))
        sums = powers.cumsum(axis=0)
        self.chances = powers / sums[-1]
        return np.minimum((sums <= self.streams.random(lanes) * sums[-1]).sum(axis=0), self.actions - 1)

    def learn_batch(self, step: Any) -> None:
        """Moves the weights of the lanes in the mask."""
        self.following[:-1] = step.next_observation.T
        future = self.outputs(self.following)[-1]
        error = (step.reward + DISCOUNT * future * ~step.terminated - self.value) * step.lanes
        self.slope[:-1] = -self.chances
        self.slope[step.action, self.each] += 1.0
        self.traces *= DISCOUNT * TRACE
        self.traces += self.slope * self.sensed[:, None]
        self.weights += self.rates * error * self.traces

    def memory_of(self, lane: int) -> bytes:
        """The weights of one lane."""
        return bytes(self.weights[:, :, lane].tobytes())


LinearActor.batched = LinearActors  # type: ignore[attr-defined]
