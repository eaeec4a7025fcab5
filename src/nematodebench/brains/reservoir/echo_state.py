"""Brain `echo_state`: a fixed random recurrent network whose echoes a readout learns to use."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter
from nematodebench.brains.parts.links import WeightedLinks, draw_links, push
from nematodebench.brains.parts.liveness import Liveness, count_active, liveness_of
from nematodebench.brains.parts.rate_code import RateCode, encode
from nematodebench.brains.parts.readout import Readout, ReadoutConfig, choose, forget_actions, learn_from
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, F64, U64, kernel
from nematodebench.kernels.math import exp64, log64, tanh32
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.rng import normal, uniform

__all__ = ["EchoState", "EchoStateConfig"]

_WARM_UP, _MEASURED = 100, 200


class EchoStateConfig(ReadoutConfig):
    """Parameters of `echo_state`."""

    nodes: int = parameter(100, 2, 2000, "nodes of the reservoir")
    spectral_radius: float = parameter(0.9, 0, 10, "largest absolute eigenvalue of the recurrent weights")
    input_scale: float = parameter(1.0, 0, 100, "input weights are uniform between minus and plus this")
    bias_scale: float = parameter(0.5, 0, 100, "biases are uniform between minus and plus this")
    leak: float = parameter(0.5, 0, 1, "share of a node's state renewed in a tick", gt=0)
    density: float = parameter(0.1, 0, 1, "share of the nodes a node reaches", gt=0)
    input_density: float = parameter(0.5, 0, 1, "share of the nodes an input reaches", gt=0)


class Memory(BrainMemory):
    """Of `echo_state`. The first of the readout's features are the states of the nodes."""

    spectral_radius = constant()
    input_scale = constant()
    bias_scale = constant()
    leak = constant()
    nodes = size()
    code = part(RateCode)
    liveness = part(Liveness)
    readout = part(Readout)
    inputs = part(WeightedLinks)
    recurrent = part(WeightedLinks)
    drive = floats("nodes + 1", scratch=True)
    bias = floats("nodes")

    def synapses(self) -> Iterator[Synapses]:
        """From channels to nodes, among nodes, and the readout's."""
        inputs, recurrent, nodes = self.inputs, self.recurrent, self.nodes
        yield Synapses("inputs", inputs.rows, nodes, inputs.degree, nodes, np.asarray(self.code.rates), counted=False)
        yield Synapses("recurrent", nodes, nodes, recurrent.degree, 0, np.asarray(self.readout.phi[:nodes]))
        yield from self.readout.synapses()


@kernel()
def _spread(links: WeightedLinks, source: F64, target: F64) -> None:
    """Applies the weights to ``source``, in float64."""
    for i in range(target.size):
        target[i] = 0.0
    for j in range(links.rows):
        targets, weights = links.targets[j], links.weights[j]
        for k in range(links.stride):
            target[targets[k]] += weights[k] * source[j]
    target[links.columns] = 0.0


@kernel(allocates=True)
def _spectral_radius(links: WeightedLinks, rng: U64) -> float:
    """Growth of a random vector under the weights: the geometric mean over many powers, complex pairs included."""
    nodes = links.columns
    one, other = np.zeros(nodes + 1), np.zeros(nodes + 1)
    for i in range(nodes):
        one[i] = normal(rng)
    growth = 0.0
    for step in range(_WARM_UP + _MEASURED):
        _spread(links, one, other)
        square = 0.0
        for i in range(nodes):
            square += other[i] * other[i]
        length = np.sqrt(square)
        if length < 1e-300:
            return 0.0
        for i in range(nodes):
            one[i] = other[i] / length
        if step >= _WARM_UP:
            growth += log64(length)
    return exp64(growth / _MEASURED)


@kernel()
def _draw_recurrent_weights(brain: Memory, rng: U64) -> None:
    """Normal weights, scaled to the spectral radius."""
    weights = brain.recurrent.weights
    for j in range(brain.nodes):
        for k in range(brain.recurrent.stride):
            weights[j, k] = np.float32(normal(rng))
    radius = _spectral_radius(brain.recurrent, rng)
    factor = np.float32(brain.spectral_radius / radius if radius > 0.0 else 0.0)
    for j in range(brain.nodes):
        for k in range(brain.recurrent.stride):
            weights[j, k] *= factor


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws the reservoir and scales it to its spectral radius; the readout starts at zero: a uniform policy."""
    draw_links(brain.inputs, rng)
    draw_links(brain.recurrent, rng)
    for c in range(brain.code.channels):
        for k in range(brain.inputs.stride):
            brain.inputs.weights[c, k] = np.float32(brain.input_scale * (2.0 * uniform(rng) - 1.0))
    for i in range(brain.nodes):
        brain.bias[i] = np.float32(brain.bias_scale * (2.0 * uniform(rng) - 1.0))
    _draw_recurrent_weights(brain, rng)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """The echoes end; what the readout learned stays."""
    for i in range(brain.nodes):
        brain.readout.phi[i] = np.float32(0.0)
    forget_actions(brain.readout)


@kernel()
def _advance(brain: Memory, obs: F32) -> None:
    """One tick of the reservoir; the features are its nodes, the inputs and a constant."""
    nodes, channels, rates = brain.nodes, brain.code.channels, brain.code.rates
    state, drive, bias = brain.readout.phi, brain.drive, brain.bias
    encode(brain.code, obs)
    for i in range(nodes):
        drive[i] = bias[i]
    for c in range(channels):
        state[nodes + c] = rates[c]
        if rates[c] > 0.0:
            push(brain.inputs, c, drive, rates[c])
    state[nodes + channels] = np.float32(1.0)
    for j in range(nodes):
        push(brain.recurrent, j, drive, state[j])
    leak, total = np.float32(brain.leak), np.float32(0.0)
    for i in range(nodes):
        state[i] += leak * (tanh32(drive[i]) - state[i])
    for i in range(nodes):
        total += abs(state[i])
    count_active(brain.liveness, int(np.floor(total + np.float32(0.5))))


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """The reservoir hears the observation (unless it did when it learned), the readout chooses."""
    if not brain.readout.fresh:
        _advance(brain, obs)
    choose(brain.readout, rng, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """The reservoir hears the next observation, the readout learns from the reward."""
    _advance(brain, obs)
    learn_from(brain.readout, outcome)


class EchoState(CompiledBrain):
    """A fixed recurrent network of leaky tanh nodes; only the linear readout learns, from reward.

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `parts.rate_code`), each to a share `input_density` of the nodes |
    | recurrent weights | normal, a share `density` of the nodes each, scaled to `spectral_radius` by power iteration |
    | node | x <- (1 - leak) x + leak tanh(recurrent + inputs + bias); all at 0 when an episode begins |
    | readout | nodes, channels and a constant to actor and critic with eligibility traces (see `parts.readout`) |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |

    It is made for tasks in which the right action can be read off senses and their recent past. Poles are balanced for
    a part of the time only (`cartpole-v2` 0.44): a pole falls later than the default horizon of 20 steps. With gamma
    0.99 (`configs/echo_state_cartpole_v2.yml`) it gets 0.77; `mlp_ppo` is the brain for these tasks.
    """

    name: ClassVar[str] = "echo_state"
    kind: ClassVar[BrainClass] = "reservoir"
    config = EchoStateConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: EchoStateConfig, body: Interface) -> Mapping[str, Any]:
        """Reservoir and readout."""
        nodes, code = config.nodes, RateCode.shape(body)
        return {
            "code": code,
            "readout": Readout.shape(body, nodes + code["channels"] + 1, config.levels),
            "inputs": WeightedLinks.shape(code["channels"], nodes, config.input_density),
            "recurrent": WeightedLinks.shape(nodes, nodes, config.density),
        }

    @classmethod
    def describe(cls, config: EchoStateConfig, brain: Memory) -> dict[str, float]:
        """How alive it was; a node is as active as its state is far from 0."""
        return liveness_of(brain.liveness)
