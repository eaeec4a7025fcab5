"""One run: a fresh brain from the run's seed lives through the phases of a task. Depends on nothing else."""

import contextlib
import copy
import hashlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import BrainConfig, CompiledBrain, Interface, nothing
from nematodebench.brains.registry import BrainType, config_of, is_compiled
from nematodebench.engine import loop
from nematodebench.engine.python_brain import PythonLife, global_generators_kept
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import BRAIN, F32, WORLD, first_class
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.base import Discrete

__all__ = [
    "RunFailure",
    "RunResult",
    "RunSpec",
    "aligned",
    "compile_for",
    "execute",
    "interface",
    "record_hash",
    "resolve_config",
]

_BRAIN_OUT = 3
_PROBE_STREAM = 1 << 40
"""Number of the first episode of every probe: the same worlds after each phase, and never those of the training."""
_WHY = {
    loop.ILLEGAL_ACTION: "the brain returned NaN or an illegal action",
    loop.BAD_REWARD: "the world returned a reward that is not a number",
    loop.CANCELLED: "the run was interrupted",
}


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run."""

    task: Task
    brain_name: str
    brain: BrainType
    config: Any
    seed: int
    index: int = 0


def interface(task: Task) -> Interface:
    """The body a task gives its brain: the widest of its worlds, narrower ones leave inputs at 0 and actions idle."""
    worlds = task.worlds
    widest = max((world.sensors for world in worlds), key=len)
    others = [[world.sensors[n] for world in worlds if n < len(world.sensors)] for n in range(len(widest))]
    actions = max((world.actions for world in worlds), key=lambda kind: kind.n)
    discrete = isinstance(actions, Discrete)
    return Interface(
        sensors=tuple(sensor.name for sensor in widest),
        low=tuple(min(sensor.low for sensor in same) for same in others),
        high=tuple(max(sensor.high for sensor in same) for same in others),
        choices=actions.n if discrete else 0,
        effectors=0 if discrete else actions.n,
        choice_names=actions.names if discrete else (),
    )


def resolve_config(name: str, brain: BrainType, given: dict[str, Any] | None) -> Any:
    """The brain's full config with defaults; one line that names the key where something is wrong."""
    from pydantic import ValidationError

    model = config_of(brain)
    if model is None:
        return dict(given or {})
    try:
        return model(**(given or {}))
    except ValidationError as error:
        raise UsageError(_config_message(name, model, error)) from error


def _config_message(name: str, model: type[BrainConfig], error: Any) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"Brain {name!r} has no parameter {key!r}. It has: {', '.join(model.model_fields) or 'none'}."
    return f"Parameter {key!r} of brain {name!r}: {first['msg']} (got {first['input']!r})."


def record_hash(task: Task, records: dict[str, NDArray[np.float64]]) -> str:
    """SHA-256 of a run's episodes: names of phases and columns, then the numbers as little-endian float64."""
    digest = hashlib.sha256()
    for phase in task.phases:
        rows = np.ascontiguousarray(records[phase.name], dtype="<f8")
        digest.update(f"{phase.name}:{','.join(phase.columns)}:{rows.shape[0]};".encode())
        digest.update(rows.tobytes())
    return digest.hexdigest()


def compile_for(task: Task, brain: BrainType) -> None:
    """Compiles (or loads) what a run needs, so that no run pays for it."""
    loop.compiled_run_phase()
    for phase in task.phases:
        first_class(phase.world.reset, WORLD)
        first_class(phase.world.step, WORLD)
        phase.world.pack()  # its tables are compiled too
    if is_compiled(brain):
        for function in (brain.init, brain.begin_episode, brain.act, brain.learn, nothing):
            first_class(function, BRAIN)


def aligned(rows: int, width: int) -> F32:
    """Zeros whose rows begin on cache lines: vector loads are faster there."""
    stride = -(-max(1, width) // 16) * 16
    raw = np.zeros(rows * stride + 16, dtype=np.float32)
    offset = (-raw.ctypes.data // 4) % 16
    return raw[offset : offset + rows * stride].reshape(rows, stride)


class _Life:
    """The arrays of one run and the functions that work on them."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec, self.body = spec, interface(spec.task)
        agents = spec.task.world.agents
        self.rng = np.zeros((agents, RNG_WORDS), dtype=np.uint64)
        self.out = np.zeros((agents, _BRAIN_OUT))
        self.obs = np.zeros((agents, self.body.inputs), dtype=np.float32)
        self.action = np.zeros((agents, self.body.action_width), dtype=np.float32)
        self.control = np.zeros(4, dtype=np.int64)
        self.python: PythonLife | None = None
        if is_compiled(spec.brain):
            self._build_compiled(spec.brain, agents)
        else:
            self._build_python(agents)

    def _build_compiled(self, brain: type[CompiledBrain], agents: int) -> None:
        layout = brain.layout(self.spec.config, self.body)
        self.hyper = np.ascontiguousarray(layout.hyper, dtype=np.float64)
        self.ints = np.tile(np.asarray(layout.ints, dtype=np.int64), (agents, 1))
        self.mem = aligned(agents, layout.memory)
        for a in range(agents):
            set_stream(self.rng[a], np.uint64(self.spec.seed), STREAM_BRAIN, 0, a)
            row = slice(a, a + 1)
            brain.init(self.hyper, self.ints[a], self.mem[a], self.rng[a], self.obs[row], self.action[row], self.out[a])
        self.functions: tuple[Any, Any, Any] = (brain.begin_episode, brain.act, brain.learn)
        self.run_phase: Callable[..., int] = loop.compiled_run_phase()

    def _build_python(self, agents: int) -> None:
        self.hyper, self.ints = np.zeros(1), np.zeros((agents, 1), dtype=np.int64)
        self.mem = np.arange(agents, dtype=np.float32).reshape(agents, 1)
        self.python = PythonLife(self.spec.brain, self.spec.config, self.body, self.spec.seed, agents)
        self.functions = (self.python.begin, self.python.act, self.python.learn)
        self.run_phase = loop.plain_run_phase()

    def live(self, phase: Phase, first_episode: int) -> tuple[int, NDArray[np.float64]]:
        """One phase; returns the loop's code and the records."""
        world = phase.world
        plan = np.array([phase.episodes, phase.ticks, first_episode, self.body.choices], dtype=np.int64)
        records = np.empty((phase.episodes or phase.ticks, len(phase.columns)))
        self.obs[:] = 0.0
        code = self.run_phase(
            world.reset, world.step, *self.functions, world.pack(), np.zeros(world.state_size),
            np.zeros(RNG_WORDS, dtype=np.uint64), self.action, self.obs, np.zeros(world.out_size), self.hyper,
            self.ints, self.mem, self.rng, self.out, np.uint64(self.spec.seed), plan, self.control, records,
        )  # fmt: skip
        return code, records

    def probe(self, phase: Phase) -> tuple[int, NDArray[np.float64]]:
        """A phase lived by a copy that does not learn; nothing here is different afterwards."""
        twin = copy.copy(self)
        twin.rng, twin.out, twin.action = self.rng.copy(), self.out.copy(), self.action.copy()
        twin.ints, twin.obs, twin.mem = self.ints.copy(), self.obs.copy(), aligned(*self.mem.shape)
        twin.mem[:] = self.mem
        if self.python is not None:
            twin.python = copy.deepcopy(self.python)
            twin.functions = (twin.python.begin, twin.python.act, twin.python.learn_nothing)
        else:
            twin.functions = (self.spec.brain.begin_episode, self.spec.brain.act, nothing)
        steps = self.control[loop.STEPS_DONE]
        with global_generators_kept() if self.python is not None else contextlib.nullcontext():
            code, records = twin.live(phase, _PROBE_STREAM)
        self.control[loop.STEPS_DONE] = steps
        return code, records

    def memory_hash(self) -> str:
        """SHA-256 of what the brain remembers."""
        if self.python is not None:
            return hashlib.sha256(self.python.memory()).hexdigest()
        return hashlib.sha256(self.mem.tobytes() + self.ints.tobytes()).hexdigest()

    def descriptors(self) -> dict[str, float]:
        """What the brain says of its state, averaged over agents."""
        if self.python is not None:
            return {}
        rows = [self.spec.brain.describe(self.spec.config, i, m) for i, m in zip(self.ints, self.mem, strict=True)]
        return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def execute(spec: RunSpec, stop: Callable[[NDArray[np.int64]], None] | None = None) -> RunResult:
    """Executes one run. Whatever goes wrong inside becomes a failure with its place, never a score.

    Args:
        spec: The run.
        stop: Is given the run's control words when it starts: whoever keeps them can stop the run or watch its steps.
    """
    started = time.perf_counter()
    at = spec.task.phases[0].name
    try:
        life = _Life(spec)
        if stop is not None:
            stop(life.control)
        records: dict[str, NDArray[np.float64]] = {}
        lived = 0
        for phase in spec.task.phases:
            at = phase.name
            code, rows = life.live(phase, lived) if phase.learns else life.probe(phase)
            if code < 0:
                return RunResult(spec.index, spec.seed, failure=_failure(code, at, life.control))
            records[at] = rows[:code].copy()
            lived += code if phase.learns else 0
    except UsageError:
        raise
    except Exception as error:
        place = traceback.format_exc()
        return RunResult(
            spec.index, spec.seed, failure=RunFailure(f"{type(error).__name__}: {error}", at, traceback=place)
        )
    return RunResult(
        spec.index,
        spec.seed,
        records,
        record_hash(spec.task, records),
        life.memory_hash(),
        life.descriptors(),
        int(life.control[loop.STEPS_DONE]),
        time.perf_counter() - started,
    )


def _failure(code: int, phase: str, control: NDArray[np.int64]) -> RunFailure:
    episode, step = int(control[loop.AT_EPISODE]), int(control[loop.AT_STEP])
    return RunFailure(f"{_WHY[code]} at episode {episode}, step {step} of phase {phase!r}", phase, episode, step)
