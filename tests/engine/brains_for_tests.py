"""Brains that misbehave, for the tests of what the platform does then. Imported by worker processes too."""

import os

import numpy as np


class _Base:
    def __init__(self, observation_space, action_space, config, seed):
        self.steps = 0
        self.seed = seed
        self.config = config
        self.rng = np.random.default_rng(seed)
        self.n = int(getattr(action_space, "n", 0))

    def begin_episode(self):
        pass

    def act(self, observation):
        self.steps += 1
        return int(self.rng.integers(self.n))

    def learn(self, transition):
        pass


class Fine(_Base):
    def memory(self):
        return np.int64(self.steps).tobytes()


class Effectors(_Base):
    """For bodies without choices."""

    def __init__(self, observation_space, action_space, config, seed):
        super().__init__(observation_space, action_space, config, seed)
        self.shape = action_space.shape

    def act(self, observation):
        return self.rng.random(self.shape)


class GlobalRandom(_Base):
    """Uses the global generators a user's library would use."""

    def act(self, observation):
        import random

        return (random.randrange(self.n) + np.random.randint(self.n)) % self.n


class HoldsAnIterator(_Base):
    """Holds something that is no data."""

    def begin_episode(self):
        self.file = iter([1])


class RaisesSometimes(_Base):
    """Raises at step 30 in the runs whose seed is odd."""

    def act(self, observation):
        if self.steps == 30 and self.seed % 2:
            raise RuntimeError("thirty is enough")
        return super().act(observation)


class ReturnsNan(_Base):
    def act(self, observation):
        return float("nan") if self.steps == 5 else super().act(observation)


class ReturnsIllegal(_Base):
    def act(self, observation):
        self.steps += 1
        return 4 if self.steps == 8 else 0


class ReturnsTwo(_Base):
    def act(self, observation):
        return [0, 1]


class DiesSometimes(_Base):
    """Takes its whole process down, in the runs whose seed is odd."""

    def act(self, observation):
        if self.steps == 10 and self.seed % 2:
            os._exit(9)
        return super().act(observation)


class NotABrain:
    def act(self, observation):
        return 0


class RefusesToLearn(_Base):
    """Fails the run as soon as anybody asks it to learn; its config says whether it was told that it never will."""

    @classmethod
    def without_learning(cls, config):
        return {**config, "told": True}

    def learn(self, transition):
        raise AssertionError("learn was called")

    def memory(self):
        return str(sorted(self.config.items())).encode()


class KeepsItsSpace:
    """Keeps the space of its actions and draws nothing from it."""

    def __init__(self, observation_space, action_space, config, seed):
        self.space = action_space

    def begin_episode(self):
        pass

    def act(self, observation):
        return 0

    def learn(self, transition):
        pass


class SamplesItsSpace(KeepsItsSpace):
    """What a user of Gymnasium writes first."""

    def act(self, observation):
        return self.space.sample()


class AsksForDone(_Base):
    def learn(self, transition):
        return transition.done
