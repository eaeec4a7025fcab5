"""Steps a second of every compiled world under random actions, beside Gymnasium's CartPole-v1 in the same run.

A step here is what a run pays for one: the engine's own loop, `null_random` acting, resets and records included, one
core. The peer is `gymnasium.make("CartPole-v1")` with random actions drawn beforehand and a reset at every end. Rounds
alternate and the best of each counts, so that a busy machine disturbs none more than the others. In a swarm every agent
counts: eight of them move in a tick.
"""

import time
from typing import Any

import gymnasium
import numpy as np

from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.measures.descriptive import DESCRIPTIVE
from nematodebench.tasks.base import Phase, Task
from nematodebench.tasks.registry import all_tasks
from nematodebench.worlds.base import World

ROUNDS, STEPS, PEER_STEPS = 12, 20_000, 2_000
WANTED = 10.0
BRAIN = "null_random"


def worlds() -> dict[str, World]:
    """Every world a task is played in, by the first task that does."""
    found: dict[str, World] = {}
    for name, task in all_tasks().items():
        for phase in task.phases:
            if phase.world not in found.values():
                found[name if phase.world == task.world else f"{name} ({phase.name})"] = phase.world
    return found


def spec_of(world: World) -> RunSpec:
    """A run of nothing but random steps."""
    task = Task("perf-v1", "for speed", (Phase("train", world, ticks=STEPS),), "train", DESCRIPTIVE, "")
    brain = get_brain(BRAIN)
    compile_for(task, brain)
    return RunSpec(task, BRAIN, brain, brain.config(), 1)


def seconds_a_step(spec: RunSpec) -> float:
    """Wall time of one step of a world."""
    start = time.perf_counter()
    result = execute(spec)
    seconds = time.perf_counter() - start
    if result.failure is not None:
        raise RuntimeError(result.failure)
    return seconds / result.steps


def peer_seconds_a_step(env: Any, actions: list[int]) -> float:
    """Wall time of one step of the peer."""
    start = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return (time.perf_counter() - start) / len(actions)


def main() -> None:
    """Alternates between all; prints the best round of each and its ratio to the peer."""
    specs = {name: spec_of(world) for name, world in worlds().items()}
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 2, PEER_STEPS).tolist()
    best, peer = dict.fromkeys(specs, np.inf), np.inf
    for _ in range(ROUNDS):
        peer = min(peer, peer_seconds_a_step(env, actions))
        for name, spec in specs.items():
            best[name] = min(best[name], seconds_a_step(spec))
    print(f"{'Gymnasium CartPole-v1':36s} {1e-6 / peer:7.3f} M steps/s")
    for name, seconds in best.items():
        rate = specs[name].task.world.agents / seconds
        print(f"{name:36s} {1e-6 * rate:7.3f} M steps/s  ({rate * peer:.0f} x)")
    ratio = peer / best["cartpole-v1"]
    below = "" if ratio >= WANTED else "  BELOW"
    print(f"ratio: cartpole-v1 {ratio:.0f} x Gymnasium's (wanted {WANTED:.0f} x){below}")


if __name__ == "__main__":
    main()
