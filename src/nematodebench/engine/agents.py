"""The brains of one run with their arrays: one for each agent, compiled or written in Python."""

import contextlib
import copy
import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface, nothing
from nematodebench.brains.registry import BrainType, is_compiled, without_learning
from nematodebench.engine import loop
from nematodebench.engine.python_brain import PythonBrains, global_generators_kept
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32
from nematodebench.kernels.memory import Memory
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.tasks.base import Phase
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["Agents", "aligned", "memory_digest"]

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


class Agents:
    """The brains of a run, built from its seed, and the functions that the run loop calls with their arrays."""

    def __init__(
        self, brain: BrainType, config: Any, body: Interface, seed: int, agents: int, *, learning: bool = True
    ) -> None:
        self.brain, self.body, self.seed, self.learning = brain, body, seed, learning
        self.config = config if learning else without_learning(brain, config)
        self.rng = np.zeros((agents, RNG_WORDS), dtype=np.uint64)
        self.out = np.zeros((agents, Feedback.count()))
        self.obs = np.zeros((agents, body.inputs), dtype=np.float32)
        self.action = np.zeros((agents, body.action_width), dtype=np.float32)
        self.control_words = np.zeros(loop.Control.count(), dtype=np.int64)
        self.control = loop.Control(self.control_words)
        self.python: PythonBrains | None = None
        if is_compiled(brain):
            self._build_compiled(agents)
        else:
            self._build_python(agents)

    def _build_compiled(self, agents: int) -> None:
        layout = self.brain.layout(self.config, self.body)
        self.hyper = layout.hyper
        self.ints = np.tile(layout.ints, (agents, 1))
        self.mem = aligned(agents, layout.memory)
        for a in range(agents):
            set_stream(self.rng[a], np.uint64(self.seed), STREAM_BRAIN, 0, a)
            row = slice(a, a + 1)
            self.brain.init(
                self.hyper, self.ints[a], self.mem[a], self.rng[a], self.obs[row], self.action[row], self.out[a]
            )
        learn = self.brain.learn if self.learning else nothing
        self.functions: tuple[Any, Any, Any] = (self.brain.begin_episode, self.brain.act, learn)
        self.run_phase: Callable[..., int] = loop.compiled_run_phase()

    def _build_python(self, agents: int) -> None:
        self.hyper, self.ints = np.zeros(1), np.zeros((agents, 1), dtype=np.int64)
        self.mem = np.arange(agents, dtype=np.float32).reshape(agents, 1)
        self.python = PythonBrains(self.brain, self.config, self.body, self.seed, agents)
        learn = self.python.learn if self.learning else self.python.learn_nothing
        self.functions = (self.python.begin, self.python.act, learn)
        self.run_phase = loop.plain_run_phase()

    def run(self, phase: Phase, first_episode: int, *, guided: bool = False) -> tuple[int, NDArray[np.float64]]:
        """One phase; returns the loop's code and the records. ``guided``: the world's reference acts instead."""
        if not phase.learns:
            return self._probe(phase)
        world, arrays = phase.world, WorldArrays(phase.world)
        words = np.zeros(loop.Plan.count(), dtype=np.int64)
        plan = loop.Plan(words)
        plan.episodes, plan.ticks, plan.first_episode = phase.episodes, phase.ticks, first_episode
        plan.choices, plan.guided = self.body.choices, int(guided)
        records = np.empty((phase.episodes or phase.ticks, len(phase.columns)))
        self.obs[:] = 0.0
        code = self.run_phase(
            world.reset, world.step, world.reference or world.step, *self.functions, arrays.params, arrays.states[0],
            arrays.rng[0], self.action, self.obs, arrays.outs[0], self.hyper, self.ints, self.mem, self.rng, self.out,
            np.uint64(self.seed), words, self.control_words, records,
        )  # fmt: skip
        return code, records

    def _probe(self, phase: Phase) -> tuple[int, NDArray[np.float64]]:
        """A phase that a copy goes through without learning; nothing here is different afterwards."""
        twin = copy.copy(self)
        twin.rng, twin.out, twin.action = self.rng.copy(), self.out.copy(), self.action.copy()
        twin.ints, twin.obs = self.ints.copy(), self.obs.copy()
        if self.python is not None:
            twin.python = copy.deepcopy(self.python)
            twin.functions = (twin.python.begin, twin.python.act, twin.python.learn_nothing)
        else:
            twin.mem = aligned(*self.mem.shape)
            twin.mem[:] = self.mem
            twin.functions = (self.brain.begin_episode, self.brain.act, nothing)
        steps = self.control.steps_done
        with global_generators_kept() if self.python is not None else contextlib.nullcontext():
            code, records = twin.run(replace(phase, learns=True), _PROBE_STREAM)
        self.control.steps_done = steps
        return code, records

    def views(self) -> list[Memory]:
        """The compiled brains' memories by name, one for each agent."""
        return [self.brain.memory(self.hyper, i, m) for i, m in zip(self.ints, self.mem, strict=True)]

    def memory_hash(self) -> str:
        """SHA-256 of what the brains remember."""
        if self.python is not None:
            return hashlib.sha256(self.python.memory()).hexdigest()
        return memory_digest(self.views())

    def descriptors(self) -> dict[str, float]:
        """What the brains say of their state, averaged over agents."""
        if self.python is not None:
            return {}
        rows = [self.brain.describe(self.config, view) for view in self.views()]
        return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
