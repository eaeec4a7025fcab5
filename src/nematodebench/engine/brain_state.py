"""Everything that the brains of a run remember, as data: what is saved, and what a run can begin with.

Imports no compiler: the process of an isolated brain uses it too.
"""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from nematodebench.engine.python_state import State, UnavailableError

__all__ = ["GENERATORS", "BrainState"]

GENERATORS = "generators/"
"""What the names of the arrays of global generators begin with."""


@dataclass(frozen=True)
class BrainState:
    """The states of the brains of a run.

    Attributes:
        agents: How many brains there are.
        arrays: Their arrays, by the number of the agent and their name: ``0/policy.weights``.
        trees: Of Python brains, what the arrays belong to.
        generators: Of Python brains, where the global random generators were.
    """

    agents: int
    arrays: dict[str, NDArray[Any]]
    trees: tuple[Any, ...] = ()
    generators: Any = None

    def of_agent(self, agent: int, among: int) -> State:
        """The state for one of some agents: its own, or that of the only brain there is."""
        if self.agents not in {1, among}:
            raise UnavailableError("", f"it has the brains of {self.agents} agents, here are {among}")
        own = agent if self.agents > 1 else 0
        if self.trees and len(self.trees) != self.agents:
            raise UnavailableError("", "it has not the brains of all its agents")
        return State(self.trees[own] if self.trees else None, self._named(f"{own}/"))

    @property
    def global_generators(self) -> State:
        """The state of the global generators."""
        return State(self.generators, self._named(GENERATORS))

    def _named(self, prefix: str) -> dict[str, NDArray[Any]]:
        return {name.removeprefix(prefix): a for name, a in self.arrays.items() if name.startswith(prefix)}
