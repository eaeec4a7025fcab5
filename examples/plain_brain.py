"""Q-learning in plain Python: a table of values, one row for every way the world can look in coarse steps.

nematodebench run foraging_small-v2 examples/plain_brain.py:Table --runs 10
"""

import random
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TableConfig:
    """Its parameters: a name that is not here is refused."""

    steps: int = 4  # coarse steps of an input
    rate: float = 0.2
    discount: float = 0.9
    curiosity: float = 0.05


class Table:
    """Takes the action of the highest value, sometimes another one."""

    config = TableConfig

    def __init__(self, observation_space: Any, action_space: Any, config: TableConfig, seed: int) -> None:
        """A fresh brain for every run: all randomness comes from the seed."""
        if not hasattr(action_space, "n"):
            raise ValueError("this brain chooses among actions, it cannot move effectors")
        self.actions, self.settings, self.random = int(action_space.n), config, random.Random(seed)
        self.ranges = list(zip(observation_space.low.tolist(), observation_space.high.tolist(), strict=True))
        self.values: dict[tuple[int, ...], list[float]] = {}

    def row(self, observation: Any) -> list[float]:
        """The values of all actions for what is sensed."""
        steps = self.settings.steps
        shares = ((x - low) / (high - low) for x, (low, high) in zip(observation.tolist(), self.ranges, strict=True))
        key = tuple(min(int(share * steps), steps - 1) for share in shares)
        return self.values.setdefault(key, [0.0] * self.actions)

    def begin_episode(self) -> None:
        """A new episode; what was learned stays."""

    def act(self, observation: Any) -> int:
        """The best action, the first of several that are equal; now and then any."""
        row = self.row(observation)
        curious = self.random.random() < self.settings.curiosity
        return self.random.randrange(self.actions) if curious else row.index(max(row))

    def learn(self, transition: Any) -> None:
        """Moves the value of what was done towards what it brought."""
        row = self.row(transition.observation)
        future = 0.0 if transition.terminated else max(self.row(transition.next_observation))
        error = transition.reward + self.settings.discount * future - row[transition.action]
        row[transition.action] += self.settings.rate * error

    def memory(self) -> bytes:
        """What it has learned: the hash of these bytes is recorded."""
        return repr(sorted(self.values.items())).encode()
