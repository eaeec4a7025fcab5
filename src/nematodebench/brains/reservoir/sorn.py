"""Brain `sorn`: a self-organising recurrent network of binary units under a readout that learns from reward."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface, Layout
from nematodebench.brains.parts import readout as ro
from nematodebench.brains.parts import reservoir as rv
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import uniform

__all__ = ["Sorn", "SornConfig"]

# Words of hyper behind the readout's.
AMPLITUDE, TARGET_RATE, LR_STDP, LR_IP, SMOOTHING = range(ro.READOUT_HYPER, ro.READOUT_HYPER + 5)
# Words of ints: the readout's; four sets of connections (inputs, excitatory, excitatory to inhibitory and back); places
# of the excitatory units' drive, threshold, incoming sum, its change, spike now and before, of the inhibitory ones'
# drive and threshold; lists of units that spiked, with their lengths.
READOUT = rv.OWN
INPUT = READOUT + ro.READOUT_WORDS
EXCITE, ALERT, INHIBIT = INPUT + rv.LINK_WORDS, INPUT + 2 * rv.LINK_WORDS, INPUT + 3 * rv.LINK_WORDS
PLASTIC = INPUT + 4 * rv.LINK_WORDS
INHIBITORY, DRIVE, THRESHOLD, SUM, CHANGE, NOW, BEFORE, I_DRIVE, I_THRESHOLD = range(PLASTIC + 1, PLASTIC + 10)
SPIKED, SPIKES, EARLIER, EARLIER_SPIKES, I_SPIKED, I_SPIKES, FRESH = range(PLASTIC + 10, PLASTIC + 17)
_OWN_WORDS = FRESH + 1 - rv.OWN
_RENEWAL = 256


class SornConfig(ro.ReadoutConfig):
    """Parameters of `sorn`."""

    nodes: int = Field(200, ge=5, le=2000, description="excitatory units; there is one inhibitory unit for every five")
    amplitude: float = Field(1.0, ge=0, le=1000, description="weight of every input connection")
    density: float = Field(0.05, gt=0, le=1, description="share of the excitatory units one of them reaches")
    input_density: float = Field(0.1, gt=0, le=1, description="share of the excitatory units an input reaches")
    inhibition_density: float = Field(0.2, gt=0, le=1, description="share of units reached to and from inhibitory ones")
    target_rate: float = Field(0.1, gt=0, lt=1, description="firing rate that thresholds are moved towards")
    lr_stdp: float = Field(0.001, ge=0, le=1, description="change of a weight by one pair of spikes")
    lr_ip: float = Field(0.001, ge=0, le=1, description="change of a threshold in a tick")
    smoothing: float = Field(0.5, gt=0, le=1, description="share of the readout's view of a unit renewed in a tick")
    plastic: bool = Field(True, description="whether weights and thresholds of the network change")


@kernel()
def _random_weights(ints: I64, at: int, rows: int, weights: F32, sums: F32, rng: U64) -> None:
    """Uniform weights, scaled so that those coming in to a unit add up to 1."""
    stride, targets = ints[at + rv.STRIDE], ints[ints[at + rv.TARGETS] :]
    for k in range(rows * stride):
        weights[k] = np.float32(uniform(rng))
    _normalise(stride * rows, targets, weights, sums)


@kernel()
def _normalise(count: int, targets: I64, weights: F32, sums: F32) -> None:
    """Divides weights by the sum of those with the same target; afterwards every sum is 1."""
    for i in range(sums.size):
        sums[i] = np.float32(0.0)
    for k in range(count):
        sums[targets[k]] += weights[k]
    for k in range(count):
        weights[k] /= max(sums[targets[k]], np.float32(1e-20))
    for i in range(sums.size):
        sums[i] = np.float32(1.0)


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Draws connections, weights and thresholds."""
    nodes, inhibitory = ints[rv.NODES], ints[INHIBITORY]
    rv.draw_links(ints, INPUT, True, rng)
    rv.draw_links(ints, EXCITE, False, rng)
    rv.draw_links(ints, ALERT, True, rng)
    rv.draw_links(ints, INHIBIT, True, rng)
    sums = mem[ints[SUM] :][: nodes + 1]
    _random_weights(ints, ALERT, nodes, mem[ints[ALERT + rv.WEIGHTS] :], mem[ints[SUM] :][: inhibitory + 1], rng)
    _random_weights(ints, INHIBIT, inhibitory, mem[ints[INHIBIT + rv.WEIGHTS] :], sums, rng)
    _random_weights(ints, EXCITE, nodes, mem[ints[EXCITE + rv.WEIGHTS] :], sums, rng)
    for i in range(nodes):
        mem[ints[THRESHOLD] + i] = np.float32(0.5 * uniform(rng))
    for i in range(inhibitory):
        mem[ints[I_THRESHOLD] + i] = np.float32(uniform(rng))


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Activity starts at rest; weights and thresholds stay."""
    for i in range(ints[rv.NODES]):
        mem[ints[READOUT + ro.PHI] + i] = np.float32(0.0)
        mem[ints[NOW] + i] = np.float32(0.0)
    ro.rest(ints, READOUT, mem)
    ints[SPIKES], ints[I_SPIKES], ints[FRESH] = 0, 0, 0


@kernel()
def _receive(hyper: F64, ints: I64, mem: F32) -> None:
    """Drive of the excitatory units: spikes of the last tick, and the inputs."""
    nodes, stride = ints[rv.NODES], ints[INPUT + rv.STRIDE]
    drive, sums = mem[ints[DRIVE] :][: nodes + 1], mem[ints[SUM] :][: nodes + 1]
    for i in range(nodes + 1):
        drive[i] = np.float32(0.0)
    for n in range(ints[SPIKES]):
        rv.push(ints, EXCITE, mem, ints[ints[SPIKED] + n], drive, np.float32(1.0))
    for i in range(nodes):
        drive[i] /= sums[i]
    for n in range(ints[I_SPIKES]):
        rv.push(ints, INHIBIT, mem, ints[ints[I_SPIKED] + n], drive, np.float32(-1.0))
    for c in range(ints[rv.CHANNELS]):
        push = np.float32(hyper[AMPLITUDE]) * mem[ints[rv.RATES] + c]
        targets = ints[ints[INPUT + rv.TARGETS] + c * stride :]
        for k in range(stride):
            drive[np.uint64(targets[k])] += push


@kernel()
def _inhibit(ints: I64, mem: F32) -> None:
    """The inhibitory units hear the excitatory spikes of the last tick; their own count in the next."""
    count = ints[INHIBITORY]
    drive, n = mem[ints[I_DRIVE] :][: count + 1], 0
    for i in range(count + 1):
        drive[i] = np.float32(0.0)
    for s in range(ints[SPIKES]):
        rv.push(ints, ALERT, mem, ints[ints[SPIKED] + s], drive, np.float32(1.0))
    for i in range(count):
        ints[ints[I_SPIKED] + n] = i
        n += 1 if drive[i] >= mem[ints[I_THRESHOLD] + i] else 0
    ints[I_SPIKES] = n


@kernel()
def _fire(hyper: F64, ints: I64, mem: F32) -> None:
    """Excitatory spikes; thresholds move towards the target rate (intrinsic plasticity); the readout's view."""
    nodes, n = ints[rv.NODES], 0
    lr_ip = np.float32(hyper[LR_IP]) if ints[PLASTIC] else np.float32(0.0)
    rate, smoothing = np.float32(hyper[TARGET_RATE]), np.float32(hyper[SMOOTHING])
    drive, threshold = mem[ints[DRIVE] :][:nodes], mem[ints[THRESHOLD] :][:nodes]
    now, before, seen = mem[ints[NOW] :][:nodes], mem[ints[BEFORE] :][:nodes], mem[ints[READOUT + ro.PHI] :][:nodes]
    ints[EARLIER_SPIKES] = ints[SPIKES]
    for k in range(ints[SPIKES]):
        ints[ints[EARLIER] + k] = ints[ints[SPIKED] + k]
    for i in range(nodes):
        before[i] = now[i]
        now[i] = np.float32(1.0) if drive[i] >= threshold[i] else np.float32(0.0)
        threshold[i] += lr_ip * (now[i] - rate)
        seen[i] += smoothing * (now[i] - seen[i])
    for i in range(nodes):
        ints[ints[SPIKED] + n] = i
        n += 1 if now[i] > 0.0 else 0
    ints[SPIKES] = n
    rv.count_active(ints, n)


@kernel()
def _pair(ints: I64, mem: F32, listed: int, count: int, post: F32, change: np.float32) -> None:
    """Changes the weights from listed units to those that spiked, by ``change`` of the incoming sum; none below 0."""
    stride, sums, changes = ints[EXCITE + rv.STRIDE], mem[ints[SUM] :], mem[ints[CHANGE] :]
    for n in range(count):
        row = ints[listed + n] * stride
        targets, weights = ints[ints[EXCITE + rv.TARGETS] + row :], mem[ints[EXCITE + rv.WEIGHTS] + row :]
        for k in range(stride):
            i = np.uint64(targets[k])
            wanted = max(weights[k] + change * sums[i] * post[i], np.float32(0.0))
            changes[i] += wanted - weights[k]
            weights[k] = wanted


@kernel()
def _adapt(hyper: F64, ints: I64, mem: F32) -> None:
    """Spike-timing-dependent plasticity, and the new incoming sums that weights are divided by when they are used."""
    nodes, lr = ints[rv.NODES], np.float32(hyper[LR_STDP])
    now, before = mem[ints[NOW] :], mem[ints[BEFORE] :]
    _pair(ints, mem, ints[EARLIER], ints[EARLIER_SPIKES], now, lr)
    _pair(ints, mem, ints[SPIKED], ints[SPIKES], before, -lr)
    sums, changes = mem[ints[SUM] :][: nodes + 1], mem[ints[CHANGE] :][: nodes + 1]
    for i in range(nodes + 1):
        sums[i] = max(sums[i] + changes[i], np.float32(1e-6))
        changes[i] = np.float32(0.0)
    if ints[rv.TICKS] % _RENEWAL == 0:  # against rounding, and so that sums stay near 1
        weights, targets = mem[ints[EXCITE + rv.WEIGHTS] :], ints[ints[EXCITE + rv.TARGETS] :]
        _normalise(nodes * ints[EXCITE + rv.STRIDE], targets, weights, sums)


@kernel()
def _advance(hyper: F64, ints: I64, mem: F32, obs: F32M) -> None:
    """One tick of the network."""
    rv.encode(hyper, ints, mem, obs)
    _receive(hyper, ints, mem)
    _inhibit(ints, mem)
    _fire(hyper, ints, mem)
    if ints[PLASTIC]:
        _adapt(hyper, ints, mem)
    mem[ints[READOUT + ro.PHI] + ints[rv.NODES]] = np.float32(1.0)


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The network hears the observation (unless it did when it learned), the readout chooses."""
    if ints[FRESH] == 0:
        _advance(hyper, ints, mem, obs)
    ints[FRESH] = 0
    ro.choose(hyper, ints, READOUT, mem, rng, action)


@brain_kernel
def learn(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """The network hears the next observation, the readout learns from the reward."""
    _advance(hyper, ints, mem, obs)
    ints[FRESH] = 1
    ro.learn_from(hyper, ints, READOUT, mem, out)


class Sorn(CompiledBrain):
    """Binary excitatory and inhibitory units whose weights and thresholds organise themselves; a readout learns.

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `_reservoir`), each to a share `input_density` of the units, by `amplitude` |
    | excitatory unit | spikes if excitation - inhibition of the last tick + inputs >= its threshold |
    | inhibitory unit | spikes if the excitatory spikes of the last tick reach its (fixed) threshold |
    | spike timing | weight + lr_stdp if the target spikes a tick after the source, - if a tick before; never below 0 |
    | normalisation | weights that come in to a unit add up to 1, always (they are divided by their sum when used) |
    | intrinsic | threshold + lr_ip (spike - target_rate) |
    | readout | smoothed spikes and a constant to actor and critic with eligibility traces (see `_readout`) |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |

    The network itself never hears of reward; the readout learns from nothing else, and without it the brain would act
    at random. Reaches, with the defaults (20 runs each, +- standard error; null_random in brackets): foraging_small
    composite .892 +- .002 (.050), tracking .975 +- .002 (-.01), pong .738 +- .010 (.265), cartpole .155 +- .013 (.020);
    on forage, whose budget is short, it stays at the null. With a frozen network: foraging_small .830 +- .025, pong
    .629 +- .035 (10 runs), so self-organisation helps, but most of it is the readout's work.
    """

    name: ClassVar[str] = "sorn"
    kind: ClassVar[BrainClass] = "reservoir"
    config = SornConfig
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def layout(cls, config: SornConfig, body: Interface) -> Layout:
        """Network and readout."""
        nodes, inhibitory = config.nodes, config.nodes // 5
        own = [
            *config.constants(), config.amplitude, config.target_rate, config.lr_stdp, config.lr_ip, config.smoothing,
        ]  # fmt: skip
        plan = rv.Plan(body, nodes, own, _OWN_WORDS)
        ro.plan_readout(plan, READOUT, body, nodes + 1, config.levels)
        plan.links(INPUT, plan.ints[rv.CHANNELS], nodes, config.input_density)
        plan.links(EXCITE, nodes, nodes, config.density, weighted=True)
        plan.links(ALERT, nodes, inhibitory, config.inhibition_density, weighted=True)
        plan.links(INHIBIT, inhibitory, nodes, config.inhibition_density, weighted=True)
        plan.ints[PLASTIC], plan.ints[INHIBITORY] = config.plastic, inhibitory
        for word in (DRIVE, THRESHOLD, SUM, CHANGE, NOW, BEFORE):
            plan.ints[word] = plan.floats(nodes + 1)
        for word in (I_DRIVE, I_THRESHOLD):
            plan.ints[word] = plan.floats(inhibitory + 1)
        for word in (SPIKED, EARLIER):
            plan.ints[word] = plan.words(nodes + 1)
        plan.ints[I_SPIKED] = plan.words(inhibitory + 1)
        return Layout(np.array(plan.hyper), np.array(plan.ints, dtype=np.int64), plan.memory)

    @classmethod
    def describe(cls, config: SornConfig, ints: I64, mem: F32) -> dict[str, float]:
        """How alive its excitatory units were."""
        return rv.liveness(ints)
