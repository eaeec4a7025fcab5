"""Steps a second through the cells of the recurrent brains and back, beside the libraries of their field, on one core.

All run a minibatch of 8 sequences forwards and propagate the same gradient of the outputs back to all weights, with the
default sizes of the brains on a worm's body: `gru_ppo` against torch's GRU, `liquid_ppo` against the cell of ncps,
`spiking_ppo` against the same equations with snntorch's surrogate gradient, `connectome_ppo` against a dense matrix in
torch. Both start from the same weights, and the largest difference of the outputs is printed beside the times. Rounds
of both alternate and the best of each counts, in processor time, so that a busy machine disturbs both alike.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import snntorch
import torch
from ncps.torch.cfc_cell import CfCCell

from nematodebench.brains.connectome import connectome_ppo
from nematodebench.brains.recurrent import gru_ppo, liquid_ppo
from nematodebench.brains.registry import get_brain
from nematodebench.brains.spiking import spiking_ppo
from nematodebench.engine.compiled_brain import aligned
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from perf.spiking import BODY, SENSORS

SEQUENCES, ROUNDS = 8, 15
MODULES = {"gru_ppo": gru_ppo, "liquid_ppo": liquid_ppo, "spiking_ppo": spiking_ppo, "connectome_ppo": connectome_ppo}
Step = Callable[[Any, Any], tuple[Any, Any]]


def fresh(name: str) -> tuple[Any, Any]:
    """A fresh brain whose minibatch is 8 sequences: the view of its memory, and its config."""
    kind = get_brain(name)
    sequence = kind.config().sequence
    steps = SEQUENCES * sequence
    config = kind.config(rollout=steps, minibatch=steps, rollout_growth=0.0)
    layout = kind.layout(config, BODY)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    memory = (layout.hyper, layout.ints, aligned(1, layout.memory)[0])
    lines = (np.zeros((1, len(SENSORS)), np.float32), np.zeros((1, 1), np.float32), np.zeros(Feedback.count()))
    kind.init(*memory, rng, *lines)
    brain, numbers = kind.memory(*memory), np.random.default_rng(0)
    brain.x[:] = numbers.uniform(-1, 1, brain.x.shape)
    brain.cell.deltas[:] = numbers.normal(size=brain.cell.deltas.shape)
    brain.cell.deltas[:, brain.cell.true_units :] = 0
    brain.cell.alive[:] = 1
    return brain, config


def _tensor(values: Any) -> Any:
    return torch.tensor(np.array(values, dtype=np.float32), requires_grad=True)


def gru_peer(cell: Any, config: Any) -> Callable[[Any], Any]:
    """The recurrent layer of torch, which runs whole sequences in one call."""
    i, u, flat = cell.inputs, cell.units, np.array(cell.parameters)
    peer = torch.nn.GRU(i, u)
    bias = flat[3 * (i + u) * u :][: 4 * u].reshape(4, u)
    with torch.no_grad():
        peer.weight_ih_l0.copy_(torch.tensor(flat[: 3 * i * u].reshape(3, i, u).transpose(0, 2, 1).reshape(3 * u, i)))
        units = flat[3 * i * u :][: 3 * u * u].reshape(3, u, u).transpose(0, 2, 1).reshape(3 * u, u)
        peer.weight_hh_l0.copy_(torch.tensor(units))
        peer.bias_ih_l0.copy_(torch.tensor(bias[:3].ravel()))
        peer.bias_hh_l0.zero_()
        peer.bias_hh_l0[2 * u :] = torch.tensor(bias[3])
    return lambda x: peer(x)[0]


def in_steps(step: Step, state: Any) -> Callable[[Any], Any]:
    """What runs a cell of one step over a sequence."""

    def run(x: Any) -> Any:
        now, outputs = state, []
        for t in range(x.shape[0]):
            output, now = step(x[t], now)
            outputs.append(output)
        return torch.stack(outputs)

    return run


def liquid_peer(cell: Any, config: Any) -> Callable[[Any], Any]:
    """The cell of ncps."""
    i, u, b, flat = cell.inputs, cell.units, cell.backbone, np.array(cell.parameters)
    first = (i + u + 1) * b
    peer = CfCCell(i, u, backbone_units=b, backbone_layers=1)
    with torch.no_grad():
        peer.backbone[0].weight.copy_(torch.tensor(flat[: (i + u) * b].reshape(i + u, b).T))
        peer.backbone[0].bias.copy_(torch.tensor(flat[(i + u) * b : first]))
        for n, layer in enumerate((peer.ff1, peer.ff2, peer.time_b)):
            layer.weight.copy_(torch.tensor(flat[first + n * b * u :][: b * u].reshape(b, u).T))
            layer.bias.copy_(torch.tensor(flat[first + (3 * b + n) * u :][:u]))
        peer.time_a.weight.zero_()
        peer.time_a.bias.zero_()
    return in_steps(lambda x, h: (peer(x, h, 1.0)[0],) * 2, torch.zeros(SEQUENCES, u))


def spiking_peer(cell: Any, config: Any) -> Callable[[Any], Any]:
    """The same equations with the surrogate gradient of snntorch."""
    i, u, flat = cell.inputs, cell.units, np.array(cell.parameters)
    inputs, units = _tensor(flat[: i * u].reshape(i, u)), _tensor(flat[i * u :][: u * u].reshape(u, u))
    bias, recovery = _tensor(flat[(i + u) * u :][:u]), torch.tensor(np.array(cell.recovery))
    fire = snntorch.surrogate.fast_sigmoid(slope=config.sharpness)

    def step(x: Any, state: Any) -> tuple[Any, Any]:
        potential, fatigue, spikes, trace = state
        potential = config.decay * potential + x @ inputs + spikes @ units + bias - spikes.detach()
        fatigue = recovery * fatigue + (1 - recovery) * spikes
        spikes = fire(potential - 1 - config.adaptation * fatigue)
        trace = config.smoothing * trace + (1 - config.smoothing) * spikes
        return trace, (potential, fatigue, spikes, trace)

    return in_steps(step, (torch.zeros(SEQUENCES, u),) * 4)


def connectome_peer(cell: Any, config: Any) -> Callable[[Any], Any]:
    """The circuit as one dense matrix, which is faster in torch than lists of edges."""
    sizes = np.cumsum([cell.chemicals, cell.gaps, cell.receptors * cell.inputs, cell.neurons])
    weights, roots, given, offset, leak = (_tensor(v) for v in np.split(np.array(cell.parameters), sizes))
    leak = leak[: cell.neurons]
    pre, post, left, right, sensory, motor = (
        torch.tensor(np.array(ends)) for ends in (cell.pre, cell.post, cell.left, cell.right, cell.sensory, cell.motor)
    )

    def run(x: Any) -> Any:
        across, n = roots**2, cell.neurons
        matrix = torch.zeros(n, n).index_put((pre, post), weights, accumulate=True)
        matrix = matrix.index_put((left, right), across, accumulate=True).index_put((right, left), across, True)
        own = torch.zeros(n).index_add(0, left, across).index_add(0, right, across)
        matrix, follow = matrix - torch.diag(own), torch.sigmoid(leak)

        def step(now: Any, h: Any) -> tuple[Any, Any]:
            told = torch.zeros(SEQUENCES, n).index_add(1, sensory, now @ given.reshape(-1, cell.inputs).T) + offset
            for _ in range(config.ticks):
                h = h + follow * (torch.tanh(h @ matrix + told) - h)
            return h[:, motor], h

        return in_steps(step, torch.zeros(SEQUENCES, n))(x)

    return run


PEERS = {
    "gru_ppo": (gru_peer, "torch GRU"), "liquid_ppo": (liquid_peer, "ncps"), "spiking_ppo": (spiking_peer, "snntorch"),
    "connectome_ppo": (connectome_peer, "torch, dense"),
}  # fmt: skip


def measure(name: str) -> None:
    """Alternates between a cell and its peer, and prints the best round of each."""
    brain, config = fresh(name)
    cell, module = brain.cell, MODULES[name]
    make, peer_name = PEERS[name]
    peer, steps = make(cell, config), brain.x.shape[0]
    x = torch.tensor(np.array(brain.x)).reshape(-1, SEQUENCES, cell.inputs)
    best = {"ours": np.inf, peer_name: np.inf}
    for _ in range(ROUNDS):
        begun = time.process_time()
        module.run(cell, brain.x, SEQUENCES)
        module.run_back(cell, brain.x, SEQUENCES)
        middle = time.process_time()
        outputs = peer(x)
        deltas = torch.tensor(np.array(cell.deltas)[:, : outputs.shape[2]]).reshape(outputs.shape)
        (outputs * deltas).sum().backward()
        best["ours"] = min(best["ours"], (middle - begun) / steps)
        best[peer_name] = min(best[peer_name], (time.process_time() - middle) / steps)
    theirs = outputs.detach().numpy().reshape(steps, -1)
    away = float(np.abs(np.array(cell.outputs)[:, : theirs.shape[1]] - theirs).max())
    ours, other = 1e-3 / best["ours"], 1e-3 / best[peer_name]
    print(f"{name:15s} {ours:9.1f} k steps/s, {peer_name:13s} {other:8.1f} k steps/s: {ours / other:6.1f} x", end="")
    print(f"  (outputs differ by at most {away:.1e})", flush=True)


def main() -> None:
    """All cells, one after another."""
    torch.set_num_threads(1)
    for name in MODULES:
        measure(name)


if __name__ == "__main__":
    main()
