"""Forward passes with gradients a second of the circuit of quantum_vqc (4 qubits, 3 layers), beside PennyLane.

All compute the expectations of Z for the same inputs, and the gradient of a weighted sum of them by all angles and all
inputs, on one core. PennyLane has each of its exact ways for one sample a call (state vector with backpropagation, with
the adjoint method, and its C++ simulator with the adjoint method), and backpropagation with many samples a call, in the
size of batch that is best for it. Rounds of all alternate and the best round of each counts, so that a busy machine
disturbs none more than the others. The largest difference of any gradient is printed beside the times.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pennylane as qml
import torch
from numpy.typing import NDArray

from nematodebench.brains.quantum.circuit import Circuit, circuit_backward, circuit_forward
from nematodebench.kernels.jit import F32M, kernel

QUBITS, LAYERS, ROWS, WIDTH = 4, 3, 64, 8
ROUNDS, REPEATS = 15, 200
BATCHES = (64, 512, 4096)
SINGLE_WANTED, BATCHED_WANTED = 100.0, 5.0
Array = NDArray[Any]


@kernel()
def repeat(circuit: Circuit, x: F32M, y: F32M, weights: F32M, slopes: F32M, count: int) -> None:
    """The whole of it, many times, as a brain that learns calls it."""
    for _ in range(count):
        circuit_forward(circuit, x, y)
        for r in range(x.shape[0]):
            for q in range(x.shape[1]):
                slopes[r, q] = weights[r, q]
        circuit_backward(circuit, x, slopes)


def pennylane_node(device: str, method: str) -> Any:
    """The same circuit in PennyLane."""

    @qml.qnode(qml.device(device, wires=QUBITS), interface="torch", diff_method=method)  # type: ignore[untyped-decorator]
    def node(angles: Any, x: Any) -> Any:
        for layer in range(LAYERS + 1):
            for q in range(QUBITS):
                if layer > 0:
                    qml.RX(angles[layer, 0, q] * x[..., q], wires=q)
                    qml.RZ(angles[layer, 1, q], wires=q)
                qml.RY(angles[layer, 2, q], wires=q)
            if layer < LAYERS:
                for q in range(QUBITS):
                    qml.CZ(wires=[q, (q + 1) % QUBITS])
        return [qml.expval(qml.PauliZ(q)) for q in range(QUBITS)]

    return node


def pennylane_gradient(node: Any, angles: Array, x: Array, weights: Array) -> tuple[Array, Array]:
    """Gradients by angles and inputs."""
    a, b = torch.tensor(angles, requires_grad=True), torch.tensor(x, requires_grad=True)
    (torch.stack(node(a, b), dim=-1) * torch.tensor(weights)).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    return a.grad.numpy(), b.grad.numpy()


def timed(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main() -> int:
    """Checks that all agree, alternates between them, prints what each does in a second and the two ratios."""
    torch.set_num_threads(1)
    numbers = np.random.default_rng(0)
    layout = Circuit.lay_out(**Circuit.shape(QUBITS, LAYERS, ROWS))
    circuit = Circuit(layout.hyper, layout.ints, np.zeros(layout.memory, np.float32))
    table = np.asarray(circuit.parameters)[: 3 * QUBITS * (LAYERS + 1)].reshape(LAYERS + 1, 3, QUBITS)
    table[1:] = numbers.normal(0, 1, table[1:].shape)
    table[0, 2] = numbers.normal(0, 1, QUBITS)
    angles = table.astype(np.float64)
    x, weights = (numbers.normal(0, 1, (max(BATCHES), WIDTH)).astype(np.float32) for _ in range(2))
    y, slopes = np.zeros((ROWS, WIDTH), np.float32), np.zeros((ROWS, WIDTH), np.float32)
    wide, by = x[:, :QUBITS].astype(np.float64), weights[:, :QUBITS].astype(np.float64)
    node = pennylane_node("default.qubit", "backprop")
    ways = {
        "one sample, default.qubit, backprop": (1, node),
        "one sample, default.qubit, adjoint": (1, pennylane_node("default.qubit", "adjoint")),
        "one sample, lightning.qubit, adjoint": (1, pennylane_node("lightning.qubit", "adjoint")),
        **{f"{rows} samples, default.qubit, backprop": (rows, node) for rows in BATCHES},
    }
    repeat(circuit, x[:ROWS], y, weights[:ROWS], slopes, 1)
    by_angles, by_inputs = pennylane_gradient(node, angles, wide[:ROWS], by[:ROWS])
    by_angles[0, :2] = 0.0
    ours = np.asarray(circuit.gradients)[: angles.size].reshape(angles.shape)
    apart = max(np.abs(ours - by_angles).max(), np.abs(slopes[:, :QUBITS] - by_inputs).max())
    best = dict.fromkeys(["compiled", *ways], np.inf)
    for _ in range(ROUNDS):
        seconds = timed(lambda: repeat(circuit, x[:ROWS], y, weights[:ROWS], slopes, REPEATS))
        best["compiled"] = min(best["compiled"], seconds / (REPEATS * ROWS))
        for name, (rows, way) in ways.items():
            samples, factor = (wide[:rows], by[:rows]) if rows > 1 else (wide[0], by[0])
            seconds = timed(lambda w=way, s=samples, f=factor: pennylane_gradient(w, angles, s, f))  # type: ignore[misc]
            best[name] = min(best[name], seconds / rows)
    for name, seconds in best.items():
        print(f"{name:40s} {1 / seconds:12,.0f} forward passes with gradients a second")
    single = min(best[name] for name, (rows, _) in ways.items() if rows == 1) / best["compiled"]
    batched = min(best[name] for name, (rows, _) in ways.items() if rows > 1) / best["compiled"]
    print(f"largest difference of a gradient: {apart:.1e} (largest gradient {np.abs(by_angles).max():.1f})")
    for text, ratio, wanted in (("one sample", single, SINGLE_WANTED), ("batched", batched, BATCHED_WANTED)):
        print(f"ratio, {text}: {ratio:,.0f} x (wanted {wanted:.0f} x){'' if ratio >= wanted else '  BELOW'}")
    return int(single < SINGLE_WANTED or batched < BATCHED_WANTED)


if __name__ == "__main__":
    sys.exit(main())
