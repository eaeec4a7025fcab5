"""Policies as NIR graphs: spiking networks that run some steps for every tick of the world.

The observation is the input of every step. The outputs of the steps are summed, so that spikes are counted, and the sum
decides. Potentials last from tick to tick and begin anew with every episode. An edge that closes a loop hands on what
its node gave in the step before.
"""

import graphlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.errors import UsageError
from nematodebench.policies.base import Observation, Policy, Use
from nematodebench.policies.decisions import Decision
from nematodebench.policies.neurons import Node, make_node

__all__ = ["Graph", "read"]


class Graph:
    """The nodes of a graph in an order in which they can be computed.

    Args:
        name: What messages call it.
        graph: A ``nir.NIRGraph``.
        dt: Seconds of a step.
    """

    def __init__(self, name: str, graph: Any, dt: float) -> None:
        self._nodes: dict[str, Node] = {key: make_node(name, key, node, dt) for key, node in graph.nodes.items()}
        self._sizes = {key: _size(node) for key, node in graph.nodes.items()}
        self._input, self._output = (_only(name, graph, kind) for kind in ("Input", "Output"))
        before: dict[str, list[str]] = {key: [] for key in graph.nodes}
        for start, end in dict.fromkeys(map(tuple, graph.edges)):
            before[end].append(start)
        self._before = before
        self._order = _order(before, self._input)
        self.begin()

    @property
    def inputs(self) -> int:
        """Numbers that a step takes."""
        return self._sizes[self._input]

    def begin(self) -> None:
        """Everything is at rest."""
        for node in self._nodes.values():
            node.begin()
        self._last: dict[str, NDArray[np.float64]] = {}

    def step(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The outputs of one step."""
        given = dict(self._last)
        for key in self._order:
            sources = [given[start] for start in self._before[key] if start in given]
            total = values if key == self._input else sum(sources, np.zeros(()))
            given[key] = self._nodes[key].step(np.asarray(total if np.ndim(total) else np.zeros(self._sizes[key])))
        self._last = given
        return given[self._output]


def _size(node: Any) -> int:
    """How many numbers a node takes."""
    (shape,) = list(node.input_type.values())[:1] or [None]
    return 0 if shape is None else int(np.prod(shape))


def _only(name: str, graph: Any, kind: str) -> str:
    found: list[str] = [key for key, node in graph.nodes.items() if type(node).__name__ == kind]
    if len(found) != 1:
        raise UsageError(f"{name} has {len(found)} nodes of the kind {kind}: a policy has one.")
    return found[0]


def _order(before: dict[str, list[str]], start: str) -> list[str]:
    """An order in which every node comes after those before it; edges that close a loop are left out for that."""
    forward: dict[str, list[str]] = {key: [] for key in before}
    seen, waiting = {start}, [start]
    while waiting:  # breadth first from the input: an edge leads back where it closes a loop of edges taken so far
        here = waiting.pop(0)
        for key in [key for key, starts in before.items() if here in starts]:
            forward[key].append(here)
            if _loops(forward):
                forward[key].remove(here)
            if key not in seen:
                seen.add(key)
                waiting.append(key)
    return list(graphlib.TopologicalSorter(forward).static_order())


def _loops(before: dict[str, list[str]]) -> bool:
    try:
        graphlib.TopologicalSorter(before).prepare()
    except graphlib.CycleError:
        return True
    return False


class _SpikingPolicy:
    """A graph and the rule for its outputs."""

    def __init__(self, graph: Graph, decide: Decision, steps: int) -> None:
        self._graph, self._decide, self._steps = graph, decide, steps

    def begin_episode(self) -> None:
        """The network comes to rest."""
        self._graph.begin()

    def act(self, observation: Observation) -> Any:
        """Runs the steps of a tick; the mean over the steps moves effectors, and its largest number is the choice."""
        values = observation.astype(np.float64)
        total = sum((self._graph.step(values) for _ in range(self._steps)), np.zeros(()))
        return self._decide(total / self._steps)


def read(path: Path, use: Use) -> Policy:
    """The policy of a NIR file."""
    import nir

    try:
        found = nir.read(str(path))
    except ImportError:
        raise
    except Exception as error:
        raise UsageError(f"{path} is no NIR graph: {(str(error).splitlines() or [''])[0].rstrip('.')}.") from error
    graph = Graph(str(path), found, use.dt)
    if graph.inputs != use.body.inputs:
        raise UsageError(
            f"{path} takes {graph.inputs} numbers, and this body has {use.body.inputs} sensors: it was made for "
            "another task."
        )
    return _SpikingPolicy(graph, Decision(str(path), use), use.steps)
