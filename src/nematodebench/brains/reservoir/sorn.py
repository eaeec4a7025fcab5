"""Brain `sorn`: a self-organising recurrent network of binary units under a readout that learns from reward."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, switch
from nematodebench.brains.parts.links import Links, WeightedLinks, draw_links, push
from nematodebench.brains.parts.liveness import Liveness, count_active, liveness_of
from nematodebench.brains.parts.rate_code import RateCode, encode
from nematodebench.brains.parts.readout import Readout, ReadoutConfig, choose, forget_actions, learn_from
from nematodebench.brains.parts.spikes import SpikeList, copy_spikes, list_spikes
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory, Feedback
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.rng import uniform

__all__ = ["Sorn", "SornConfig"]

_EXCITATORY_PER_INHIBITORY = 5
_RENEWAL = 256
"""Ticks between renewals of the sums that weights are divided by."""


class SornConfig(ReadoutConfig):
    """Parameters of `sorn`."""

    nodes: int = parameter(200, 5, 2000, "excitatory units; there is one inhibitory unit for every five")
    amplitude: float = parameter(1.0, 0, 1000, "weight of every input connection")
    density: float = parameter(0.05, 0, 1, "share of the excitatory units one of them reaches", gt=0)
    input_density: float = parameter(0.1, 0, 1, "share of the excitatory units an input reaches", gt=0)
    inhibition_density: float = parameter(0.2, 0, 1, "share of units reached to and from inhibitory ones", gt=0)
    target_rate: float = parameter(0.1, 0, 1, "firing rate that thresholds are moved towards", gt=0, lt=1)
    lr_stdp: float = parameter(0.001, 0, 1, "change of a weight by one pair of spikes")
    lr_ip: float = parameter(0.001, 0, 1, "change of a threshold in a tick")
    smoothing: float = parameter(0.5, 0, 1, "share of the readout's view of a unit renewed in a tick", gt=0)
    plastic: bool = switch(True, "whether weights and thresholds of the network change")


class Memory(BrainMemory):
    """Of `sorn`. The first of the readout's features are the smoothed spikes of the excitatory units.

    Weights ``excite`` are divided by the ``sums`` that come in to a unit when they are used; ``now`` and ``before`` are
    1 where an excitatory unit spiked in this tick and the last. Arrays that connections lead to end with a dummy.
    """

    amplitude = constant()
    target_rate = constant()
    lr_stdp = constant()
    lr_ip = constant()
    smoothing = constant()
    nodes = size()
    inhibitory = size()
    plastic = size()
    code = part(RateCode)
    liveness = part(Liveness)
    readout = part(Readout)
    inputs = part(Links)
    excite = part(WeightedLinks)
    alert = part(WeightedLinks)
    inhibit = part(WeightedLinks)
    drive = floats("nodes + 1", scratch=True)
    threshold = floats("nodes")
    sums = floats("nodes + 1")
    changes = floats("nodes + 1", scratch=True)
    now = floats("nodes + 1")
    before = floats("nodes + 1", scratch=True)
    alarm = floats("inhibitory + 1", scratch=True)
    alarm_threshold = floats("inhibitory")
    spikes = part(SpikeList)
    earlier_spikes = part(SpikeList)
    inhibitory_spikes = part(SpikeList)

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Everything that is kept, without the dummies."""
        for name, value in super().learned():
            yield name, value[: self.nodes] if name in {"sums", "now"} else value

    def synapses(self) -> Iterator[Synapses]:
        """From channels to units, among excitatory and inhibitory units by spikes, and the readout's."""
        spikes = np.asarray(self.now[: self.nodes])
        alarms = np.zeros(self.inhibitory)
        alarms[np.asarray(self.inhibitory_spikes.listed[: self.inhibitory_spikes.count])] = 1.0
        inputs, nodes, inhibitory = self.inputs, self.nodes, self.inhibitory
        yield Synapses("inputs", inputs.rows, nodes, inputs.degree, nodes, np.asarray(self.code.rates), counted=False)
        yield Synapses("excite", nodes, nodes, self.excite.degree, 0, spikes, spiking=True)
        yield Synapses("alert", nodes, inhibitory, self.alert.degree, inhibitory, spikes, spiking=True, counted=False)
        yield Synapses("inhibit", inhibitory, nodes, self.inhibit.degree, 0, alarms, spiking=True)
        yield from self.readout.synapses()


@kernel()
def _random_weights(links: WeightedLinks, sums: F32, rng: U64) -> None:
    """Uniform weights, scaled so that those coming in to a unit add up to 1."""
    for row in range(links.rows):
        for k in range(links.stride):
            links.weights[row, k] = np.float32(uniform(rng))
    _normalise(links, sums)


@kernel()
def _normalise(links: WeightedLinks, sums: F32) -> None:
    """Divides weights by the sum of those with the same target; afterwards every sum is 1."""
    targets, weights = links.targets, links.weights
    for i in range(sums.size):
        sums[i] = np.float32(0.0)
    for row in range(links.rows):
        for k in range(links.stride):
            sums[targets[row, k]] += weights[row, k]
    for row in range(links.rows):
        for k in range(links.stride):
            weights[row, k] /= max(sums[targets[row, k]], np.float32(1e-20))
    for i in range(sums.size):
        sums[i] = np.float32(1.0)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws connections, weights and thresholds."""
    draw_links(brain.inputs, rng)
    draw_links(brain.excite, rng)
    draw_links(brain.alert, rng)
    draw_links(brain.inhibit, rng)
    _random_weights(brain.alert, brain.sums[: brain.inhibitory + 1], rng)
    _random_weights(brain.inhibit, brain.sums, rng)
    _random_weights(brain.excite, brain.sums, rng)
    for i in range(brain.nodes):
        brain.threshold[i] = np.float32(0.5 * uniform(rng))
    for i in range(brain.inhibitory):
        brain.alarm_threshold[i] = np.float32(uniform(rng))


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Activity starts at rest; weights and thresholds stay."""
    for i in range(brain.nodes):
        brain.readout.phi[i] = np.float32(0.0)
        brain.now[i] = np.float32(0.0)
    forget_actions(brain.readout)
    brain.spikes.count, brain.inhibitory_spikes.count = 0, 0


@kernel()
def _receive(brain: Memory) -> None:
    """Drive of the excitatory units: spikes of the last tick, and the inputs."""
    drive, sums, spikes, inhibitory = brain.drive, brain.sums, brain.spikes, brain.inhibitory_spikes
    for i in range(brain.nodes + 1):
        drive[i] = np.float32(0.0)
    for n in range(spikes.count):
        push(brain.excite, spikes.listed[n], drive, np.float32(1.0))
    for i in range(brain.nodes):
        drive[i] /= sums[i]
    for n in range(inhibitory.count):
        push(brain.inhibit, inhibitory.listed[n], drive, np.float32(-1.0))
    for c in range(brain.code.channels):
        pushed, targets = np.float32(brain.amplitude) * brain.code.rates[c], brain.inputs.targets[c]
        for k in range(brain.inputs.stride):
            drive[np.uint64(targets[k])] += pushed


@kernel()
def _inhibit(brain: Memory) -> None:
    """The inhibitory units hear the excitatory spikes of the last tick; their own count in the next."""
    alarm, threshold, spikes, n = brain.alarm, brain.alarm_threshold, brain.spikes, 0
    for i in range(brain.inhibitory + 1):
        alarm[i] = np.float32(0.0)
    for s in range(spikes.count):
        push(brain.alert, spikes.listed[s], alarm, np.float32(1.0))
    for i in range(brain.inhibitory):
        brain.inhibitory_spikes.listed[n] = i
        n += 1 if alarm[i] >= threshold[i] else 0
    brain.inhibitory_spikes.count = n


@kernel()
def _fire(brain: Memory) -> None:
    """Excitatory spikes; thresholds move towards the target rate (intrinsic plasticity); the readout's view."""
    lr_ip = np.float32(brain.lr_ip) if brain.plastic else np.float32(0.0)
    rate, smoothing = np.float32(brain.target_rate), np.float32(brain.smoothing)
    drive, threshold, seen = brain.drive, brain.threshold, brain.readout.phi
    now, before = brain.now, brain.before
    copy_spikes(brain.spikes, brain.earlier_spikes)
    for i in range(brain.nodes):
        before[i] = now[i]
        now[i] = np.float32(1.0) if drive[i] >= threshold[i] else np.float32(0.0)
        threshold[i] += lr_ip * (now[i] - rate)
        seen[i] += smoothing * (now[i] - seen[i])
    list_spikes(brain.spikes, now)
    count_active(brain.liveness, brain.spikes.count)


@kernel()
def _pair(brain: Memory, sources: SpikeList, post: F32, change: np.float32) -> None:
    """Changes the weights from listed units to those that spiked, by ``change`` of the incoming sum; none below 0."""
    links, sums, changes = brain.excite, brain.sums, brain.changes
    for n in range(sources.count):
        targets, weights = links.targets[sources.listed[n]], links.weights[sources.listed[n]]
        for k in range(links.stride):
            i = np.uint64(targets[k])
            wanted = max(weights[k] + change * sums[i] * post[i], np.float32(0.0))
            changes[i] += wanted - weights[k]
            weights[k] = wanted


@kernel()
def _adapt(brain: Memory) -> None:
    """Spike-timing-dependent plasticity, and the new incoming sums that weights are divided by when they are used."""
    lr, sums, changes = np.float32(brain.lr_stdp), brain.sums, brain.changes
    _pair(brain, brain.earlier_spikes, brain.now, lr)
    _pair(brain, brain.spikes, brain.before, -lr)
    for i in range(brain.nodes + 1):
        sums[i] = max(sums[i] + changes[i], np.float32(1e-6))
        changes[i] = np.float32(0.0)
    if brain.liveness.ticks % _RENEWAL == 0:  # against rounding, and so that sums stay near 1
        _normalise(brain.excite, sums)


@kernel()
def _advance(brain: Memory, obs: F32) -> None:
    """One tick of the network."""
    encode(brain.code, obs)
    _receive(brain)
    _inhibit(brain)
    _fire(brain)
    if brain.plastic:
        _adapt(brain)
    brain.readout.phi[brain.nodes] = np.float32(1.0)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """The network hears the observation (unless it did when it learned), the readout chooses."""
    if not brain.readout.fresh:
        _advance(brain, obs)
    choose(brain.readout, rng, action)


@Memory.kernel
def learn(brain: Memory, obs: F32, outcome: Feedback) -> None:
    """The network hears the next observation, the readout learns from the reward."""
    _advance(brain, obs)
    learn_from(brain.readout, outcome)


class Sorn(CompiledBrain):
    """Binary excitatory and inhibitory units whose weights and thresholds organise themselves; a readout learns.

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `parts.rate_code`), each by `amplitude` to a share `input_density` of units |
    | excitatory unit | spikes if excitation - inhibition of the last tick + inputs >= its threshold |
    | inhibitory unit | spikes if the excitatory spikes of the last tick reach its (fixed) threshold |
    | spike timing | weight + lr_stdp if the target spikes a tick after the source, - if a tick before; never below 0 |
    | normalisation | weights that come in to a unit add up to 1, always (they are divided by their sum when used) |
    | intrinsic | threshold + lr_ip (spike - target_rate) |
    | readout | smoothed spikes and a constant to actor and critic with eligibility traces (see `parts.readout`) |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |

    The network itself never hears of reward; the readout learns from nothing else, and without it the brain would act
    at random. Poles are balanced for a part of the time only (`cartpole-v2` 0.17;
    8 runs with gamma 0.99, which helps `echo_state`, got 0.28); it is not made for them.
    """

    name: ClassVar[str] = "sorn"
    kind: ClassVar[BrainClass] = "reservoir"
    config = SornConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: SornConfig, body: Interface) -> Mapping[str, Any]:
        """Network and readout."""
        nodes, inhibitory, code = config.nodes, config.nodes // _EXCITATORY_PER_INHIBITORY, RateCode.shape(body)
        return {
            "inhibitory": inhibitory,
            "code": code,
            "readout": Readout.shape(body, nodes + 1, config.levels),
            "inputs": Links.shape(code["channels"], nodes, config.input_density),
            "excite": WeightedLinks.shape(nodes, nodes, config.density, to_self=False),
            "alert": WeightedLinks.shape(nodes, inhibitory, config.inhibition_density),
            "inhibit": WeightedLinks.shape(inhibitory, nodes, config.inhibition_density),
            "inhibitory_spikes": {"nodes": inhibitory},
        }

    @classmethod
    def describe(cls, config: SornConfig, brain: Memory) -> dict[str, float]:
        """How alive its excitatory units were."""
        return liveness_of(brain.liveness)
