"""Brain `q_table`: Q-learning in a table, the smallest brain that learns from reward."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.cuts import cell_of, cut_sizes
from nematodebench.brains.parts.heads import Exploration, Heads, best_level, epsilon_after, write_action
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, constants, counter, floats, part, size
from nematodebench.kernels.rng import randint, uniform

__all__ = ["QTable", "QTableConfig"]

_MOST_ACTIONS = 4096


class QTableConfig(BrainConfig):
    """Parameters of `q_table`."""

    bins: int = parameter(
        5, 2, 256, "cells along each input, between its lowest and highest value", searched(2, 12, "medium")
    )
    rows: int = parameter(16384, 1, 1 << 22, "states the table holds; more share rows by a hash")
    learning_rate: float = parameter(
        0.1, 0, 1, "share of the error corrected at once", searched(0.01, 1, "high", log=True, off=0.0)
    )
    gamma: float = parameter(0.95, 0, 1, "discount of future reward", searched(0.5, 0.999, "high", off=0.0))
    epsilon_start: float = parameter(1.0, 0, 1, "share of random actions at first", searched(0, 1, "medium", off=0.0))
    epsilon_end: float = parameter(
        0.05, 0, 1, "share of random actions at last", searched(0.001, 0.3, "high", log=True, off=0.0)
    )
    epsilon_steps: int = parameter(
        5000, 0, 1 << 30, "steps over which it goes down", searched(100, 50000, "high", log=True)
    )
    levels: int = parameter(3, 2, 64, "values an effector can take")


class Memory(BrainMemory):
    """Of `q_table`: a row of values for every state; the current state's row and the joint action taken there."""

    learning_rate = constant()
    gamma = constant()
    explore = part(Exploration)
    heads = part(Heads)
    inputs = size()
    bins = size()
    rows = size()
    hashed = size()
    actions = size()
    low = constants("inputs")
    per_unit = constants("inputs")
    table = floats("rows", "actions")
    steps = counter()
    row = counter()
    choice = counter()


@kernel()
def _row_of(brain: Memory, obs: F32) -> int:
    """The row of this observation's values."""
    return cell_of(obs, brain.low, brain.per_unit, brain.bins, brain.rows, brain.hashed)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Takes the best joint action of this state, or a random one."""
    brain.row = _row_of(brain, obs)
    choice = best_level(brain.table[brain.row])
    if uniform(rng) < epsilon_after(brain.explore, brain.steps):
        choice = randint(rng, brain.actions)
    brain.choice = choice
    for head in range(brain.heads.count):
        write_action(brain.heads, action, head, choice % brain.heads.levels)
        choice //= brain.heads.levels


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """One step of Q-learning. Only termination ends the future, truncation does not."""
    brain.steps += 1
    goal = outcome.reward
    if outcome.terminated == 0.0:
        following = brain.table[_row_of(brain, obs)]
        goal += brain.gamma * following[best_level(following)]
    values, choice = brain.table[brain.row], brain.choice
    values[choice] += np.float32(brain.learning_rate * (goal - values[choice]))


class QTable(CompiledBrain):
    """Q-learning in a table: the smallest brain that learns from reward.

    | part | how |
    |---|---|
    | state | each input cut into `bins` equal cells of its range |
    | table | a row for every combination of cells; if these are more than `rows`, a hash gives several the same row |
    | actions | discrete ones, or all combinations of `levels` values of each effector |
    | exploration | epsilon falls linearly from `epsilon_start` to `epsilon_end` |
    | update | Q += learning_rate x (reward + gamma x best Q of the next state - Q); truncation is no end |

    It is made for few inputs that are rough by nature. Inputs in finer steps, or more than about six of them, fill more
    cells than a run visits, and several share a row by chance: poles are not balanced (`cartpole-v2` 0.04).
    """

    name: ClassVar[str] = "q_table"
    kind: ClassVar[BrainClass] = "classical"
    config = QTableConfig
    memory = Memory
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def without_learning(cls, config: QTableConfig) -> QTableConfig:
        """From the first step on it explores as little as it would at the end."""
        return config.model_copy(update={"epsilon_start": config.epsilon_end})

    @classmethod
    def synapses(cls, config: QTableConfig, brain: Memory) -> list[Synapses]:
        """A row of the table is looked up: it has parameters, and nothing is multiplied."""
        rows, columns = brain.table.shape
        return [Synapses("table", rows, columns, columns, operations=0)]

    @classmethod
    def sizes(cls, config: QTableConfig, body: Interface) -> Mapping[str, Any]:
        """The table, if the body has not too many joint actions for one.

        Raises:
            ValueError: if it has.
        """
        heads = Heads.shape(body, config.levels)
        actions = heads["levels"] ** heads["count"]
        if actions > _MOST_ACTIONS:
            raise ValueError(
                f"brain 'q_table' would need {actions} joint actions ({heads['levels']} levels of {heads['count']} "
                f"effectors), at most {_MOST_ACTIONS} are possible: set fewer levels"
            )
        rows = min(config.bins**body.inputs, config.rows)
        return {**cut_sizes(body, config.bins, config.rows), "heads": heads, "actions": actions, "rows": rows}
