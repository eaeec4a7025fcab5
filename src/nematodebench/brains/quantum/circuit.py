"""A parametrised quantum circuit with data re-uploading: state vector, expectations, gradients by the adjoint method.

| layer | on every qubit | then |
|---|---|---|
| first | RY(turn) on the state 0 | CZ between neighbours in a ring |
| each further one | RX(scale x input), RZ(twist), RY(turn) | CZ between neighbours in a ring, but not after the last |
| measured | the expectation of Z of every qubit | |

Every qubit's rotations of a layer are one 2 x 2 matrix of determinant 1, so four numbers. Backwards the circuit is
undone gate by gate, and the three derivatives of a gate are the overlaps Im<bra|P|ket> with P = X, Y, Z turned into the
axes about which the gate rotates. Eight samples go through the circuit at once (:mod:`.lanes`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nematodebench.brains.quantum.lanes import SPAN, add_overlaps, rotate_pair
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.adam import Adam, adam_step
from nematodebench.kernels.jit import F32, F32M, U64, kernel
from nematodebench.kernels.math import cos32, sin32
from nematodebench.kernels.memory import Memory, constants, floats, part, size
from nematodebench.kernels.rng import normal, uniform
from nematodebench.kernels.vectors import LANES, padded

__all__ = [
    "Circuit", "circuit_backward", "circuit_forward", "draw_circuit", "measure_pairs", "sample_shots",
    "true_parameters", "update_circuit",
]  # fmt: skip

_HALF = np.float32(0.5)
_GATE = 4 * LANES
"""Numbers of one gate of eight samples: real and imaginary parts of a and b of [[a, b], [-b*, a*]]."""


def true_parameters(qubits: int, layers: int) -> int:
    """Parameters that a circuit learns: a turn for every qubit, then three numbers for every qubit and layer."""
    return qubits + 3 * qubits * layers


class Circuit(Memory):
    """Parameters, optimiser, and the states of as many blocks of eight samples as are learned from at once.

    The first layer has no inputs: its scales and twists stay 0.
    """

    qubits = size()
    stages = size()
    blocks = size()
    count = size()
    room = size()
    gate_room = size()
    amplitudes = size()
    signs = constants("amplitudes")
    parameters = floats("count")
    gradients = floats("count", scratch=True)
    adam = part(Adam)
    kets = floats("blocks", "room", scratch=True)
    bra = floats("room", scratch=True)
    gates = floats("blocks", "gate_room", scratch=True)
    undo = floats(_GATE, scratch=True)
    overlaps = floats(3 * LANES, scratch=True)

    @classmethod
    def shape(cls, qubits: int, layers: int, batch: int) -> Mapping[str, Any]:
        """The sizes of a circuit for ``batch`` samples at once, and the signs of the ring of CZ gates."""
        amplitudes, stages = 2**qubits, layers + 1
        pairs = [(q, (q + 1) % qubits) for q in range(qubits if qubits > 2 else qubits - 1)]
        signs = [(-1.0) ** sum((k >> p & 1) * (k >> q & 1) for p, q in pairs) for k in range(amplitudes)]
        count = padded(3 * qubits * stages)
        return {
            "qubits": qubits, "stages": stages, "blocks": -(-batch // LANES), "count": count, "room": SPAN * amplitudes,
            "gate_room": _GATE * qubits * stages, "amplitudes": amplitudes, "signs": signs, "adam": {"count": count},
        }  # fmt: skip

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Scales, twists and turns of every layer, and what the optimiser keeps of them, without the padding."""
        for name, flat in (("", self.parameters), ("momentum.", self.adam.momentum), ("variance.", self.adam.variance)):
            table = np.asarray(flat)[: 3 * self.qubits * self.stages].reshape(self.stages, 3, self.qubits)
            yield f"{name}scales", table[1:, 0]
            yield f"{name}twists", table[1:, 1]
            yield f"{name}turns", table[:, 2]
        yield "steps", np.asarray(self.adam.steps)

    def synapses(self) -> Iterator[Synapses]:
        """What simulating the circuit takes: 16 multiply-accumulates for each gate and pair of amplitudes.

        To these come the expectations. A quantum device would do none of them.
        """
        gates = self.qubits * self.stages
        operations = gates * 16 * (self.amplitudes // 2) + 2 * self.amplitudes * self.qubits
        parameters = true_parameters(self.qubits, self.stages - 1)
        yield Synapses("circuit", self.qubits, self.qubits, 0, parameters, operations=operations)


@kernel()
def draw_circuit(circuit: Circuit, rng: U64, scale: float, spread: float) -> None:
    """All scales are ``scale``; turns and twists are normal with this spread."""
    qubits = circuit.qubits
    for stage in range(circuit.stages):
        for q in range(qubits):
            at = 3 * qubits * stage + q
            circuit.parameters[at] = np.float32(scale if stage > 0 else 0.0)
            circuit.parameters[at + qubits] = np.float32(spread * normal(rng) if stage > 0 else 0.0)
            circuit.parameters[at + 2 * qubits] = np.float32(spread * normal(rng))


@kernel()
def _make_gate(circuit: Circuit, stage: int, q: int, x: F32M, gate: F32) -> None:
    """RY(turn) RZ(twist) RX(scale x input) of a qubit, for the rows of ``x``; lanes without a row repeat the last."""
    at = 3 * circuit.qubits * stage + q
    scale = _HALF * circuit.parameters[at]
    twist, turn = _HALF * circuit.parameters[at + circuit.qubits], _HALF * circuit.parameters[at + 2 * circuit.qubits]
    cz, sz, cy, sy = cos32(twist), sin32(twist), cos32(turn), sin32(turn)
    for lane in range(LANES):
        angle = scale * x[min(lane, x.shape[0] - 1), q]
        gate[lane], gate[lane + LANES] = cos32(angle), sin32(angle)
    for lane in range(LANES):
        c, s = gate[lane], gate[lane + LANES]
        gate[lane] = cz * cy * c - sz * sy * s
        gate[lane + LANES] = cz * sy * s - sz * cy * c
        gate[lane + 2 * LANES] = -(cz * sy * c) - sz * cy * s
        gate[lane + 3 * LANES] = -(cz * cy * s) - sz * sy * c


@kernel()
def _rotate(state: F32, q: int, gate: F32) -> None:
    """Applies a gate to a qubit of the state of eight samples."""
    step = SPAN << q
    for start in range(0, state.size, 2 * step):
        for first in range(start, start + step, SPAN):
            rotate_pair(state, first, first + step, gate, 0)


@kernel()
def _entangle(circuit: Circuit, state: F32) -> None:
    """The ring of CZ gates: the amplitudes of some basis states change their sign. It undoes itself."""
    for k in range(circuit.amplitudes):
        if circuit.signs[k] < 0.0:
            for n in range(SPAN * k, SPAN * (k + 1)):
                state[n] = -state[n]


@kernel()
def circuit_forward(circuit: Circuit, x: F32M, y: F32M) -> None:
    """Expectations of Z for the rows of ``x`` (a column a qubit) to those of ``y``, which may be the same."""
    rows, qubits = x.shape[0], circuit.qubits
    for start in range(0, rows, LANES):
        block = start // LANES
        ket, gates = circuit.kets[block], circuit.gates[block]
        for n in range(ket.size):
            ket[n] = np.float32(1.0) if n < LANES else np.float32(0.0)
        for stage in range(circuit.stages):
            for q in range(qubits):
                at = _GATE * (qubits * stage + q)
                _make_gate(circuit, stage, q, x[start : min(start + LANES, rows)], gates[at : at + _GATE])
                _rotate(ket, q, gates[at : at + _GATE])
            if stage < circuit.stages - 1:
                _entangle(circuit, ket)
        _measure(circuit, ket, y[start : min(start + LANES, rows)])


@kernel()
def _measure(circuit: Circuit, ket: F32, y: F32M) -> None:
    """Expectations of Z of every qubit in the states of eight samples."""
    for row in range(y.shape[0]):
        for q in range(circuit.qubits):
            total = np.float32(0.0)
            for k in range(circuit.amplitudes):
                chance = _chance(ket, k, row)
                total += -chance if k >> q & 1 else chance
            y[row, q] = total


@kernel()
def measure_pairs(circuit: Circuit, y: F32) -> None:
    """Expectations of Z x Z of all pairs of qubits in the state of the first sample."""
    n, ket = 0, circuit.kets[0]
    for q in range(circuit.qubits):
        for p in range(q):
            total = np.float32(0.0)
            for k in range(circuit.amplitudes):
                chance = _chance(ket, k, 0)
                total += -chance if (k >> q ^ k >> p) & 1 else chance
            y[n] = total
            n += 1


@kernel()
def _chance(ket: F32, k: int, lane: int) -> np.float32:
    """Probability of a basis state."""
    re, im = ket[SPAN * k + lane], ket[SPAN * k + LANES + lane]
    value: np.float32 = re * re + im * im
    return value


@kernel()
def sample_shots(circuit: Circuit, rng: U64, shots: int, y: F32M) -> None:
    """Replaces the expectations of the first sample by means over measurements, as a device would give them."""
    for q in range(circuit.qubits):
        y[0, q] = np.float32(0.0)
    for _ in range(shots):
        left, k = np.float32(uniform(rng)), 0
        while k < circuit.amplitudes - 1:
            left -= _chance(circuit.kets[0], k, 0)
            if left < 0.0:
                break
            k += 1
        for q in range(circuit.qubits):
            y[0, q] += np.float32(-1.0 if k >> q & 1 else 1.0)
    for q in range(circuit.qubits):
        y[0, q] /= np.float32(shots)


@kernel()
def circuit_backward(circuit: Circuit, x: F32M, slopes: F32M) -> None:
    """Gradients of the parameters, after :func:`circuit_forward` on the same rows.

    ``slopes`` holds the gradient of the loss by the expectations; it becomes the gradient by the inputs. The states are
    undone, so that it can be called once for each forward pass.
    """
    rows, qubits = x.shape[0], circuit.qubits
    for n in range(circuit.count):
        circuit.gradients[n] = np.float32(0.0)
    for start in range(0, rows, LANES):
        block = start // LANES
        inputs, slope = x[start : min(start + LANES, rows)], slopes[start : min(start + LANES, rows)]
        ket, bra = circuit.kets[block], circuit.bra
        _start_bra(circuit, ket, slope)
        for back in range(circuit.stages):
            stage = circuit.stages - 1 - back
            if back > 0:
                _entangle(circuit, ket)
                _entangle(circuit, bra)
            for q in range(qubits):
                at = _GATE * (qubits * stage + q)
                _add_slopes(circuit, ket, stage, q, inputs, slope)
                _invert(circuit.gates[block, at : at + _GATE], circuit.undo)
                _rotate(ket, q, circuit.undo)
                _rotate(bra, q, circuit.undo)


@kernel()
def _start_bra(circuit: Circuit, ket: F32, slope: F32M) -> None:
    """The state with every amplitude times the slopes of the expectations it adds to; the slopes are 0 then."""
    bra = circuit.bra
    for k in range(circuit.amplitudes):
        for lane in range(LANES):
            factor = np.float32(0.0)
            if lane < slope.shape[0]:
                for q in range(circuit.qubits):
                    factor += -slope[lane, q] if k >> q & 1 else slope[lane, q]
            bra[SPAN * k + lane] = factor * ket[SPAN * k + lane]
            bra[SPAN * k + LANES + lane] = factor * ket[SPAN * k + LANES + lane]
    for row in range(slope.shape[0]):
        for q in range(circuit.qubits):
            slope[row, q] = np.float32(0.0)


@kernel()
def _add_slopes(circuit: Circuit, ket: F32, stage: int, q: int, x: F32M, slope: F32M) -> None:
    """Derivatives by a gate's turn, twist and angle: overlaps about the axes of its three rotations."""
    overlaps, step = circuit.overlaps, SPAN << q
    for n in range(overlaps.size):
        overlaps[n] = np.float32(0.0)
    for start in range(0, ket.size, 2 * step):
        for first in range(start, start + step, SPAN):
            add_overlaps(circuit.bra, ket, first, first + step, overlaps)
    at = 3 * circuit.qubits * stage + q
    scale, twist = circuit.parameters[at], circuit.parameters[at + circuit.qubits]
    turn = circuit.parameters[at + 2 * circuit.qubits]
    cz, sz, cy, sy = cos32(twist), sin32(twist), cos32(turn), sin32(turn)
    by_scale, by_twist, by_turn = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for row in range(x.shape[0]):
        about_x, about_y, about_z = overlaps[row], overlaps[LANES + row], overlaps[2 * LANES + row]
        by_angle = cz * (cy * about_x - sy * about_z) + sz * about_y
        by_scale += by_angle * x[row, q]
        by_twist += cy * about_z + sy * about_x
        by_turn += about_y
        slope[row, q] += by_angle * scale
    if stage > 0:
        circuit.gradients[at] += by_scale
        circuit.gradients[at + circuit.qubits] += by_twist
    circuit.gradients[at + 2 * circuit.qubits] += by_turn


@kernel()
def _invert(gate: F32, undo: F32) -> None:
    """The inverse of a gate: a becomes a*, b becomes -b."""
    for n in range(LANES):
        undo[n] = gate[n]
    for n in range(LANES, _GATE):
        undo[n] = -gate[n]


@kernel()
def update_circuit(circuit: Circuit, rate: float, max_norm: float) -> None:
    """One step of the optimiser along the gradients."""
    adam_step(circuit.adam, circuit.parameters, circuit.gradients, rate, max_norm)
