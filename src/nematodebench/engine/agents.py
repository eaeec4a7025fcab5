"""The brains of one run with their arrays: one for each agent, compiled or written in Python."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import Interface
from nematodebench.brains.registry import BrainType, is_compiled, without_learning
from nematodebench.callbacks.base import Step
from nematodebench.engine import loop
from nematodebench.engine.brain_state import BrainState
from nematodebench.engine.compiled_brain import CompiledBrains
from nematodebench.engine.isolation.host import Foreign, IsolatedBrains
from nematodebench.engine.lanes import Lanes
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.python_phase import run_python_phase
from nematodebench.engine.seeds import brain_seed
from nematodebench.engine.segments import Pause, Segment, in_segments
from nematodebench.engine.stepwise import Stepwise
from nematodebench.engine.tracing import Trace
from nematodebench.engine.watching import View
from nematodebench.kernels.jit import I64
from nematodebench.kernels.rng import RNG_WORDS
from nematodebench.tasks.base import Phase
from nematodebench.worlds.arrays import WorldArrays

__all__ = ["PROBE_STREAM", "Agents", "Brains"]

Brains: TypeAlias = "CompiledBrains | PythonBrains | IsolatedBrains"
"""What drives the brains of a run: each kind has arrays and functions of the Brain ABI, and a loop that calls them."""

PROBE_STREAM = 1 << 40
"""Number of the first episode of every probe: the same worlds after each phase, and never those of the training."""


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
        start: BrainState | None = None,
    ) -> None:
        self.body, self.seed, self.brain_seed = body, seed, brain_seed(seed)
        self.rng = np.zeros((agents, RNG_WORDS), dtype=np.uint64)
        self.obs = np.zeros((agents, body.inputs), dtype=np.float32)
        self.action = np.zeros((agents, body.action_width), dtype=np.float32)
        self.control_words = np.zeros(loop.Control.count(), dtype=np.int64)
        self.control = loop.Control(self.control_words)
        self.view: View | None = None
        self.on_step: Callable[[Step], None] | None = None
        self.trace: Trace | None = None
        self.brains: Brains
        if isinstance(brain, Foreign):
            self.brains = IsolatedBrains(brain, config, body, self.brain_seed, agents, learning)
        else:
            kind = CompiledBrains if is_compiled(brain) else PythonBrains
            self.brains = kind(
                brain, config if learning else without_learning(brain, config), body, self.brain_seed, agents, learning
            )
            if start is not None:  # generators stay: each run draws from its own seed
                self.brains.put(start, streams=False)

    def run(
        self, phase: Phase, first_episode: int, *, guided: bool = False, pauses: Sequence[Pause] = ()
    ) -> tuple[int, NDArray[np.float64]]:
        """One phase; returns the loop's code and the records.

        Args:
            phase: The phase.
            first_episode: The number of its first episode in the run.
            guided: Whether the world's reference acts instead of the brains.
            pauses: Who is called between episodes.
        """
        if not phase.learns:
            return self._probe(phase, pauses)
        words = np.zeros(loop.Plan.count(), dtype=np.int64)
        plan = loop.Plan(words)
        plan.episodes, plan.ticks, plan.first_episode = phase.episodes, phase.ticks, first_episode
        plan.choices, plan.guided = self.body.choices, int(guided)
        records = np.empty((phase.episodes or phase.ticks, len(phase.columns)))
        self.obs[:] = 0.0
        if self.view is not None:
            self.view.show_plan(phase.name, records, words)
        in_python = isinstance(self.brains, PythonBrains) and self.on_step is None and self.trace is None
        go = (self._python_loop if in_python else self._compiled_loop)(self.brains, phase, words, records)
        if self.trace is not None:
            pauses = [*pauses, Pause(every=1, then=lambda _: None)]  # it is decided anew for every episode

        def segment(first: int, end: int, last: bool) -> Segment:
            return Segment(self.brains, self.control, phase, first_episode, first, records[:end], last)

        return in_segments(go, plan, self.control, pauses, segment), records

    def _python_loop(self, brains: Any, phase: Phase, words: I64, records: NDArray[np.float64]) -> Callable[[], int]:
        """What takes brains that are written in Python to the next pause."""
        arrays, seeds, plan = WorldArrays(phase.world), np.array([self.seed], dtype=np.uint64), loop.Plan(words)
        one = (arrays.params, arrays.states, arrays.rng, self.action[None], self.obs[None], arrays.outs)
        lanes = Lanes(phase.world.reset, phase.world.step, words, seeds, records[None], one)
        lanes.lane(0).first_episode = plan.first_episode
        return partial(run_python_phase, brains, lanes, plan, self.control, self.control_words.data)

    def _compiled_loop(self, brains: Any, phase: Phase, words: I64, records: NDArray[np.float64]) -> Callable[[], int]:
        """What takes brains to the next pause whose functions the run loop calls; interpreted if steps are told."""
        world, arrays = phase.world, WorldArrays(phase.world)
        reference = world.reference if loop.Plan(words).guided else None  # what is never called is not compiled
        if self.on_step is not None and self.view is not None:
            stepwise = Stepwise(brains.functions, world.agents, loop.Plan(words), self.control)
            run_phase, functions = loop.plain_run_phase(), stepwise.functions(self.view, phase.name, self.on_step)
        elif isinstance(brains, PythonBrains):
            run_phase, functions = loop.plain_run_phase(), brains.functions
        else:
            run_phase, functions = brains.run_phase, brains.functions
        given = (
            reference or world.step, *functions, arrays.params, arrays.states[0], arrays.rng[0], self.action, self.obs,
            arrays.outs[0], brains.hyper, brains.ints, brains.mem, self.rng, brains.out, np.uint64(self.seed),
            np.uint64(self.brain_seed), words, self.control_words, records,
        )  # fmt: skip
        go = partial(run_phase, world.reset, world.step, *given)
        return go if self.trace is None else self._traced(self.trace, phase, words, arrays, go, given)

    @staticmethod
    def _traced(
        trace: Trace, phase: Phase, words: I64, arrays: WorldArrays, untraced: Callable[[], int], given: tuple[Any, ...]
    ) -> Callable[[], int]:
        """What goes to the next pause, which is one episode away: traced if that episode is wanted."""
        plan = loop.Plan(words)
        traced = partial(loop.plain_run_phase(), *trace.functions(phase, plan), *given)

        def go() -> int:
            if not trace.wants(phase.name, plan.episode):
                return untraced()
            code = traced()
            trace.end_episode(arrays.outs[0])
            return code

        return go

    def _probe(self, phase: Phase, pauses: Sequence[Pause]) -> tuple[int, NDArray[np.float64]]:
        """A phase that a copy goes through without learning; nothing here is different afterwards."""
        twin = copy.copy(self)
        twin.rng, twin.action, twin.obs = self.rng.copy(), self.action.copy(), self.obs.copy()
        steps = self.control.steps_done
        with self.brains.copied() as twin.brains:
            code, records = twin.run(replace(phase, learns=True), PROBE_STREAM, pauses=pauses)
        self.control.steps_done = steps
        return code, records
