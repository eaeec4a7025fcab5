"""Scripted references: controllers that know a world's full state, lived through the phase that is scored."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import types
from numpy.typing import NDArray

from nematodebench.engine.loop import write_record
from nematodebench.errors import UsageError
from nematodebench.kernels.abi import OUT_REWARD, WORLD, WorldFunction
from nematodebench.kernels.jit import F32M, F64, F64M, U64, first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_EXPLORATION, STREAM_WORLD, set_stream
from nematodebench.measures.base import RunRecords
from nematodebench.tasks.base import Task

__all__ = ["reference_runs"]


@kernel(cached=True)
def _live(
    reset: WorldFunction,
    step: WorldFunction,
    reference: WorldFunction,
    params: F64,
    state: F64,
    rng: U64,
    own_rng: U64,
    action: F32M,
    obs: F32M,
    out: F64,
    seed: np.uint64,
    records: F64M,
) -> None:
    """Fills one record an episode. No brain: the reference sees what no brain may see."""
    agents = obs.shape[0]
    for episode in range(records.shape[0]):
        set_stream(rng, seed, STREAM_WORLD, episode, 0)
        set_stream(own_rng, seed, STREAM_EXPLORATION, episode, 0)
        reset(params, state, rng, action, obs, out)
        steps, total, done = 0, 0.0, False
        while not done:
            reference(params, state, own_rng, action, obs, out)
            step(params, state, rng, action, obs, out)
            steps += 1
            for a in range(agents):
                total += out[OUT_REWARD + a]
            done = out[0] != 0.0 or out[1] != 0.0
        write_record(records[episode], out, agents, total, steps)


_W, _f64, _u64, _f32m = types.FunctionType(WORLD), types.float64[::1], types.uint64[::1], types.float32[:, ::1]
_SIGNATURE = types.void(
    _W, _W, _W, _f64, _f64, _u64, _u64, _f32m, _f32m, _f64, types.uint64, types.float64[:, ::1]
)  # fmt: skip


def reference_runs(task: Task, seeds: list[int], workers: int) -> list[RunRecords]:
    """The scored phase of one run for each seed, lived by the world's reference."""
    world = task.world
    if world.reference is None:
        raise UsageError(f"World {world.name!r} has no reference controller.")
    functions = [first_class(function, WORLD) for function in (world.reset, world.step, world.reference)]
    compiled: Callable[..., None] = first_class(_live, _SIGNATURE)
    phase, width = task.scored_phase, 1 if task.discrete else world.actions.n

    def one(seed: int) -> dict[str, NDArray[np.float64]]:
        records = np.empty((phase.episodes, len(phase.columns)))
        compiled(
            *functions, world.pack(), np.zeros(world.state_size), np.zeros(RNG_WORDS, dtype=np.uint64),
            np.zeros(RNG_WORDS, dtype=np.uint64), np.zeros((world.agents, width), dtype=np.float32),
            np.zeros((world.agents, len(world.sensors)), dtype=np.float32), np.zeros(world.out_size), np.uint64(seed),
            records,
        )  # fmt: skip
        return {phase.name: records}

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, seeds))
