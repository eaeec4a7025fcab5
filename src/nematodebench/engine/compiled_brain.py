"""Brains that are compiled: their memories and their functions, for all agents of a run."""

import contextlib
import copy
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from nematodebench.brains.base import Interface, nothing
from nematodebench.brains.registry import BrainType
from nematodebench.engine.brain_state import BrainState
from nematodebench.engine.compiled_state import put_back, remembered
from nematodebench.engine.python_state import UnavailableError
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32
from nematodebench.kernels.memory import Memory
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream

__all__ = ["CompiledBrains", "aligned", "memory_digest"]

Functions: TypeAlias = tuple[Any, Any, Any]
"""``begin_episode``, ``act`` and ``learn`` as the run loop calls them."""

FEEDBACK = "feedback/"
"""What the names of the arrays begin with that hold what came of an agent's last step."""
_LINE = 16


def aligned(rows: int, width: int) -> F32:
    """Zeros whose rows begin on cache lines: vector loads are faster there."""
    stride = -(-max(1, width) // _LINE) * _LINE
    raw = np.zeros(rows * stride + _LINE, dtype=np.float32)
    offset = (-raw.ctypes.data // raw.itemsize) % _LINE
    return raw[offset : offset + rows * stride].reshape(rows, stride)


def memory_digest(brains: list[Memory]) -> str:
    """SHA-256 of what brains have learned: name, shape and values of every array, whatever its layout in memory.

    A NaN is hashed as the one canonical NaN, because its other bits mean nothing.
    """
    digest = hashlib.sha256()
    for brain in brains:
        for name, value in brain.learned():
            array = np.array(value, dtype=value.dtype.newbyteorder("<"), order="C")
            if array.dtype.kind == "f":
                array[np.isnan(array)] = np.nan
            digest.update(f"{name}:{array.dtype.str}:{','.join(map(str, array.shape))};".encode())
            digest.update(array.tobytes())
    return f"v2:{digest.hexdigest()}"


class CompiledBrains:
    """The brains of a run that are compiled: their memories, and their functions."""

    def __init__(self, brain: BrainType, config: Any, body: Interface, seed: int, agents: int, learning: bool) -> None:
        self._brain, self._config = brain, config
        layout = brain.layout(config, body)
        self.hyper, self._memory = layout.hyper, layout.memory
        self.ints = np.tile(layout.ints, (agents, 1))
        self.mem = aligned(agents, layout.memory)
        self.out = np.zeros((agents, Feedback.count()))
        self.functions: Functions = (brain.begin_episode, brain.act, brain.learn if learning else nothing)
        obs, action = np.zeros((1, body.inputs), dtype=np.float32), np.zeros((1, body.action_width), dtype=np.float32)
        rng = np.zeros(RNG_WORDS, dtype=np.uint64)
        for a in range(agents):
            set_stream(rng, np.uint64(seed), STREAM_BRAIN, 0, a)
            brain.init(self.hyper, self.ints[a], self.mem[a], rng, obs, action, self.out[a])

    @property
    def run_phase(self) -> Callable[..., int]:
        """The compiled loop; the process of an isolated brain has no use for it and does not load it."""
        from nematodebench.engine import loop

        return loop.compiled_run_phase()

    @contextlib.contextmanager
    def copied(self) -> Iterator["CompiledBrains"]:
        """A copy that does not learn."""
        twin = copy.copy(self)
        twin.ints, twin.out, twin.mem = self.ints.copy(), self.out.copy(), aligned(*self.mem.shape)
        twin.mem[:] = self.mem
        twin.functions = (self._brain.begin_episode, self._brain.act, nothing)
        yield twin

    def views(self) -> list[Memory]:
        """The brains' memories by name, one for each agent."""
        return [self._brain.memory(self.hyper, i, m) for i, m in zip(self.ints, self.mem, strict=True)]

    def memory_hash(self) -> str:
        """SHA-256 of what the brains remember."""
        return memory_digest(self.views())

    def state(self) -> BrainState:
        """Everything that the brains remember, by name, and what the last step brought them.

        Raises:
            UnavailableError: A brain declares no memory by name, but has one.
        """
        if not self._brain.memory.fields and (self.ints.size or self._memory):
            raise UnavailableError("", "it declares no memory by name, but has one")
        arrays = {f"{a}/{name}": value for a, view in enumerate(self.views()) for name, value in remembered(view)}
        arrays |= {f"{FEEDBACK}{a}": row.copy() for a, row in enumerate(self.out)}
        return BrainState(len(self.out), arrays)

    def put(self, state: BrainState, *, streams: bool = True) -> None:
        """Gives the brains a state; their streams begin anew with every episode, so there are none to put.

        Raises:
            UnavailableError: The state does not fit.
        """
        for agent, view in enumerate(self.views()):
            put_back(view, state.of_agent(agent, len(self.out)).arrays)
            own = agent if state.agents > 1 else 0
            self.out[agent] = state.arrays.get(f"{FEEDBACK}{own}", 0.0)

    def descriptors(self) -> dict[str, float]:
        """What the brains say of their state, averaged over agents."""
        rows = [self._brain.describe(self._config, view) for view in self.views()]
        return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}

    def complaint(self) -> str:
        """Nothing: what goes wrong is in the loop's code."""
        return ""

    def close(self) -> None:
        """Nothing is open."""
