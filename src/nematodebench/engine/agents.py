"""The brains of one run with their arrays: one for each agent, compiled or written in Python."""

import contextlib
import copy
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface, nothing
from nematodebench.brains.registry import BrainType, is_compiled, without_learning
from nematodebench.engine import loop
from nematodebench.engine.isolation.host import Foreign, IsolatedBrains
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.seeds import brain_seed
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32
from nematodebench.kernels.memory import Memory
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.tasks.base import Phase
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["Agents", "Brains", "CompiledBrains", "aligned", "memory_digest"]

Functions: TypeAlias = tuple[Any, Any, Any]
"""``begin_episode``, ``act`` and ``learn`` as the run loop calls them."""

Brains: TypeAlias = "CompiledBrains | PythonBrains | IsolatedBrains"
"""What drives the brains of a run: each kind has arrays and functions of the Brain ABI, and a loop that calls them."""

_PROBE_STREAM = 1 << 40
"""Number of the first episode of every probe: the same worlds after each phase, and never those of the training."""
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
        self.hyper = layout.hyper
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
        """The compiled loop; the process of an isolated brain has brains and needs no loop."""
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

    def descriptors(self) -> dict[str, float]:
        """What the brains say of their state, averaged over agents."""
        rows = [self._brain.describe(self._config, view) for view in self.views()]
        return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}

    def complaint(self) -> str:
        """Nothing: what goes wrong is in the loop's code."""
        return ""

    def close(self) -> None:
        """Nothing is open."""


class Agents:
    """The brains of a run, built from its seed, and the arrays that the run loop shares with them."""

    def __init__(
        self,
        brain: BrainType | Foreign,
        config: Any,
        body: Interface,
        seed: int,
        agents: int,
        *,
        learning: bool = True,
    ) -> None:
        self.body, self.seed, self.brain_seed = body, seed, brain_seed(seed)
        self.rng = np.zeros((agents, RNG_WORDS), dtype=np.uint64)
        self.obs = np.zeros((agents, body.inputs), dtype=np.float32)
        self.action = np.zeros((agents, body.action_width), dtype=np.float32)
        self.control_words = np.zeros(loop.Control.count(), dtype=np.int64)
        self.control = loop.Control(self.control_words)
        self.brains: Brains
        if isinstance(brain, Foreign):
            self.brains = IsolatedBrains(brain, config, body, self.brain_seed, agents, learning)
        else:
            kind = CompiledBrains if is_compiled(brain) else PythonBrains
            self.brains = kind(
                brain, config if learning else without_learning(brain, config), body, self.brain_seed, agents, learning
            )

    def run(self, phase: Phase, first_episode: int, *, guided: bool = False) -> tuple[int, NDArray[np.float64]]:
        """One phase; returns the loop's code and the records. ``guided``: the world's reference acts instead."""
        if not phase.learns:
            return self._probe(phase)
        world, arrays, brains = phase.world, WorldArrays(phase.world), self.brains
        words = np.zeros(loop.Plan.count(), dtype=np.int64)
        plan = loop.Plan(words)
        plan.episodes, plan.ticks, plan.first_episode = phase.episodes, phase.ticks, first_episode
        plan.choices, plan.guided = self.body.choices, int(guided)
        records = np.empty((phase.episodes or phase.ticks, len(phase.columns)))
        self.obs[:] = 0.0
        code = brains.run_phase(
            world.reset, world.step, world.reference or world.step, *brains.functions, arrays.params, arrays.states[0],
            arrays.rng[0], self.action, self.obs, arrays.outs[0], brains.hyper, brains.ints, brains.mem, self.rng,
            brains.out, np.uint64(self.seed), np.uint64(self.brain_seed), words, self.control_words, records,
        )  # fmt: skip
        return code, records

    def _probe(self, phase: Phase) -> tuple[int, NDArray[np.float64]]:
        """A phase that a copy goes through without learning; nothing here is different afterwards."""
        twin = copy.copy(self)
        twin.rng, twin.action, twin.obs = self.rng.copy(), self.action.copy(), self.obs.copy()
        steps = self.control.steps_done
        with self.brains.copied() as twin.brains:
            code, records = twin.run(replace(phase, learns=True), _PROBE_STREAM)
        self.control.steps_done = steps
        return code, records
