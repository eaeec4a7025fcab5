"""What brains do in a fixed course of random observations; as a script, in a process that compiles nothing."""

import json
import sys

import numpy as np
from brain_trial import Trial, discrete, effectors

from nematodebench.engine.compiled_brain import memory_digest
from nematodebench.kernels.jit import INTERPRETED

STEPS = 30
BODIES = {"discrete": discrete(), "effectors": effectors(3, 2)}
CONFIGS = {
    "echo_state": {"nodes": 12, "density": 0.4},
    "sorn": {"nodes": 15, "density": 0.3, "lr_stdp": 0.02},
    "homeostatic_reservoir": {"nodes": 14, "density": 0.4},
    "evolved_mlp": {"hidden": (3,), "pairs": 1, "longest": 4},
    "quantum_reservoir": {"qubits": 3, "layers": 1},
    "quantum_vqc": {"qubits": 3, "layers": 2, "rollout": 8, "minibatch": 8, "epochs": 2, "shots": 3},
    "mlp_ppo": {"hidden": (6,), "rollout": 8, "minibatch": 8, "epochs": 2, "novelty": 0.5, "settle": 20},
    "liquid_ppo": {"units": 5, "backbone": 6, "sequence": 4, "minibatch": 4, "rollout": 12, "epochs": 1},
    "spiking_ppo": {"units": 5, "shortcut": 3, "sequence": 4, "minibatch": 4, "rollout": 12, "epochs": 1},
    "gru_ppo": {"units": 5, "shortcut": 3, "sequence": 4, "minibatch": 4, "rollout": 12, "epochs": 1},
    "eprop": {"neurons": 9, "ticks": 2, "interval": 7},
    "spiking_rstdp": {"cells": 2, "hidden": 9, "motor": 3, "density": 0.4},
}
"""Small brains, because the interpreter is slow."""


def steps(name, body):
    """Actions of every step, and then a digest of what the brain has learned."""
    driven, numbers, found = Trial(name, BODIES[body], **CONFIGS[name]), np.random.default_rng(3), []
    inputs = driven.body.inputs
    for step in range(STEPS):
        found.append(driven.act(numbers.uniform(-1, 1, inputs)).tolist())
        driven.learn(numbers.uniform(-1, 1, inputs), numbers.normal(), terminated=step % 11 == 10)
        if step % 11 == 10:
            driven.begin_episode()
    return [*found, memory_digest([driven.brain])]


if __name__ == "__main__":
    results = {f"{name} {body}": steps(name, body) for name in CONFIGS for body in BODIES}
    sys.stdout.write(json.dumps({"interpreted": INTERPRETED, **results}))
