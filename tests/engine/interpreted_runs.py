"""Short runs of tiny brains; as a script, their hashes as JSON, for a process that compiles nothing."""

import json
import sys
from dataclasses import replace

from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import RunSpec, compile_for, execute, resolve_config
from nematodebench.kernels.jit import INTERPRETED
from nematodebench.tasks.registry import get_task

TICKS = 40
TASKS = {"discrete": "foraging_small-v1", "effectors": "wall-v1", "plate": "plate_thermotaxis-v1"}
# Small, because the interpreter is slow; every brain that learns does so several times within these steps.
THROUGH_TIME = {"rollout": 16, "sequence": 4, "minibatch": 8, "epochs": 1, "rollout_growth": 0.0}
CONFIGS = {
    "mlp_ppo": {
        "hidden": [5],
        "rollout": 16,
        "minibatch": 8,
        "epochs": 2,
        "rollout_growth": 0.5,
        "longest_rollout": 40,
        "horizon_growth": 0.1,
    },
    "mlp_reinforce": {"hidden": [5, 3], "horizon": 16},
    "mlp_dqn": {"hidden": [5], "replay": 32, "minibatch": 4, "warmup": 8, "train_every": 4, "target_every": 3},
    "q_table": {"bins": 3, "rows": 50, "epsilon_steps": 30},
    "active_inference": {"bins": 2, "cells": 20, "longest": 30},
    "gru_ppo": {**THROUGH_TIME, "units": 5, "shortcut": 5},
    "liquid_ppo": {**THROUGH_TIME, "units": 5, "backbone": 5, "shortcut": 0},
    "connectome_ppo": {**THROUGH_TIME, "ticks": 1},
    "connectome_rewired": {**THROUGH_TIME, "ticks": 1},
    "quantum_twin": {"rollout": 16, "minibatch": 8, "epochs": 2, "qubits": 2, "layers": 1},
    "evolved_mlp": {"hidden": [5], "pairs": 2, "longest": 4},
    "null_random": {},
    "motionless": {},
    "blind_cycle": {"segments": [[3, 1], [2, 0]]},
    "gradient_follower": {"randomness": 0.2},
    "plate_follower": {"held": 4},
}
BODIES = {
    "gradient_follower": ["discrete"],
    "plate_follower": ["plate"],
    # Both are the same functions on other wires, and slow in the interpreter.
    "connectome_ppo": ["discrete"],
    "connectome_rewired": ["effectors"],
}
RUNS = [(body, name) for name in CONFIGS for body in BODIES.get(name, ["discrete", "effectors"])]


def short_task(task_id):
    """A task whose every phase lasts a few steps."""
    task = get_task(task_id)
    return replace(task, phases=tuple(replace(phase, episodes=0, ticks=TICKS) for phase in task.phases))


def hashes(body, name):
    """Of the records and of what the brain has learned."""
    task, brain = short_task(TASKS[body]), get_brain(name)
    if not INTERPRETED:
        compile_for(task, brain)
    result = execute(RunSpec(task, name, brain, resolve_config(name, brain, CONFIGS[name]), 2**63 + 7))
    assert result.failure is None, result.failure.traceback
    return [result.record_hash, result.memory_hash, result.steps]


if __name__ == "__main__":
    found = {f"{body} {name}": hashes(body, name) for body, name in RUNS}
    json.dump({"interpreted": INTERPRETED, **found}, sys.stdout)
