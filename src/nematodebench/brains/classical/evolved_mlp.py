"""Brain `evolved_mlp`: a small network whose weights are found by an evolution strategy, not by gradients."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import hidden_layers, parameter, searched
from nematodebench.brains.parts.heads import Heads, best_level, write_action
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.adam import adam_step
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, counter, floats, part, real, size
from nematodebench.kernels.mlp import Network, forward, init_weights, outputs_of
from nematodebench.kernels.rng import normal

__all__ = ["EvolvedMlp", "EvolvedMlpConfig"]


class EvolvedMlpConfig(BrainConfig):
    """Parameters of `evolved_mlp`."""

    hidden: tuple[int, ...] = hidden_layers(8)
    pairs: int = parameter(
        6, 1, 1024, "pairs of opposite candidates in a generation; each lives one episode", searched(2, 32, "high")
    )
    spread: float = parameter(
        0.2, 0, 10, "spread of the candidates around their parent", searched(0.02, 1, "high", log=True), gt=0
    )
    learning_rate: float = parameter(
        0.1, 0, 10, "Adam's step size of the parent", searched(0.01, 1, "high", log=True, off=0.0)
    )
    longest: int = parameter(1000, 1, 1 << 30, "a candidate is judged after so many steps, if its episode goes on")
    levels: int = parameter(5, 2, 64, "values an effector can take")


class Memory(BrainMemory):
    """Of `evolved_mlp`. The network holds the weights of the candidate that lives now, ``parent`` those it came from.

    Candidates 2 k and 2 k + 1 of a generation are parent + spread x noise k and parent - spread x noise k.
    """

    spread = constant()
    learning_rate = constant()
    longest = size()
    inputs = size()
    pairs = size()
    candidates = size()
    weights = size()
    heads = part(Heads)
    net = part(Network)
    parent = floats("weights")
    noise = floats("pairs", "weights")
    fitness = floats("candidates")
    candidate = counter()
    lived = counter()
    reward = real()
    x = floats(1, "inputs", scratch=True)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """The first parent has orthogonal weights."""
    init_weights(brain.net, rng, np.sqrt(2.0), 1.0)
    for n in range(brain.weights):
        brain.parent[n] = brain.net.parameters[n]
    _begin_generation(brain, rng)


@kernel()
def _begin_generation(brain: Memory, rng: U64) -> None:
    """Draws the noise of all pairs; padded weights have none and stay 0."""
    net = brain.net
    for pair in range(brain.pairs):
        noise, below = brain.noise[pair], net.inputs[0]
        for layer in range(net.layers):
            first, width, true = net.first_weight[layer], net.widths[layer], net.outputs[layer]
            for i in range(below):
                for o in range(true):
                    noise[first + i * width + o] = np.float32(normal(rng))
            bias = first + net.inputs[layer] * width
            for o in range(true):
                noise[bias + o] = np.float32(normal(rng))
            below = true
    brain.candidate = 0
    _begin_candidate(brain)


@kernel()
def _begin_candidate(brain: Memory) -> None:
    """Gives the network the weights of the next candidate."""
    noise = brain.noise[brain.candidate // 2]
    spread = np.float32(brain.spread if brain.candidate % 2 == 0 else -brain.spread)
    for n in range(brain.weights):
        brain.net.parameters[n] = brain.parent[n] + spread * noise[n]
    brain.reward, brain.lived = np.float32(0.0), 0


@Memory.kernel
def act(brain: Memory, obs: F32, action: F32) -> None:
    """The candidate takes the action that its network finds best."""
    for i in range(brain.inputs):
        brain.x[0, i] = obs[i]
    forward(brain.net, brain.x)
    outputs, levels = outputs_of(brain.net, 1)[0], brain.heads.levels
    for head in range(brain.heads.count):
        write_action(brain.heads, action, head, best_level(outputs[head * levels : (head + 1) * levels]))
    if not np.isfinite(outputs[0]):
        action[0] = np.float32(np.nan)


@Memory.kernel
def learn(brain: Memory, rng: U64, outcome: Feedback) -> None:
    """Adds up the reward; the next candidate follows at the end of the episode, the next generation after the last."""
    brain.reward += np.float32(outcome.reward)
    brain.lived += 1
    if outcome.terminated != 0.0 or outcome.truncated != 0.0 or brain.lived >= brain.longest:
        brain.fitness[brain.candidate] = brain.reward
        brain.candidate += 1
        if brain.candidate == brain.candidates:
            _move_parent(brain)
            _begin_generation(brain, rng)
        else:
            _begin_candidate(brain)


@kernel()
def _utility(fitness: F32, candidate: int) -> np.float32:
    """Rank of a candidate among all, from -1/2 to 1/2; equals share their ranks."""
    below, equal = 0, 0
    for other in range(fitness.size):
        below += 1 if fitness[other] < fitness[candidate] else 0
        equal += 1 if fitness[other] == fitness[candidate] else 0
    rank = np.float32(below) + np.float32(0.5) * np.float32(equal - 1)
    return rank / np.float32(fitness.size - 1) - np.float32(0.5)


@kernel()
def _move_parent(brain: Memory) -> None:
    """One step of Adam along the estimated gradient: the noise of every pair by how much better its plus side was."""
    gradients = brain.net.gradients
    for n in range(brain.weights):
        gradients[n] = np.float32(0.0)
    share = np.float32(1.0 / (brain.candidates * brain.spread))
    for pair in range(brain.pairs):
        noise = brain.noise[pair]
        better = _utility(brain.fitness, 2 * pair) - _utility(brain.fitness, 2 * pair + 1)
        for n in range(brain.weights):
            gradients[n] -= share * better * noise[n]
    adam_step(brain.net.adam, brain.parent, gradients, brain.learning_rate, 0.0)


class EvolvedMlp(CompiledBrain):
    """A tanh network found by an evolution strategy: no gradient of anything, only what whole episodes brought.

    | part | how |
    |---|---|
    | network | inputs - hidden (tanh) - one output for each level of each action head; the largest is taken |
    | generation | `pairs` pairs of candidates: the parent's weights plus and minus the same normal noise x `spread` |
    | life | a candidate acts for one episode, or for `longest` steps; its fitness is the sum of its rewards |
    | parent | moves along the noise weighted by the ranks of fitness, one step of Adam a generation |
    | effectors | one of `levels` values spread over [0, 1] |

    All candidates live within the experience that the task gives to a run, one after another, those of the scored episodes too.
    """  # noqa: E501

    name: ClassVar[str] = "evolved_mlp"
    kind: ClassVar[BrainClass] = "classical"
    config = EvolvedMlpConfig
    memory = Memory
    init = staticmethod(init)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: EvolvedMlpConfig, body: Interface) -> Mapping[str, Any]:
        """A network for one observation, and the noise of a generation."""
        heads = Heads.shape(body, config.levels)
        net = Network.shape(body.inputs, config.hidden, heads["count"] * heads["levels"], 1)
        return {"heads": heads, "net": net, "weights": net["count"], "candidates": 2 * config.pairs}
