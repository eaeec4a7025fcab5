"""Brain `quantum_vqc`: a variational quantum circuit between two small layers, trained by PPO."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.actor_critic import (
    ActorCritic,
    choose_action,
    is_cut_off,
    log_probabilities,
    present_value,
    start_network,
    store_observation,
    store_step,
    weigh_stored_steps,
)
from nematodebench.brains.parts.ppo import Ppo, PpoConfig, begin_rollout, discount, in_epochs
from nematodebench.brains.quantum.circuit import (
    Circuit,
    circuit_backward,
    circuit_forward,
    draw_circuit,
    sample_shots,
    update_circuit,
)
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, F32M, U64, kernel
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.mlp import backward_layer, forward_layer, layer_deltas, layer_units, update_weights
from nematodebench.kernels.vectors import padded

__all__ = ["CircuitConfig", "QuantumVqc", "QuantumVqcConfig", "ppo_sizes"]


class CircuitConfig(PpoConfig):
    """What `quantum_vqc` and its classical twin have in common."""

    learning_rate: float = parameter(1e-2, 0, 1, "Adam's step size", searched(0.001, 0.1, "high", log=True, off=0.0))
    qubits: int = parameter(4, 2, 8, "qubits, and units of the layers before and behind the circuit")
    layers: int = parameter(3, 1, 32, "layers of the circuit; each takes the inputs in again")


class QuantumVqcConfig(CircuitConfig):
    """Parameters of `quantum_vqc`."""

    input_scale: float = parameter(
        1.5, -10, 10, "angle of a rotation for an input of 1, at first", searched(0.3, 3, "medium", log=True)
    )
    spread: float = parameter(0.3, 0, 10, "spread of the other angles at first", searched(0.03, 3, "medium", log=True))
    shots: int = parameter(0, 0, 65536, "measurements that an action is based on; 0 = exact expectations")


class Memory(Ppo):
    """Of `quantum_vqc`. The network has two layers, and the circuit lies between them."""

    input_scale = constant()
    spread = constant()
    shots = size()
    width = size()
    circuit = part(Circuit)
    angles = floats("batch", "width", scratch=True)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights and angles."""
    start_network(brain, rng)
    draw_circuit(brain.circuit, rng, brain.input_scale, brain.spread)
    brain.length = brain.first_length


@kernel()
def _think(brain: Memory, x: F32M) -> None:
    """Observations become angles by the first layer, expectations by the circuit, logits and a value by the second."""
    rows = x.shape[0]
    forward_layer(brain.net, 0, x)
    units, angles = layer_units(brain.net, 0, rows), brain.angles[:rows]
    for r in range(rows):
        for q in range(brain.width):
            angles[r, q] = units[r, q]
    circuit_forward(brain.circuit, angles, units)
    forward_layer(brain.net, 1, units)


@kernel()
def _value_of(brain: Memory, obs: F32) -> np.float32:
    """The value of an observation, from exact expectations."""
    for i in range(brain.inputs):
        brain.x[0, i] = obs[i]
    _think(brain, brain.x[:1])
    return present_value(brain)


@kernel()
def _propagate_back(brain: Memory, x: F32M) -> None:
    """Gradients of both layers and of the circuit, after :func:`_think` on the same rows."""
    rows = x.shape[0]
    backward_layer(brain.net, 1, layer_units(brain.net, 0, rows))
    slopes, angles = layer_deltas(brain.net, 0, rows), brain.angles[:rows]
    circuit_backward(brain.circuit, angles, slopes)
    for r in range(rows):
        for q in range(brain.width):
            slopes[r, q] *= np.float32(1.0) - angles[r, q] * angles[r, q]
    backward_layer(brain.net, 0, x)


@kernel()
def _think_back(brain: Memory, x: F32M) -> None:
    """Changes both layers and the circuit along their gradients."""
    _propagate_back(brain, x)
    update_weights(brain.net, brain.learning_rate, brain.max_grad_norm)
    update_circuit(brain.circuit, brain.learning_rate, brain.max_grad_norm)


_update = in_epochs(_think, _think_back)


@kernel()
def _remember_exactly(brain: Memory, at: int) -> None:
    """Keeps the exact value, and how likely the exact policy is to do what the measurements led to.

    The chance of an action by its few measurements would do for neither: learning would take their noise for a policy
    that has moved far, and end each update at once.
    """
    _think(brain, brain.rollout.observations[at : at + 1])
    brain.rollout.values[at] = present_value(brain)
    step = brain.rollout.order[:1]
    step[0] = at
    log_probabilities(brain, step)
    brain.rollout.logp[at] = brain.logp[0]


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action and remembers what it was based on."""
    at = store_observation(brain, obs)
    _think(brain, brain.rollout.observations[at : at + 1])
    if brain.shots > 0:
        sample_shots(brain.circuit, rng, brain.shots, layer_units(brain.net, 0, 1))
        forward_layer(brain.net, 1, layer_units(brain.net, 0, 1))
    choose_action(brain, rng, action)
    if brain.shots > 0:
        _remember_exactly(brain, at)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    gamma = discount(brain)
    ended = store_step(brain, outcome, gamma, _value_of(brain, obs) if is_cut_off(outcome) else np.float32(0.0))
    if brain.rollout.filled == brain.length:
        following = np.float32(0.0) if ended else _value_of(brain, obs)
        weigh_stored_steps(brain, following, gamma, brain.gae_lambda)
        _update(brain, rng)
        begin_rollout(brain)


def ppo_sizes(config: CircuitConfig, body: Interface, hidden: tuple[int, ...]) -> dict[str, Any]:
    """A rollout of steps, and a network that takes a minibatch of them."""
    capacity = max(config.rollout, config.longest_rollout) if config.rollout_growth > 0 else config.rollout
    shape = ActorCritic.shape(body, hidden, config.levels, capacity, min(config.minibatch, config.rollout))
    return {**shape, "first_length": config.rollout}


class QuantumVqc(CompiledBrain):
    """A variational quantum circuit with data re-uploading, simulated exactly, trained by PPO.

    | part | how |
    |---|---|
    | before the circuit | a layer from the inputs to one angle for each qubit (tanh) |
    | circuit | RY on every qubit and a ring of CZ; then `layers` times RX(scale x angle), RZ, RY and the ring again |
    | parameters | a turn for every qubit, and scale, twist and turn for every qubit and layer |
    | behind the circuit | a layer from the expectations of Z of all qubits to the logits of all heads, and the value |
    | gradients | exact, by the adjoint method: the circuit is undone gate by gate |
    | `shots` | actions are drawn by the means of that many measurements; what is learned from stays exact |
    | learning | PPO, as in `mlp_ppo` |

    `quantum_twin` is the same brain with a classical network in place of the circuit.
    """

    name: ClassVar[str] = "quantum_vqc"
    kind: ClassVar[BrainClass] = "quantum"
    config = QuantumVqcConfig
    memory = Memory
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: QuantumVqcConfig, body: Interface) -> Mapping[str, Any]:
        """Rollout and network as for PPO, and a circuit for a minibatch."""
        shape = ppo_sizes(config, body, (config.qubits,))
        circuit = Circuit.shape(config.qubits, config.layers, shape["batch"])
        return {**shape, "width": padded(config.qubits), "circuit": circuit}
