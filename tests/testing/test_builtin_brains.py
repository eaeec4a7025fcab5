"""Every compiled brain, and the worked example in Python, keeps the contract of brains."""

from typing import ClassVar

import pytest

from nematodebench.brains.registry import get_brain, is_compiled, list_brains
from nematodebench.testing import BrainSuite

# Small enough to learn within the few steps of the suite, sizes that fill no vector evenly.
_CONFIGS = {
    "mlp_ppo": {"hidden": [13, 9], "rollout": 50, "minibatch": 16, "epochs": 2},
    "mlp_dqn": {"hidden": [13]},
    "eprop": {"neurons": 13, "interval": 10},
    "mlp_reinforce": {"hidden": [13]},
    "evolved_mlp": {"hidden": [5], "pairs": 2, "longest": 20},
    "quantum_reservoir": {"qubits": 3, "layers": 2},
    "quantum_vqc": {"qubits": 3, "layers": 2, "rollout": 50, "minibatch": 13, "epochs": 2, "shots": 5},
    "quantum_twin": {"qubits": 3, "layers": 2, "rollout": 50, "minibatch": 16, "epochs": 2},
    "connectome_ppo": {"sequence": 5, "minibatch": 10, "rollout": 50, "epochs": 2},
    "connectome_rewired": {"sequence": 5, "minibatch": 10, "rollout": 50, "epochs": 2},
    "liquid_ppo": {"units": 13, "backbone": 11, "sequence": 5, "minibatch": 10, "rollout": 50, "epochs": 2},
    "spiking_ppo": {"units": 13, "shortcut": 11, "sequence": 5, "minibatch": 10, "rollout": 50, "epochs": 2},
    "gru_ppo": {"units": 13, "shortcut": 11, "sequence": 5, "minibatch": 10, "rollout": 50, "epochs": 2},
}
_TASKS = {"plate_follower": ("plate_chemotaxis-v1", "plate_aerotaxis-v1", "plate_thermotaxis-v1")}
_COMPILED = [name for name in list_brains() if is_compiled(get_brain(name))]

for _name in _COMPILED:
    _given = {
        "brain": get_brain(_name),
        "config": _CONFIGS.get(_name, {}),
        "tasks": _TASKS.get(_name, BrainSuite.tasks),
    }
    globals()[f"Test_{_name}"] = type(f"Test_{_name}", (BrainSuite,), _given)


class TestTorchReinforce(BrainSuite):
    brain = get_brain("torch_reinforce")
    config: ClassVar = {"hidden": 8}
    tasks = ("foraging_small-v1", "cartpole-v1")


@pytest.mark.parametrize("name", _COMPILED)
def test_default_config_is_accepted(name):
    given = {"brain": get_brain(name), "tasks": _TASKS.get(name, BrainSuite.tasks)}
    TestDefaults = type("TestDefaults", (BrainSuite,), given)
    TestDefaults().test_config_round_trips_through_yaml()
    TestDefaults().test_some_task_is_accepted()
