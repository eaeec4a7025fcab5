"""Speed of the brains that have no file of their own here, beside a peer in the same run, on one core.

| brain | what is timed | peer |
|---|---|---|
| `quantum_reservoir` | a step that learns: circuit, expectations, readout | PennyLane's circuit alone, a call a step |
| `evolved_mlp` | a step, a generation's move every 600 steps included | the same strategy in torch |
| `active_inference` | the posterior over actions of one decision | pymdp's, of the same model |

How far both agree is printed first: on expectations, on actions, on the posterior. Rounds alternate and the best of
each counts, in processor time, so that a busy machine disturbs both alike.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pennylane as qml
import torch
from pymdp import control
from pymdp.utils import obj_array

from nematodebench.brains.classical import active_inference as agent
from nematodebench.brains.registry import get_brain
from nematodebench.engine.compiled_brain import aligned
from nematodebench.kernels.abi import BRAIN, Feedback
from nematodebench.kernels.jit import first_class, kernel
from nematodebench.kernels.rng import RNG_WORDS, STREAM_BRAIN, set_stream
from perf.spiking import BODY, SENSORS, Array, experience, reward_of, steps

ROUNDS, STEPS, PEER_STEPS, DECISIONS = 30, 1200, 60, 1000
LIFE = 50  # steps of a candidate


def fresh(name: str, **settings: Any) -> tuple[tuple[Any, ...], Any, Any]:
    """A fresh brain: all that its functions are called with, the view of its memory, and its config."""
    kind = get_brain(name)
    config = kind.config(**settings)
    layout = kind.layout(config, BODY)
    rng = np.zeros(RNG_WORDS, dtype=np.uint64)
    set_stream(rng, np.uint64(1), STREAM_BRAIN, 0, 0)
    memory = (layout.hyper, layout.ints, aligned(1, layout.memory)[0])
    lines = (np.zeros((1, len(SENSORS)), np.float32), np.zeros((1, 1), np.float32), np.zeros(Feedback.count()))
    arguments = (*memory, rng, *lines)
    kind.init(*arguments)
    kind.begin_episode(*arguments)
    return arguments, kind.memory(*memory), config


def compete(name: str, peer: str, unit: str, ours: Callable[[], float], theirs: Callable[[], float]) -> None:
    """Alternates between both, which return what a unit took them, and prints the best round of each."""
    best = {"compiled": np.inf, peer: np.inf}
    for _ in range(ROUNDS):
        best["compiled"] = min(best["compiled"], ours())
        best[peer] = min(best[peer], theirs())
    for who, seconds in best.items():
        print(f"{name:17s} {who:10s} {1e-3 / seconds:10.2f} k {unit}/s  ({seconds * 1e6:.2f} us)")
    print(f"{name:17s} ratio: {best[peer] / best['compiled']:,.0f} x", flush=True)


def per_unit(call: Callable[[], Any], units: int) -> Callable[[], float]:
    """What times a call that does so many units."""

    def timed() -> float:
        begun = time.process_time()
        call()
        return (time.process_time() - begun) / units

    return timed


def stepping(name: str, arguments: tuple[Any, ...], stream: Array) -> Callable[[], Any]:
    """The brain lives through the stream, compiled."""
    kind = get_brain(name)
    act, learn = first_class(kind.act, BRAIN), first_class(kind.learn, BRAIN)
    return lambda: steps(act, learn, stream, *arguments)


def quantum_reservoir(stream: Array) -> None:
    """The circuit of the reservoir in PennyLane gets the same angles."""
    arguments, brain, config = fresh("quantum_reservoir")
    qubits, layers = config.qubits, config.layers
    shape = (layers + 1, 3, qubits)
    table = np.asarray(brain.circuit.parameters)[: np.prod(shape)].reshape(shape).astype(np.float64)

    @qml.qnode(qml.device("default.qubit", wires=qubits))  # type: ignore[untyped-decorator]
    def node(x: Any) -> Any:
        for layer in range(layers + 1):
            for q in range(qubits):
                if layer > 0:
                    qml.RX(table[layer, 0, q] * x[q], wires=q)
                    qml.RZ(table[layer, 1, q], wires=q)
                qml.RY(table[layer, 2, q], wires=q)
            if layer < layers:
                for q in range(qubits):
                    qml.CZ(wires=[q, (q + 1) % qubits])
        pairs = [qml.PauliZ(q) @ qml.PauliZ(p) for q in range(qubits) for p in range(q)]
        return [qml.expval(seen) for seen in [*(qml.PauliZ(q) for q in range(qubits)), *pairs]]

    live = stepping("quantum_reservoir", arguments, stream)
    live()
    angles = np.array(brain.angles[0, :qubits], dtype=np.float64)
    features = np.asarray(brain.readout.phi)[: qubits + qubits * (qubits - 1) // 2]
    apart = np.abs(np.array(node(angles)) - features).max()
    print(f"quantum_reservoir expectations differ by at most {apart:.1e}")
    theirs = per_unit(lambda: [node(angles) for _ in range(PEER_STEPS // 10)], PEER_STEPS // 10)
    compete("quantum_reservoir", "PennyLane", "steps", per_unit(live, STEPS), theirs)


class TorchStrategy:
    """The evolution strategy of `evolved_mlp`, as one would write it in torch."""

    def __init__(self, brain: Any, config: Any) -> None:
        self.config, net = config, brain.net
        self.parent = [torch.tensor(one) for one in self.unpacked(net, np.asarray(brain.parent))]
        self.optimiser = torch.optim.Adam(self.parent, lr=config.learning_rate, eps=1e-5)
        self.noise = [[torch.tensor(one) for one in self.unpacked(net, row)] for row in np.asarray(brain.noise)]
        self.fitness: list[float] = []
        self.begin()

    @staticmethod
    def unpacked(net: Any, flat: Array) -> list[Array]:
        """Weights and biases of all layers, without padding."""
        found = []
        for layer in range(net.layers):
            first, width, true = net.first_weight[layer], net.widths[layer], net.outputs[layer]
            rows = net.inputs[layer]
            table = flat[first : first + (rows + 1) * width].reshape(rows + 1, width)[:, :true]
            below = net.inputs[0] if layer == 0 else net.outputs[layer - 1]
            found += [table[:below].copy(), table[rows].copy()]
        return found

    def begin(self) -> None:
        """The next candidate."""
        pair, odd = divmod(len(self.fitness), 2)
        spread = -self.config.spread if odd else self.config.spread
        self.weights = [p + spread * n for p, n in zip(self.parent, self.noise[pair], strict=True)]
        self.lived, self.reward = 0, 0.0

    def act(self, obs: Array) -> int:
        """The best output of the candidate."""
        hidden = torch.tanh(torch.from_numpy(obs) @ self.weights[0] + self.weights[1])
        return int((hidden @ self.weights[2] + self.weights[3]).argmax())

    def learn(self, reward: float) -> None:
        """Counts rewards; ends candidates and generations."""
        self.reward += reward
        self.lived += 1
        if self.lived == self.config.longest:
            self.fitness.append(self.reward)
            if len(self.fitness) == 2 * self.config.pairs:
                self.move()
            self.begin()

    def move(self) -> None:
        """A step of Adam along the noise, by ranks; fresh noise."""
        fitness = torch.tensor(self.fitness)
        lower, equal = (fitness[:, None] > fitness).sum(1), (fitness[:, None] == fitness).sum(1) - 1
        utility = (lower + 0.5 * equal) / (len(fitness) - 1) - 0.5
        better = (utility[0::2] - utility[1::2]) / (len(fitness) * self.config.spread)
        for n, parent in enumerate(self.parent):
            noise = torch.stack([one[n] for one in self.noise])
            parent.grad = -torch.tensordot(better, noise, dims=1)
        self.optimiser.step()
        self.noise = [[torch.randn_like(p) for p in self.parent] for _ in range(self.config.pairs)]
        self.fitness = []


def evolved_mlp(stream: Array) -> None:
    """Both are given the same parent and the same noise of the first generation, and must act alike."""
    arguments, brain, config = fresh("evolved_mlp", longest=LIFE)
    peer, kind = TorchStrategy(brain, config), get_brain("evolved_mlp")
    obs, action, out = arguments[-3:]
    outcome, alike = Feedback(out), []
    for t in range(2 * config.pairs * LIFE):
        obs[0] = stream[t, :-1]
        kind.act(*arguments)
        alike.append(peer.act(stream[t, :-1]) == int(action[0, 0]))
        outcome.reward = reward_of(action[0, 0], stream[t, -1])
        kind.learn(*arguments)
        peer.learn(float(outcome.reward))
    moved = zip(peer.parent, TorchStrategy.unpacked(brain.net, np.asarray(brain.parent)), strict=True)
    apart = max(float((ours - torch.tensor(theirs)).abs().max()) for ours, theirs in moved)
    print(f"evolved_mlp       same action in {np.mean(alike):.2%} of a generation; parents then differ by {apart:.1e}")

    def lived() -> None:
        for t in range(STEPS // 2):
            peer.learn(reward_of(float(peer.act(stream[t, :-1])), stream[t, -1]))

    live = stepping("evolved_mlp", arguments, stream)
    live()
    compete("evolved_mlp", "torch", "steps", per_unit(live, STEPS), per_unit(lived, STEPS // 2))


@kernel()
def decide(brain: Any, cell: int, times: int) -> None:
    """Many posteriors, of one cell."""
    for _ in range(times):
        agent.weigh_actions(brain, cell)


def listed(*arrays: Array) -> Any:
    """An array of arrays, as pymdp takes factors and modalities."""
    made = obj_array(len(arrays))
    for n, array in enumerate(arrays):
        made[n] = array
    return made


def active_inference(stream: Array) -> None:
    """One decision without novelty and without what lies behind it, which is all of pymdp's posterior over actions."""
    settings = {"novelty": 0.0, "gamma": 0.0, "precision": 1.0, "preference": 3.0}
    arguments, brain, config = fresh("active_inference", **settings)
    numbers = np.random.default_rng(2)
    brain.results[:] = numbers.uniform(0.2, 3, brain.results.shape).astype(np.float32)
    stepping("active_inference", arguments, stream)()
    cell, actions, contexts = brain.row // brain.actions, brain.actions, brain.contexts
    for row in range(cell * actions, (cell + 1) * actions):
        for context in range(contexts):
            agent._expect(brain, context, row)  # also what was never done there
    counts = np.asarray(brain.results, np.float64)[:, cell * actions : (cell + 1) * actions].transpose(2, 0, 1)
    where = np.eye(actions)[0]
    lead = np.stack([np.tile(np.eye(actions)[a][:, None], actions) for a in range(actions)], axis=2)
    model = (
        listed(np.asarray(brain.belief, np.float64), where), listed(counts / counts.sum(axis=0)),
        listed(np.eye(contexts)[:, :, None], lead), listed(config.preference * np.array([-1.0, 0.0, 1.0])),
        [np.array([[0, a]]) for a in range(actions)],
    )  # fmt: skip

    def theirs() -> Any:
        return control.update_posterior_policies(*model, gamma=1.0)[0]

    decide(brain, cell, 1)
    apart = np.abs(np.asarray(brain.chances)[:actions] - theirs()).max()
    print(f"active_inference  posteriors differ by at most {apart:.1e}, largest {theirs().max():.2f}")
    slow = per_unit(lambda: [theirs() for _ in range(PEER_STEPS)], PEER_STEPS)
    compete("active_inference", "pymdp", "decisions", per_unit(lambda: decide(brain, cell, DECISIONS), DECISIONS), slow)


def main() -> None:
    """All three, one after another."""
    torch.set_num_threads(1)
    stream = experience(STEPS + 1)
    quantum_reservoir(stream)
    evolved_mlp(stream)
    active_inference(stream)


if __name__ == "__main__":
    main()
