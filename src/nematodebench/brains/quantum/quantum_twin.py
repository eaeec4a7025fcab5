"""Brain `quantum_twin`: `quantum_vqc` with a classical network of as many parameters in place of the circuit."""

from collections.abc import Mapping
from typing import Any, ClassVar

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.classical import mlp_ppo
from nematodebench.brains.quantum.circuit import true_parameters
from nematodebench.brains.quantum.quantum_vqc import CircuitConfig, ppo_sizes

__all__ = ["QuantumTwin", "hidden_units"]


def hidden_units(qubits: int, layers: int) -> int:
    """Units with which a network from ``qubits`` over them to ``qubits`` has as many parameters as the circuit.

    n h + h weights and biases lead to them and n h + n away from them. With 4 qubits and 3 layers they are 4, and both
    have 40 parameters; where no number of units fits exactly, it is the nearest.
    """
    return max(1, round((true_parameters(qubits, layers) - qubits) / (2 * qubits + 1)))


class QuantumTwin(CompiledBrain):
    """The classical twin of `quantum_vqc`: the circuit is replaced by a tanh network of as many parameters.

    | part | how |
    |---|---|
    | before | a layer from the inputs to as many units as the circuit has qubits (tanh), as in `quantum_vqc` |
    | in the circuit's place | a tanh layer, then one with a unit for each qubit: 40 parameters, as the circuit |
    | behind | a layer to the logits of all heads and the value, as in `quantum_vqc` |
    | learning | PPO with the same parameters |
    """

    name: ClassVar[str] = "quantum_twin"
    kind: ClassVar[BrainClass] = "classical"
    config = CircuitConfig
    memory = mlp_ppo.Memory
    init = staticmethod(mlp_ppo.init)
    act = staticmethod(mlp_ppo.act)
    learn = staticmethod(mlp_ppo.learn)

    @classmethod
    def sizes(cls, config: CircuitConfig, body: Interface) -> Mapping[str, Any]:
        """Rollout and network as for PPO, without the options that `quantum_vqc` does not have."""
        widths = (config.qubits, hidden_units(config.qubits, config.layers), config.qubits)
        return {**ppo_sizes(config, body, widths), **mlp_ppo.no_options(body)}
