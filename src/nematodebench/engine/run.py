"""One run: a fresh brain from the run's seed goes through the phases of a task. It depends on nothing else."""

import hashlib
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.configs import resolve_config, resolve_stored
from nematodebench.brains.registry import BrainType
from nematodebench.engine import loop
from nematodebench.engine.agents import Agents
from nematodebench.engine.checkpoints import keeping_pauses, state_of
from nematodebench.engine.compiling import compile_parts
from nematodebench.engine.failures import crash, illegal_action
from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.isolation.host import Foreign, prepare
from nematodebench.engine.limits import late, time_limit
from nematodebench.engine.segments import Pause
from nematodebench.engine.spec import RunSpec, interface
from nematodebench.engine.tracing import Trace
from nematodebench.engine.watching import Watch
from nematodebench.errors import UsageError
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.tasks.base import Task

__all__ = [
    "RunFailure",
    "RunResult",
    "RunSpec",
    "compile_for",
    "execute",
    "interface",
    "record_hash",
    "resolve_config",
    "resolve_stored",
]

_WHY = {
    loop.BAD_REWARD: "the world returned a reward that is not a number",
    loop.CANCELLED: "the run was interrupted",
}


def record_hash(task: Task, records: dict[str, NDArray[np.float64]]) -> str:
    """SHA-256 of a run's episodes: names of phases and columns, then the numbers as little-endian float64."""
    digest = hashlib.sha256()
    for phase in task.phases:
        rows = np.ascontiguousarray(records[phase.name], dtype="<f8")
        digest.update(f"{phase.name}:{','.join(phase.columns)}:{rows.shape[0]};".encode())
        digest.update(rows.tobytes())
    return digest.hexdigest()


def compile_for(task: Task, brain: BrainType | Foreign) -> None:
    """Compiles (or loads) what a run needs, so that no run pays for it."""
    compile_parts(task, brain)
    if isinstance(brain, Foreign):
        prepare(brain, interface(task))


@standard_floats()
def execute(
    spec: RunSpec,
    watch: Watch | None = None,
    *,
    raising: bool = False,
    pauses: Sequence[Pause] = (),
    trace: Trace | None = None,
) -> RunResult:
    """Executes one run. Whatever goes wrong inside becomes a failure with its place, never a score.

    Args:
        spec: The run.
        watch: Who is shown the run while it goes on, and can stop it.
        raising: Whether an error of the brain is raised as it is, for a debugger.
        pauses: Who is called between episodes; what they raise ends the run like an error of the brain.
        trace: Keeps what happens in the episodes that it wants.
    """
    started = time.perf_counter()
    at = spec.task.phases[0].name
    agents: Agents | None = None
    try:
        task = spec.task
        start = None if spec.start is None else state_of(spec.start)
        agents = Agents(
            spec.brain, spec.config, interface(task), spec.seed, task.world.agents, learning=task.learning, start=start
        )
        agents.trace = trace
        pauses = [*pauses, *keeping_pauses(spec)]
        if watch is not None:
            agents.view, agents.on_step = watch.view(spec.index, spec.seed, agents.control), watch.on_step
            pauses = (*pauses, *watch.pauses())
        records: dict[str, NDArray[np.float64]] = {}
        episodes = 0
        with time_limit(spec.limit, [agents.control]):
            for phase in spec.task.phases:
                at = phase.name
                code, rows = agents.run(phase, episodes, pauses=pauses)
                if code < 0:
                    return RunResult(spec.index, spec.seed, failure=_failure(spec, code, at, agents))
                records[at] = rows[:code].copy()
                episodes += code if phase.learns else 0
        memory_hash, descriptors = agents.brains.memory_hash(), agents.brains.descriptors()
    except (UsageError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a brain that ends the process, or whose library panics, ends its run
        if raising:
            raise
        where = (None, None) if agents is None else (agents.control.at_episode, agents.control.at_step)
        return RunResult(spec.index, spec.seed, failure=crash(error, at, *where))
    finally:
        if agents is not None:
            agents.brains.close()
            if agents.view is not None:
                agents.view.over = True
    return RunResult(
        spec.index,
        spec.seed,
        records,
        record_hash(spec.task, records),
        memory_hash,
        descriptors,
        agents.control.steps_done,
        time.perf_counter() - started,
    )


def _failure(spec: RunSpec, code: int, phase: str, agents: Agents) -> RunFailure:
    episode, step = agents.control.at_episode, agents.control.at_step
    illegal = illegal_action(agents.action, agents.body.choices) if code == loop.ILLEGAL_ACTION else ""
    expired = late(spec.limit or 0.0) if code == loop.CANCELLED and agents.control.stop == loop.TIME_IS_UP else ""
    why = expired or agents.brains.complaint() or illegal or _WHY[code]
    return RunFailure(f"{why} at episode {episode}, step {step} of phase {phase!r}", phase, episode, step)
