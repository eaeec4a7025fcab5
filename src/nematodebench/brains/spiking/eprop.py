"""Brain `eprop`: spiking neurons with a recurrent net that learn online from reward, by eligibility propagation."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.heads import Heads, sample_heads
from nematodebench.brains.parts.liveness import Liveness, count_active, liveness_of
from nematodebench.brains.spiking.adaptive_net import (
    AdaptiveNet,
    draw_net,
    read_out,
    readout_rows,
    rest,
    run_tick,
    source_rows,
)
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.adam import Adam, adam_step
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.math import log32
from nematodebench.kernels.memory import constant, counter, floats, part, real, size

__all__ = ["Eprop", "EpropConfig", "Memory"]

_OUTPUT_GAIN = 0.1
_LEAST_SHARE = np.float32(1e-7)
_LEAST_SPREAD = 1e-3
_GAIN_SHARE = 1e-4


class EpropConfig(BrainConfig):
    """Parameters of `eprop`."""

    neurons: int = parameter(96, 8, 1024, "spiking neurons", searched(32, 256, "medium", log=True))
    ticks: int = parameter(3, 1, 20, "ticks a step", searched(1, 4, "medium"))
    levels: int = parameter(5, 2, 64, "values an effector can take")
    adaptive: float = parameter(
        0.5, 0, 1, "share of neurons whose threshold adapts", searched(0.0, 1.0, "medium", off=0.0)
    )
    adaptation: float = parameter(0.3, 0, 10, "what a spike adds to such a threshold", searched(0.05, 1.0, "medium"))
    shortest: float = parameter(5.0, 1, None, "shortest time constant of adaptation, in ticks")
    longest: float = parameter(300.0, 1, None, "longest one", searched(20.0, 500.0, "medium", log=True))
    decay: float = parameter(
        0.6, 0, 1, "share of a membrane's potential left after a tick", searched(0.3, 0.95, "high")
    )
    smoothing: float = parameter(
        0.5, 0, 1, "share of a spike that the readout still sees after a tick", searched(0.0, 0.95, "high"), lt=1
    )
    dampening: float = parameter(0.5, 0, 1, "height of a spike's pseudo-derivative", searched(0.1, 1.0, "medium"))
    input_gain: float = parameter(3.0, 0, 20, "size of input weights at birth", searched(0.5, 5.0, "medium", log=True))
    recurrent_gain: float = parameter(0.5, 0, 20, "size of recurrent weights at birth", searched(0.0, 2.0, "medium"))
    learning_rate: float = parameter(2e-3, 0, 1, "Adam's step size", searched(0.0001, 0.02, "high", log=True, off=0.0))
    interval: int = parameter(
        16, 1, 65536, "steps whose changes are made at once", searched(8, 512, "medium", log=True)
    )
    gamma: float = parameter(0.95, 0, 1, "discount of future reward", searched(0.8, 0.995, "high"))
    trace: float = parameter(
        0.9, 0, 1, "share of credit that is left after a step, beside gamma", searched(0, 1, "high")
    )
    entropy: float = parameter(
        0.01, 0, 10, "weight of the entropy bonus", searched(0.0001, 0.1, "high", log=True, off=0.0)
    )
    value_weight: float = parameter(0.5, 0, 10, "weight of the value's error", searched(0.1, 2, "low", log=True))
    rate_cost: float = parameter(
        0.1, 0, 100, "weight of the distance from the wanted rate", searched(0.0, 1.0, "low", off=0.0)
    )
    target_rate: float = parameter(0.15, 0, 1, "spikes a tick that a neuron is kept at", searched(0.05, 0.4, "medium"))
    rate_memory: float = parameter(0.005, 0, 1, "weight of a tick in a neuron's running rate")
    max_grad_norm: float = parameter(1.0, 0, None, "gradients are clipped to this norm; 0 = never")


class Memory(BrainMemory):
    """Of `eprop`: the net, its gradient, the credit of every parameter for what comes, and the scale of rewards."""

    learning_rate = constant()
    gamma = constant()
    trace = constant()
    entropy = constant()
    value_weight = constant()
    rate_cost = constant()
    target_rate = constant()
    max_grad_norm = constant()
    input_gain = constant()
    recurrent_gain = constant()
    ticks = size()
    interval = size()
    sensors = size()
    width = size()
    neurons = size()
    count = size()
    parameters = size()
    logits = size()
    outputs = size()
    heads = part(Heads)
    net = part(AdaptiveNet)
    adam = part(Adam)
    liveness = part(Liveness)
    x = floats("width", scratch=True)
    gradients = floats("parameters")
    credit = floats("parameters", scratch=True)
    chosen = floats("count", scratch=True)
    shares = floats("outputs", scratch=True)
    paid = floats("outputs", scratch=True)  # derivatives that what comes will be multiplied with
    asked = floats("outputs", scratch=True)  # derivatives that are followed whatever comes
    paid_neurons = floats("neurons", scratch=True)
    asked_neurons = floats("neurons", scratch=True)
    collected = counter()
    ready = counter()
    value = real()
    gain = real()
    gain_mean = real()
    gain_square = real()
    gains = counter()


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """A fresh net."""
    draw_net(brain.net, rng, brain.input_gain, brain.recurrent_gain, _OUTPUT_GAIN)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Activity, traces and credit belong to an episode."""
    rest(brain.net)
    brain.ready = 0
    brain.gain = np.float32(0.0)
    for n in range(brain.parameters):
        brain.credit[n] = np.float32(0.0)


@kernel()
def _advance(brain: Memory, obs: F32) -> None:
    """Some ticks with an observation and a constant 1, then the readout."""
    for i in range(brain.sensors):
        brain.x[i] = obs[i]
    brain.x[brain.sensors] = np.float32(1.0)
    for j in range(brain.neurons):
        brain.net.fired[j] = np.float32(0.0)
    for _ in range(brain.ticks):
        count_active(brain.liveness, run_tick(brain.net, brain.x))
    read_out(brain.net)
    brain.value = brain.net.readout[brain.logits]


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Samples an action; every parameter is credited with what it did for it."""
    if brain.ready == 0:
        _advance(brain, obs)
    brain.ready = 0
    for k in range(brain.logits):
        brain.shares[k] = brain.net.readout[k]
    sample_heads(brain.heads, brain.shares, brain.chosen, rng, action)
    _judge_outputs(brain)
    _credit_sources(brain)
    _credit_readout(brain)


@kernel()
def _judge_outputs(brain: Memory) -> None:
    """Derivatives by the readout: of the log probability of what was chosen and the value, and of the entropy."""
    levels = brain.heads.levels
    for head in range(brain.heads.count):
        first, total, entropy = head * levels, np.float32(0.0), np.float32(0.0)
        for k in range(first, first + levels):
            total += brain.shares[k]
        for k in range(first, first + levels):
            brain.shares[k] = max(brain.shares[k] / total, _LEAST_SHARE)
            entropy -= brain.shares[k] * log32(brain.shares[k])
        for k in range(first, first + levels):
            share = brain.shares[k]
            brain.paid[k] = -share
            brain.asked[k] = -np.float32(brain.entropy) * share * (log32(share) + entropy)
        brain.paid[first + int(brain.chosen[head])] += np.float32(1.0)
    brain.paid[brain.logits], brain.asked[brain.logits] = np.float32(brain.value_weight), np.float32(0.0)


@kernel()
def _credit_sources(brain: Memory) -> None:
    """Each neuron hears how the readout depends on it; its eligibilities say what its weights did for that."""
    net, left, paid, asked = brain.net, np.float32(brain.gamma * brain.trace), brain.paid_neurons, brain.asked_neurons
    rows = readout_rows(net, net.weights)
    for j in range(net.neurons):
        paid[j] = np.float32(0.0)
        asked[j] = np.float32(brain.rate_cost * (brain.target_rate - net.rates[j]))
        for k in range(net.outputs):
            paid[j] += rows[j, k] * brain.paid[k]
            asked[j] += rows[j, k] * brain.asked[k]
    credit, gradients = source_rows(net, brain.credit), source_rows(net, brain.gradients)
    for i in range(net.sources):
        mine, gradient, eligibility = credit[i], gradients[i], net.eligibility[i]
        for j in range(net.neurons):
            mine[j] = left * mine[j] + paid[j] * eligibility[j]
            gradient[j] -= asked[j] * eligibility[j]


@kernel()
def _credit_readout(brain: Memory) -> None:
    """The same for the weights of the readout and for its bias, whose share is 1."""
    net, left = brain.net, np.float32(brain.gamma * brain.trace)
    credit, gradients = readout_rows(net, brain.credit), readout_rows(net, brain.gradients)
    for j in range(net.neurons + 1):
        recent = net.recent[j] if j < net.neurons else np.float32(1.0)
        for k in range(net.outputs):
            credit[j, k] = left * credit[j, k] + brain.paid[k] * recent
            gradients[j, k] -= brain.asked[k] * recent


@kernel()
def _scaled(brain: Memory, reward: float) -> float:
    """A reward in units of the running spread of discounted returns, so that none is too large or too small."""
    brain.gains += 1
    share = max(1.0 / brain.gains, _GAIN_SHARE)
    gain = brain.gamma * np.float64(brain.gain) + reward
    mean = np.float64(brain.gain_mean) + share * (gain - np.float64(brain.gain_mean))
    square = np.float64(brain.gain_square) + share * ((gain - mean) * (gain - mean) - np.float64(brain.gain_square))
    brain.gain, brain.gain_mean, brain.gain_square = np.float32(gain), np.float32(mean), np.float32(square)
    spread: float = max(np.sqrt(square), _LEAST_SPREAD)
    return reward / spread


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """What came is compared with what was expected, and credit turns the difference into changes of the parameters."""
    expected, reward = np.float64(brain.value), _scaled(brain, outcome.reward)
    following = 0.0
    if outcome.terminated == 0.0:
        _advance(brain, obs)
        brain.ready = 1
        following = brain.gamma * np.float64(brain.value)
    surprise = np.float32(reward + following - expected)
    for n in range(brain.parameters):
        brain.gradients[n] -= surprise * brain.credit[n]
    brain.collected += 1
    if brain.collected == brain.interval:
        _change(brain)


@kernel()
def _change(brain: Memory) -> None:
    """One step of the optimiser along the mean of what was collected."""
    share = np.float32(1.0) / np.float32(brain.interval)
    for n in range(brain.parameters):
        brain.gradients[n] *= share
    adam_step(brain.adam, brain.net.weights, brain.gradients, brain.learning_rate, brain.max_grad_norm)
    for n in range(brain.parameters):
        brain.gradients[n] = np.float32(0.0)
    brain.collected = 0


class Eprop(CompiledBrain):
    """A recurrent net of spiking neurons, half of them with adaptive thresholds, and reward-based e-prop.

    It learns while it acts: every weight carries an eligibility forward in time, every neuron hears how the actions
    and the expected reward depend on it, and the error of that expectation turns both into a change. Nothing is
    stored and nothing runs backwards in time.

    | part | how |
    |---|---|
    | neurons | leaky integrate-and-fire; the thresholds of a share `adaptive` rise with every spike and fall back within `shortest` to `longest` ticks, which is the net's memory |
    | step | `ticks` ticks with the observation and a constant 1 as inputs; the readout sees spikes that fade (`smoothing`) |
    | readout | one logit for each level of each action head, and the value |
    | eligibility | of a weight: how the readout of its neuron depends on it (`adaptive_net.py`) |
    | learning signal | of a neuron: its readout weights x the derivatives of log probability and value |
    | credit | fades by gamma x `trace`, grows by signal x eligibility |
    | change | surprise x credit, surprise = reward + gamma x value ahead - value; also an entropy bonus, and a rate that neurons are kept at |
    | reward | in units of the running spread of discounted returns |
    | optimiser | Adam on the mean of `interval` steps, gradient norm clipped |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |
    """  # noqa: E501

    name: ClassVar[str] = "eprop"
    kind: ClassVar[BrainClass] = "spiking"
    config = EpropConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: EpropConfig, body: Interface) -> Mapping[str, Any]:
        """A net with one input for each sensor and one that is always 1, and readouts for all heads and the value."""
        heads = Heads.shape(body, config.levels)
        logits = heads["count"] * heads["levels"]
        net = AdaptiveNet.shape(body.inputs + 1, config.neurons, logits + 1)
        return {
            "sensors": body.inputs,
            "width": body.inputs + 1,
            "count": heads["count"],
            "logits": logits,
            "outputs": logits + 1,
            "parameters": net["parameters"],
            "heads": heads,
            "net": net,
            "adam": {"count": net["parameters"]},
            "liveness": {"nodes": config.neurons},
        }

    @classmethod
    def synapses(cls, config: EpropConfig, brain: Memory) -> list[Synapses]:
        """From the inputs, whose drive is the same in all ticks of a step, among neurons by spikes, and the readout."""
        net, neurons, outputs = brain.net, brain.neurons, brain.outputs
        spikes, recent = np.asarray(net.fired), np.asarray(net.recent)
        return [
            Synapses("inputs", brain.sensors, neurons, neurons, neurons),
            Synapses("recurrent", neurons, neurons, neurons, 0, spikes, True, config.ticks),
            Synapses("readout", neurons, outputs, outputs, outputs, recent, counted=False),
        ]

    @classmethod
    def describe(cls, config: EpropConfig, brain: Memory) -> dict[str, float]:
        """How alive it was."""
        return liveness_of(brain.liveness)
