"""How the outputs of a network become an action: the same rule for every format that gives bare numbers."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.errors import UsageError
from nematodebench.policies.base import Observation, Use

__all__ = ["Decision", "Network", "NetworkPolicy"]


class Decision:
    """Turns outputs into an action.

    | body | outputs | action |
    |---|---|---|
    | choices | one number for each choice | the largest; with ``sample`` drawn from their softmax |
    | choices | one whole number | that choice |
    | effectors | one number for each effector | the numbers, clipped to [0, 1] |
    """

    def __init__(self, name: str, use: Use) -> None:
        self._name, self._body = name, use.body
        self._generator = np.random.default_rng(use.seed) if use.sample and use.body.choices else None

    def __call__(self, outputs: Any) -> Any:
        """The action."""
        given = np.asarray(outputs)
        if given.size == 1 and self._body.choices and given.dtype.kind in "iu":
            return int(given.item())
        if given.size != self._body.outputs:
            raise UsageError(
                f"{self._name} gives {given.size} numbers, and this body has {self._body.meaning}: it was made for "
                "another task."
            )
        values = given.astype(np.float64).ravel()
        if not np.isfinite(values).all():
            raise ValueError(f"{self._name} gives a number that is not finite")
        return self._choice(values) if self._body.choices else np.clip(values, 0.0, 1.0)

    def _choice(self, values: NDArray[np.float64]) -> int:
        if self._generator is None:
            return int(np.argmax(values))
        chances = np.exp(values - values.max())
        place = self._generator.random() * chances.sum()
        return min(int(np.searchsorted(np.cumsum(chances), place, side="right")), values.size - 1)


class Network(ABC):
    """Computes outputs. It never changes, so that a copy of its owner has the same one."""

    @abstractmethod
    def outputs(self, observation: Observation) -> Any:
        """The numbers that decide."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Network":
        return self


class NetworkPolicy:
    """A network with the rule for its outputs."""

    def __init__(self, name: str, network: Network, use: Use) -> None:
        self._network, self._decide = network, Decision(name, use)

    def begin_episode(self) -> None:
        """Nothing is remembered."""

    def act(self, observation: Observation) -> Any:
        """Chooses an action."""
        return self._decide(self._network.outputs(observation))
