"""Batched brains for the tests, good and bad. Imported by worker processes too."""

import numpy as np

from nematodebench import Streams


class Walk:
    """Moves effectors at random and adds up what it is told; in its plain form one lane of its batch."""

    lanes = 24

    def __init__(self, observation_space, action_space, config, seed):
        self.batch = type(self).batched(observation_space, action_space, config, (seed,))
        self.only = np.ones(1, dtype=bool)

    def begin_episode(self):
        self.batch.begin_batch(self.only)

    def act(self, observation):
        return self.batch.act_batch(observation[None], self.only)[0]

    def learn(self, step):
        self.batch.add(0, step.observation, step.action, step.reward, step.next_observation)

    def memory(self):
        return self.batch.memory_of(0)


class Walks:
    lanes = 24

    def __init__(self, observation_space, action_space, config, seeds):
        self.streams, self.space = Streams(seeds, block=7), action_space
        self.sums = np.zeros((len(seeds), 4))
        self.steps = np.zeros(len(seeds), dtype=int)

    def begin_batch(self, lanes):
        self.sums[lanes, 3] += 1

    def act_batch(self, observations, lanes):
        self.steps += lanes
        drawn = self.streams.random(lanes)
        n = getattr(self.space, "n", 0)
        return (drawn * n).astype(int) if n else np.stack([drawn] * self.space.shape[0], axis=1)

    def add(self, lane, observation, action, reward, following):
        told = observation.sum(), np.sum(action) * reward, following.sum()
        self.sums[lane, :3] = 0.9 * self.sums[lane, :3] + told

    def learn_batch(self, step):
        for n in np.flatnonzero(step.lanes):
            self.add(n, step.observation[n], step.action[n], step.reward[n], step.next_observation[n])

    def memory_of(self, lane):
        return self.sums[lane].tobytes()


Walk.batched = Walks


class Talkers(Walks):
    """Lanes that hear each other."""

    def act_batch(self, observations, lanes):
        return (super().act_batch(observations, lanes) + lanes.sum()) % self.space.n


class Talk(Walk):
    batched = Talkers


class Breakers(Walks):
    def act_batch(self, observations, lanes):
        if len(lanes) > 1:
            raise RuntimeError("no batch today")
        return super().act_batch(observations, lanes)


class Break(Walk):
    batched = Breakers


class Stumblers(Walks):
    """Some lanes do what cannot be done, after the trial."""

    def __init__(self, observation_space, action_space, config, seeds):
        super().__init__(observation_space, action_space, config, seeds)
        self.bad = np.array([seed % 3 == 0 for seed in seeds])

    def act_batch(self, observations, lanes):
        return np.where(self.bad & (self.steps > 450), 99, super().act_batch(observations, lanes))


class Stumble(Walk):
    batched = Stumblers


class LateTalkers(Walks):
    """Lanes that hear each other from their 500th step on, as they would if they first learned there."""

    def act_batch(self, observations, lanes):
        own = super().act_batch(observations, lanes)
        return np.where(self.steps > 500, (own + lanes.sum()) % self.space.n, own)


class LateTalk(Walk):
    batched = LateTalkers

    @classmethod
    def trial_ticks(cls, config):
        return 600
