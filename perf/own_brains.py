"""What a brain of one's own costs: our share of a step of a Python brain, and what a batch of runs saves.

The idle brain answers at once and learns nothing, so everything that is measured is ours. Its peer is the same run
through the run loop in the interpreter, which calls every compiled function by itself. A batch of 64 runs is compared
with the same brain, one run after another, and a torch population with the same algorithm as one writes it. These times
are processor time of one thread, because others may be at work on the machine; the best of alternating rounds counts.
The speed of Ray nodes is wall time: it means something on an idle machine only.
"""

import importlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.engine import loop
from nematodebench.engine.batch import execute_batch
from nematodebench.engine.python_brain import PythonBrains
from nematodebench.engine.run import RunSpec, compile_for, execute, interface
from nematodebench.tasks.registry import get_task
from nematodebench.worlds.arrays import WorldArrays
from perf import _on_ray, kit_brain

ROUNDS, EPISODES, SEED = 3, 60, 7
TASK = "foraging_small-v1"
EXAMPLES = Path(__file__).parents[1] / "examples"


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
    """Microseconds a step of a run."""
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


def example(module: str, name: str) -> Any:
    """A brain of examples/."""
    sys.path.insert(0, str(EXAMPLES))
    return getattr(importlib.import_module(module), name)


def default_config(brain: Any) -> Any:
    """The parameters of a brain as it declares them."""
    return getattr(brain, "config", dict)()


def batch_and_plain(brain: Any, plain: Any, episodes: int, alone: int) -> tuple[float, float]:
    """Steps a second of 64 runs of a brain side by side, and of some runs of the plain one, one after another."""
    task = get_task(TASK).with_episodes(episodes)
    compile_for(task, brain)
    specs = tuple(RunSpec(task, brain.__name__, brain, default_config(brain), SEED + n, n) for n in range(64))
    list(execute_batch(specs[:2]))  # the trial
    started = time.thread_time()
    together = list(execute_batch(specs))
    between = time.thread_time()
    apart = [execute(replace(spec, brain=plain, config=default_config(plain))) for spec in specs[:alone]]
    ended = time.thread_time()
    assert all(result.failure is None for result in (*together, *apart))
    speeds = [
        sum(result.steps for result in results) / seconds
        for results, seconds in ((together, between - started), (apart, ended - between))
    ]
    return speeds[0], speeds[1]


def compare(what: str, wanted: float, *given: Any) -> None:
    """Prints both speeds and their ratio."""
    rounds = [batch_and_plain(*given) for _ in range(ROUNDS)]
    ours, plain = (max(speeds) for speeds in zip(*rounds, strict=True))
    verdict = "" if ours / plain >= wanted else "  MISSED"
    print(f"{what}: {ours:,.0f} steps/s, one run after another {plain:,.0f}: ratio {ours / plain:.1f}", end="")
    print(f" (wanted >= {wanted:g}){verdict}", flush=True)


def main() -> None:
    """Measures and prints, the best of alternating rounds."""
    kit_brain.main()
    rounds = [(plain_step(), interpreted_step()) for _ in range(ROUNDS)]
    ours, peer = (min(times) for times in zip(*rounds, strict=True))
    verdict = "" if ours <= 5.0 else "  MISSED"
    print(f"our share of a Python brain's step: {ours:.2f} us (wanted <= 5){verdict}")
    print(f"the run loop in the interpreter: {peer:.2f} us, ratio {peer / ours:.1f}")
    actor, policy = example("linear_actor", "LinearActor"), example("torch_policy", "Reinforce")
    compare("NumPy brain, 64 runs at once", 20, actor, actor, 60, 2)
    compare("torch population of 64-64 policies", 40, policy, example("torch_class", "TorchClass"), 100, 1)
    _on_ray.main()


if __name__ == "__main__":
    main()
