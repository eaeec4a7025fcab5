"""What a brain of one's own costs: our share of a step of a Python brain.

The brain answers at once and learns nothing, so everything that is measured is ours. Its peer is the same run through
the run loop in the interpreter, which calls every compiled function by itself.
"""

import time
from typing import Any

import numpy as np

from nematodebench.engine import loop
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays

ROUNDS, EPISODES, SEED = 5, 60, 7
TASK = "foraging_small-v1"


class Idle:
    """Does the same thing at every step."""

    def __init__(self, observation_space: Any, action_space: Any, config: Any, seed: int) -> None:
        """Takes what every brain is built from."""

    def begin_episode(self) -> None:
        """Nothing belongs to an episode."""

    def act(self, observation: Any) -> int:
        """Goes forward."""
        return 0

    def learn(self, transition: Any) -> None:
        """Learns nothing."""


def plain_step() -> float:
    """Microseconds of processor time a step of a run: others may be at work on the machine."""
    task = get_task(TASK).with_episodes(EPISODES)
    compile_for(task, Idle)
    started = time.thread_time()
    result = execute(RunSpec(task, "idle", Idle, {}, SEED))
    assert result.failure is None, result.failure
    return (time.thread_time() - started) / result.steps * 1e6


def interpreted_step() -> float:
    """Microseconds a step of the same run, a fifth as long, in the interpreted loop."""
    task = get_task(TASK).with_episodes(EPISODES // 5)
    phase, body = task.phases[0], interface(task)
    world, arrays = phase.world, WorldArrays(phase.world)
    brains = PythonBrains(Idle, {}, body, SEED, 1, learning=True)
    words, control = (np.zeros(block.count(), dtype=np.int64) for block in (loop.Plan, loop.Control))
    plan = loop.Plan(words)
    plan.episodes, plan.choices = phase.episodes, body.choices
    started = time.thread_time()
    loop.plain_run_phase()(
        world.reset, world.step, world.step, *brains.functions, arrays.params, arrays.states[0], arrays.rng[0],
        arrays.action[0], arrays.obs[0], arrays.outs[0], brains.hyper, brains.ints, brains.mem,
        np.zeros_like(arrays.rng), brains.out, np.uint64(SEED), np.uint64(SEED), words, control,
        np.empty((phase.episodes, len(phase.columns))),
    )  # fmt: skip
    return (time.thread_time() - started) / loop.Control(control).steps_done * 1e6


def main() -> None:
    """Measures and prints, the best of alternating rounds."""
    rounds = [(plain_step(), interpreted_step()) for _ in range(ROUNDS)]
    ours, peer = (min(times) for times in zip(*rounds, strict=True))
    verdict = "" if ours <= 5.0 else "  MISSED"
    print(f"our share of a Python brain's step: {ours:.2f} us (wanted <= 5){verdict}")
    print(f"the run loop in the interpreter:    {peer:.2f} us, ratio {peer / ours:.1f}")


if __name__ == "__main__":
    main()
