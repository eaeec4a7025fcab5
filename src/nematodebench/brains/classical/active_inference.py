"""Brain `active_inference`: an agent that learns a model of a discrete world and acts to meet its preferences there."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.cuts import cell_of, cut_sizes
from nematodebench.brains.parts.heads import Heads, write_action
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.math import exp64, log64
from nematodebench.kernels.memory import constant, constants, counter, floats, part, size, words
from nematodebench.kernels.rng import uniform

__all__ = ["ActiveInference", "ActiveInferenceConfig"]

_BAD, _NOTHING, _GOOD, _RESULTS = 0, 1, 2, 3
"""What comes of an action."""
_MOST_ACTIONS = 64


class ActiveInferenceConfig(BrainConfig):
    """Parameters of `active_inference`."""

    bins: int = parameter(3, 2, 16, "cells along each input, between its lowest and highest value")
    cells: int = parameter(256, 1, 4096, "observations that are told apart; more share cells by a hash")
    contexts: int = parameter(2, 1, 16, "hidden contexts, one of which lasts for an episode", searched(1, 4, "medium"))
    preference: float = parameter(
        8.0, 0, 100, "nats by which good is liked, and bad disliked", searched(2, 32, "high", log=True, off=0.0)
    )
    novelty: float = parameter(
        1.0, 0, 100, "weight of what an action would teach about its results", searched(0.1, 4, "medium", off=0.0)
    )
    precision: float = parameter(
        32.0, 0, 1000, "how surely the action of least free energy is taken", searched(4, 128, "high", log=True)
    )
    gamma: float = parameter(0.9, 0, 1, "weight of the free energy of the next step", searched(0.8, 0.99, "high"))
    prior: float = parameter(0.1, 0, 100, "results of each kind that a fresh model claims to have seen", gt=0)
    noticed: float = parameter(0.05, 0, None, "rewards nearer to 0 than this are nothing")
    levels: int = parameter(2, 2, 64, "values an effector can take")
    longest: int = parameter(512, 1, 65536, "steps after which an episode is learned from before it has ended")


class Memory(BrainMemory):
    """Counts that make the model, the free energies that follow from it, and the episode so far.

    A row is a cell and an action. ``outset`` counts with which cell contexts began, ``moves`` which cell followed a row
    (behind the last one: the end), ``results`` what came of it in every context.
    """

    preference = constant()
    novelty = constant()
    precision = constant()
    gamma = constant()
    prior = constant()
    noticed = constant()
    heads = part(Heads)
    inputs = size()
    bins = size()
    cells = size()
    hashed = size()
    low = constants("inputs")
    per_unit = constants("inputs")
    contexts = size()
    actions = size()
    rows = size()
    longest = size()
    outset = floats("contexts", "cells")
    moves = floats("rows", "cells + 1")
    results = floats("contexts", "rows", _RESULTS)
    energy = floats("contexts", "rows")
    least = floats("contexts", "cells + 1")
    belief = floats("contexts")
    chances = floats("actions", scratch=True)
    first = counter()
    filled = counter()
    row = counter()
    taken = words("longest")
    came = words("longest")
    next_cell = words("longest")


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """A fresh model knows nothing, but no two contexts are quite the same."""
    for c in range(brain.contexts):
        for cell in range(brain.cells):
            brain.outset[c, cell] = np.float32(brain.prior * (1.0 + uniform(rng)))
        for row in range(brain.rows):
            for r in range(_RESULTS):
                brain.results[c, row, r] = np.float32(brain.prior)
            brain.energy[c, row] = np.float32(-brain.novelty * _to_learn(brain, c, row))
        for cell in range(brain.cells):
            _find_least(brain, c, cell)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Nothing is believed yet about the context."""
    brain.first = -1
    brain.filled = 0


@kernel()
def _cell(brain: Memory, obs: F32) -> int:
    return cell_of(obs, brain.low, brain.per_unit, brain.bins, brain.cells, brain.hashed)


@kernel()
def _to_learn(brain: Memory, c: int, row: int) -> float:
    """Information that one more result would bring about the Dirichlet counts of a row: (kinds - 1) / (2 counts)."""
    seen = brain.results[c, row]
    return (_RESULTS - 1) / (2.0 * np.float64(seen[_BAD] + seen[_NOTHING] + seen[_GOOD]))


@kernel()
def _chance(brain: Memory, c: int, row: int, result: int) -> float:
    """How likely a result is in a context."""
    seen = brain.results[c, row]
    return np.float64(seen[result]) / np.float64(seen[_BAD] + seen[_NOTHING] + seen[_GOOD])


@kernel()
def _find_least(brain: Memory, c: int, cell: int) -> None:
    """The free energy of the best action in a cell."""
    least = brain.energy[c, cell * brain.actions]
    for a in range(1, brain.actions):
        least = min(least, brain.energy[c, cell * brain.actions + a])
    brain.least[c, cell] = least


@kernel()
def _expect(brain: Memory, c: int, row: int) -> None:
    """Expected free energy of a row: - preference - novelty + gamma x that of the cells it leads to."""
    liked = brain.preference * (_chance(brain, c, row, _GOOD) - _chance(brain, c, row, _BAD))
    moves, least = brain.moves[row], brain.least[c]
    total, ahead = np.float32(0.0), np.float32(0.0)
    for cell in range(moves.size):
        total += moves[cell]
        ahead += moves[cell] * least[cell]
    future = np.float64(ahead) / np.float64(total) if total > 0.0 else 0.0
    brain.energy[c, row] = np.float32(brain.gamma * future - liked - brain.novelty * _to_learn(brain, c, row))
    _find_least(brain, c, row // brain.actions)


@kernel()
def _normalise(values: F32) -> None:
    total = np.float32(0.0)
    for n in range(values.size):
        total += values[n]
    for n in range(values.size):
        values[n] /= total


@kernel()
def _infer_from_outset(brain: Memory, cell: int) -> None:
    """The first cell of an episode tells which context it may be."""
    brain.first = cell
    for c in range(brain.contexts):
        total = np.float32(0.0)
        for k in range(brain.cells):
            total += brain.outset[c, k]
        brain.belief[c] = brain.outset[c, cell] / total
    _normalise(brain.belief)


@kernel()
def _to_tell(brain: Memory, row: int) -> float:
    """Information about the context that the result of a row would bring: its entropy less that in each context."""
    told = 0.0
    for r in range(_RESULTS):
        mean = 0.0
        for c in range(brain.contexts):
            mean += np.float64(brain.belief[c]) * _chance(brain, c, row, r)
        for c in range(brain.contexts):
            p = _chance(brain, c, row, r)
            told += np.float64(brain.belief[c]) * p * (log64(p) - log64(mean))
    return told


@kernel()
def weigh_actions(brain: Memory, cell: int) -> None:
    """Chances of all actions: softmax of - precision x (expected free energy - information about the context)."""
    chances, lowest = brain.chances, np.inf
    for a in range(brain.actions):
        row = cell * brain.actions + a
        energy = -_to_tell(brain, row)
        for c in range(brain.contexts):
            energy += np.float64(brain.belief[c]) * np.float64(brain.energy[c, row])
        chances[a] = np.float32(energy)
        lowest = min(lowest, energy)
    for a in range(brain.actions):
        chances[a] = np.float32(exp64(brain.precision * (lowest - np.float64(chances[a]))))
    _normalise(chances)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Takes an action by its expected free energy."""
    cell = _cell(brain, obs)
    if brain.first < 0:
        _infer_from_outset(brain, cell)
    weigh_actions(brain, cell)
    choice, left = 0, uniform(rng) - np.float64(brain.chances[0])
    while left >= 0.0 and choice < brain.actions - 1:
        choice += 1
        left -= np.float64(brain.chances[choice])
    brain.row = cell * brain.actions + choice
    for head in range(brain.heads.count):
        write_action(brain.heads, action, head, choice % brain.heads.levels)
        choice //= brain.heads.levels


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """What came of the action tells about the context; a whole episode changes the model."""
    result, at = _NOTHING, brain.filled
    if abs(outcome.reward) >= brain.noticed:
        result = _GOOD if outcome.reward > 0.0 else _BAD
    brain.taken[at], brain.came[at] = brain.row, result
    brain.next_cell[at] = brain.cells if outcome.terminated != 0.0 else _cell(brain, obs)
    brain.filled = at + 1
    for c in range(brain.contexts):
        brain.belief[c] *= np.float32(_chance(brain, c, brain.row, result))
    _normalise(brain.belief)
    ended = outcome.terminated != 0.0 or outcome.truncated != 0.0
    if ended or brain.filled == brain.longest:
        _learn_episode(brain)
    if ended:
        for c in range(brain.contexts):
            brain.outset[c, brain.first] += brain.belief[c]


@kernel()
def _learn_episode(brain: Memory) -> None:
    """Counts what happened, for every context by how much it is believed now; then expects anew from last to first."""
    for t in range(brain.filled):
        row = brain.taken[t]
        brain.moves[row, brain.next_cell[t]] += np.float32(1.0)
        for c in range(brain.contexts):
            brain.results[c, row, brain.came[t]] += brain.belief[c]
    for back in range(brain.filled):
        row = brain.taken[brain.filled - 1 - back]
        for c in range(brain.contexts):
            _expect(brain, c, row)
    brain.filled = 0


class ActiveInference(CompiledBrain):
    """A discrete agent of active inference: it learns a model of its world, and acts to be less surprised by it.

    | part | how |
    |---|---|
    | observation | each input cut into `bins` cells of its range; their combination is seen without doubt |
    | hidden state | one of `contexts`, which lasts for an episode; believed by Bayes' rule from the first cell and all results |
    | model | Dirichlet counts: first cells of a context, cells that follow a cell and an action, results of it by context |
    | result | good, nothing or bad: the sign of the reward, if that is at least `noticed` |
    | expected free energy | - `preference` x (chance of good - of bad) - `novelty` x information about the counts + `gamma` x that of the next cell with its best action |
    | action | softmax of - `precision` x (energy under the belief - information about the context) |
    | learning | after an episode, counts grow by how much each context is believed then |

    It is made for few inputs that are rough by nature, and for tasks in which how an episode begins decides what is good
    in it, however much later.
    """  # noqa: E501

    name: ClassVar[str] = "active_inference"
    kind: ClassVar[BrainClass] = "classical"
    config = ActiveInferenceConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def synapses(cls, config: ActiveInferenceConfig, brain: Memory) -> list[Synapses]:
        """Rows of free energies are looked up and mixed by belief."""
        contexts, rows = brain.energy.shape
        return [Synapses("energy", rows, contexts, contexts, operations=0)]

    @classmethod
    def sizes(cls, config: ActiveInferenceConfig, body: Interface) -> Mapping[str, Any]:
        """The model, if the body has not too many joint actions for one.

        Raises:
            ValueError: if it has.
        """
        heads = Heads.shape(body, config.levels)
        actions = heads["levels"] ** heads["count"]
        if actions > _MOST_ACTIONS:
            raise ValueError(
                f"brain 'active_inference' would need {actions} joint actions ({heads['levels']} levels of "
                f"{heads['count']} effectors), at most {_MOST_ACTIONS} are possible: set fewer levels"
            )
        cells = min(config.bins**body.inputs, config.cells)
        cuts = cut_sizes(body, config.bins, config.cells)
        return {**cuts, "heads": heads, "actions": actions, "cells": cells, "rows": cells * actions}
