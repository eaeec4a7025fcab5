"""Brain `q_table`: tabular Q-learning over coarse inputs."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.brains.parameters import searched
from nematodebench.brains.parts.heads import best_level, epsilon_of, heads_of, write_action
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import randint, uniform

__all__ = ["QTable", "QTableConfig"]

# Words of ints; CELL is the place of the current state's values, CHOICE the joint action taken there.
INPUTS, HEADS, LEVELS, EFFECTORS, ACTIONS, ROWS, BINS, HASHED, STEPS, CELL, CHOICE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
# Words of hyper; the sensors' lower ends begin at LOW, bins per unit of theirs behind them.
RATE, GAMMA, EPSILON, LOW = 0, 1, 2, 5
_MOST_ACTIONS = 4096
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class QTableConfig(BrainConfig):
    """Parameters of `q_table`."""

    bins: int = Field(
        5,
        ge=2,
        le=256,
        description="cells along each input, between its lowest and highest value",
        json_schema_extra=searched(2, 12, "medium"),
    )
    rows: int = Field(16384, ge=1, le=1 << 22, description="states the table holds; more share rows by a hash")
    learning_rate: float = Field(
        0.1,
        ge=0,
        le=1,
        description="share of the error corrected at once",
        json_schema_extra=searched(0.01, 1, "high", log=True, off=0.0),
    )
    gamma: float = Field(
        0.95,
        ge=0,
        le=1,
        description="discount of future reward",
        json_schema_extra=searched(0.5, 0.999, "high", off=0.0),
    )
    epsilon_start: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of random actions at first",
        json_schema_extra=searched(0, 1, "medium", off=0.0),
    )
    epsilon_end: float = Field(
        0.05,
        ge=0,
        le=1,
        description="share of random actions at last",
        json_schema_extra=searched(0.001, 0.3, "high", log=True, off=0.0),
    )
    epsilon_steps: int = Field(
        5000,
        ge=0,
        le=1 << 30,
        description="steps over which it goes down",
        json_schema_extra=searched(100, 50000, "high", log=True),
    )
    levels: int = Field(3, ge=2, le=64, description="values an effector can take")


@kernel()
def _bin(hyper: F64, ints: I64, obs: F32M, n: int) -> int:
    place = (obs[0, n] - hyper[LOW + n]) * hyper[LOW + ints[INPUTS] + n]
    if not place > 0.0:
        return 0
    return int(min(np.int64(min(place, 1e6)), ints[BINS] - 1))


@kernel()
def _cell(hyper: F64, ints: I64, obs: F32M) -> int:
    """Place in memory of this observation's Q values."""
    if ints[HASHED] == 0:
        row = 0
        for n in range(ints[INPUTS]):
            row = row * ints[BINS] + _bin(hyper, ints, obs, n)
        return int(row * ints[ACTIONS])
    mixed = np.uint64(0)
    for n in range(ints[INPUTS]):
        mixed = (mixed ^ np.uint64(_bin(hyper, ints, obs, n) + 1)) * _MIX
        mixed ^= mixed >> _SHIFT
    return int(np.int64(mixed % np.uint64(ints[ROWS])) * ints[ACTIONS])


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The best joint action of this cell, or a random one."""
    ints[CELL] = _cell(hyper, ints, obs)
    choice = best_level(mem, ints[CELL], ints[ACTIONS])
    if uniform(rng) < epsilon_of(hyper, EPSILON, ints[STEPS]):
        choice = randint(rng, ints[ACTIONS])
    ints[CHOICE] = choice
    for head in range(ints[HEADS]):
        write_action(action, head, ints[EFFECTORS] > 0, choice % ints[LEVELS], ints[LEVELS])
        choice //= ints[LEVELS]


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """One step of Q-learning. Only death ends the future, truncation does not."""
    ints[STEPS] += 1
    goal = out[2]
    if out[0] == 0.0:
        following = _cell(hyper, ints, obs)
        goal += hyper[GAMMA] * mem[following + best_level(mem, following, ints[ACTIONS])]
    place = ints[CELL] + ints[CHOICE]
    mem[place] += np.float32(hyper[RATE] * (goal - mem[place]))


class QTable(CompiledBrain):
    """Q-learning in a table: the smallest brain that learns from reward.

    | part | how |
    |---|---|
    | state | each input cut into `bins` equal cells of its range |
    | table | a row for every combination of cells; if these are more than `rows`, a hash gives several the same row |
    | actions | discrete ones, or all combinations of `levels` values of each effector |
    | exploration | epsilon falls linearly from `epsilon_start` to `epsilon_end` |
    | update | Q += learning_rate x (reward + gamma x best Q of the next state - Q); truncation is not death |
    """

    name: ClassVar[str] = "q_table"
    kind: ClassVar[BrainClass] = "classical"
    config = QTableConfig
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: QTableConfig, body: Interface) -> Layout:
        """The table, if the body has not too many joint actions for one.

        Raises:
            ValueError: if it has.
        """
        heads, levels = heads_of(body, config.levels)
        actions = levels**heads
        if actions > _MOST_ACTIONS:
            raise ValueError(
                f"brain 'q_table' would need {actions} joint actions ({levels} levels of {heads} effectors), "
                f"at most {_MOST_ACTIONS} are possible: set fewer levels"
            )
        states = config.bins**body.inputs
        rows = min(states, config.rows)
        head = [body.inputs, heads, levels, body.effectors, actions, rows, config.bins, states > rows, 0, 0, 0]
        spans = [high - low for low, high in zip(body.low, body.high, strict=True)]
        per_unit = [config.bins / span if span > 0 else 0.0 for span in spans]
        hyper = [
            config.learning_rate, config.gamma, config.epsilon_start, config.epsilon_end, config.epsilon_steps,
            *body.low, *per_unit,
        ]  # fmt: skip
        return Layout(np.array(hyper, dtype=np.float64), np.array(head, dtype=np.int64), rows * actions)
