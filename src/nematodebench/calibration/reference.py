"""Scripted references: controllers that know a world's full state go through the phase that is scored."""

from concurrent.futures import ThreadPoolExecutor

from nematodebench.brains.base import CompiledBrain, NoConfig
from nematodebench.engine.agents import Agents
from nematodebench.engine.float_state import standard_floats
from nematodebench.engine.run import compile_for, interface
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import WORLD
from nematodebench.kernels.jit import first_class
from nematodebench.measures.base import RunRecords
from nematodebench.tasks.base import Task

__all__ = ["reference_runs"]


def reference_runs(task: Task, seeds: list[int], workers: int) -> list[RunRecords]:
    """The scored phase of one run for each seed, in which the world's reference acts in the place of a brain."""
    world, phase, body = task.world, task.scored_phase, interface(task)
    if world.reference is None:
        raise UsageError(f"World {world.name!r} has no reference controller.")
    compile_for(task, CompiledBrain)
    first_class(world.reference, WORLD)

    @standard_floats()
    def run(seed: int) -> RunRecords:
        agents = Agents(CompiledBrain, NoConfig(), body, seed, world.agents)
        episodes, records = agents.run(phase, 0, guided=True)
        return {phase.name: records[:episodes]}

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, seeds))
