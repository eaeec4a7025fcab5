"""Brain `quantum_reservoir`: a fixed random quantum circuit, whose expectations a readout learns to use."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.rate_code import RateCode, encode
from nematodebench.brains.parts.readout import Readout, ReadoutConfig, choose, forget_actions, learn_from
from nematodebench.brains.quantum.circuit import Circuit, circuit_forward, draw_circuit, measure_pairs
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.rng import normal, uniform
from nematodebench.kernels.vectors import padded

__all__ = ["QuantumReservoir", "QuantumReservoirConfig"]


class QuantumReservoirConfig(ReadoutConfig):
    """Parameters of `quantum_reservoir`."""

    qubits: int = parameter(6, 2, 8, "qubits of the circuit", searched(3, 8, "medium"))
    layers: int = parameter(3, 1, 32, "layers of the circuit; each takes the inputs in again")
    input_scale: float = parameter(
        1.0, 0, 100, "input weights are uniform between minus and plus this", searched(0.1, 3, "high", log=True)
    )
    feedback: float = parameter(
        1.0, 0, 100, "spread of the weights by which expectations come back as inputs of the next step",
        searched(0.01, 3, "high", log=True, off=0.0),
    )  # fmt: skip


class Memory(BrainMemory):
    """Of `quantum_reservoir`. The first of the readout's features are the expectations of all qubits and pairs.

    ``last`` holds the expectations of the qubits in the step before, in its first row.
    """

    input_scale = constant()
    feedback = constant()
    inputs = size()
    qubits = size()
    pairs = size()
    width = size()
    code = part(RateCode)
    readout = part(Readout)
    circuit = part(Circuit)
    input_weights = floats("inputs", "qubits")
    feedback_weights = floats("qubits", "qubits")
    last = floats(1, "width")
    angles = floats(1, "width", scratch=True)

    def synapses(self) -> Iterator[Synapses]:
        """From inputs and last expectations to angles, the circuit, and the readout's."""
        n = self.qubits
        yield Synapses("inputs", self.inputs, n, n)
        yield Synapses("feedback", n, n, n, 0, np.asarray(self.last)[0, :n], counted=False)
        yield from self.circuit.synapses()
        yield from self.readout.synapses()


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws the circuit, the weights of inputs and feedback; the readout starts at zero: a uniform policy."""
    draw_circuit(brain.circuit, rng, 1.0, np.pi)
    for q in range(brain.qubits):
        for i in range(brain.inputs):
            brain.input_weights[i, q] = np.float32(brain.input_scale * (2.0 * uniform(rng) - 1.0))
        for p in range(brain.qubits):
            brain.feedback_weights[p, q] = np.float32(brain.feedback * normal(rng))


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """What was measured is forgotten; what the readout learned stays."""
    for q in range(brain.qubits):
        brain.last[0, q] = np.float32(0.0)
    forget_actions(brain.readout)


@kernel()
def _advance(brain: Memory, obs: F32) -> None:
    """Runs the circuit once; the features are expectations of qubits and pairs, the inputs and a constant."""
    qubits, angles, last, phi = brain.qubits, brain.angles, brain.last, brain.readout.phi
    for q in range(qubits):
        angle = np.float32(0.0)
        for i in range(brain.inputs):
            angle += brain.input_weights[i, q] * obs[i]
        for p in range(qubits):
            angle += brain.feedback_weights[p, q] * last[0, p]
        angles[0, q] = angle
    circuit_forward(brain.circuit, angles, last)
    for q in range(qubits):
        phi[q] = last[0, q]
    measure_pairs(brain.circuit, phi[qubits : qubits + brain.pairs])
    encode(brain.code, obs)
    first = qubits + brain.pairs
    for c in range(brain.code.channels):
        phi[first + c] = brain.code.rates[c]
    phi[first + brain.code.channels] = np.float32(1.0)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """The circuit takes in the observation (unless it did when it learned), the readout chooses."""
    if not brain.readout.fresh:
        _advance(brain, obs)
    choose(brain.readout, rng, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """The circuit takes in the next observation, the readout learns from the reward."""
    _advance(brain, obs)
    learn_from(brain.readout, outcome)


class QuantumReservoir(CompiledBrain):
    """A fixed random quantum circuit, simulated exactly; only the linear readout learns, from reward.

    | part | how |
    |---|---|
    | angles | one a qubit: random weights of the inputs, and of the expectations of the last step (`feedback`) |
    | circuit | as in `quantum_vqc`, with random turns and twists that never change |
    | memory | what was measured comes back as an input, so traces of the past fade step by step |
    | features | expectations of Z of every qubit and of Z x Z of every pair, the rate-coded inputs and a constant |
    | readout | actor and critic with eligibility traces (see `parts.readout`) |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |
    """

    name: ClassVar[str] = "quantum_reservoir"
    kind: ClassVar[BrainClass] = "quantum"
    config = QuantumReservoirConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: QuantumReservoirConfig, body: Interface) -> Mapping[str, Any]:
        """Circuit and readout."""
        code, pairs = RateCode.shape(body), config.qubits * (config.qubits - 1) // 2
        return {
            "code": code,
            "pairs": pairs,
            "width": padded(config.qubits),
            "circuit": Circuit.shape(config.qubits, config.layers, 1),
            "readout": Readout.shape(body, config.qubits + pairs + code["channels"] + 1, config.levels),
        }
