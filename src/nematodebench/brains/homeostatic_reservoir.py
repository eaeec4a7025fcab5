"""Brain `homeostatic_reservoir`: spiking nodes that only try to keep their own activity at a target."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains import _reservoir as rv
from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.kernels.abi import F32, F32M, F64, I64, U64, brain_kernel, kernel
from nematodebench.kernels.rng import normal

__all__ = ["HomeostaticReservoir", "HomeostaticReservoirConfig"]

# Words of hyper.
AMPLITUDE, LEAK, LR_W, LR_T = 0, 1, 2, 3
# Words of ints: three sets of connections; places of the nodes' activation, target, drive (in pairs with the number of
# spikes it came from), correction and spike, of the outputs' shares; the nodes that spiked last, and how many.
INPUT, RECURRENT, READOUT = rv.OWN, rv.OWN + rv.LINK_WORDS, rv.OWN + 2 * rv.LINK_WORDS
PLASTIC = rv.OWN + 3 * rv.LINK_WORDS
BLIND, ACTIVATION, TARGET, DRIVE, CORRECTION, SPIKE, SHARES, SPIKED, SPIKES = range(PLASTIC + 1, PLASTIC + 10)
_OWN_WORDS = SPIKES + 1 - rv.OWN
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class HomeostaticReservoirConfig(BrainConfig):
    """Parameters of `homeostatic_reservoir`."""

    nodes: int = Field(200, ge=1, le=2000, description="nodes of the reservoir")
    amplitude: float = Field(2.0, ge=0, le=1000, description="weight of every input connection")
    leak: float = Field(0.25, ge=0, le=1, description="share of the activation lost in a tick")
    lr_w: float = Field(1.0, ge=0, le=2, description="share of a node's error its spiking inputs correct together")
    lr_t: float = Field(0.01, ge=0, le=1, description="share of a node's error its target moves")
    density: float = Field(0.1, gt=0, le=1, description="probability of an input or recurrent connection")
    readout_density: float = Field(0.1, gt=0, le=1, description="probability that an output listens to a node")
    plastic: bool = Field(True, description="whether weights and targets change")
    blind: bool = Field(False, description="whether the inputs are cut")


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Draws the connections and recurrent weights (standard normal); all targets at their minimum."""
    rv.draw_links(ints, INPUT, True, rng)
    rv.draw_links(ints, RECURRENT, False, rng)
    rv.draw_links(ints, READOUT, True, rng)
    for k in range(ints[rv.NODES] * ints[RECURRENT + rv.STRIDE]):
        mem[ints[RECURRENT + rv.WEIGHTS] + k] = np.float32(normal(rng))
    for i in range(ints[rv.NODES]):
        mem[ints[TARGET] + i] = np.float32(1.0)


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Activity starts at rest; weights and targets stay."""
    for i in range(ints[rv.NODES]):
        mem[ints[ACTIVATION] + i] = np.float32(0.0)
    ints[SPIKES] = 0


@kernel()
def _receive_inputs(hyper: F64, ints: I64, mem: F32) -> None:
    """Adds amplitude x rate of every channel to the drive of the nodes it reaches."""
    stride, drive = ints[INPUT + rv.STRIDE], mem[ints[DRIVE] :]
    for c in range(ints[rv.CHANNELS]):
        rate = mem[ints[rv.RATES] + c]
        if rate > 0.0:
            push = np.float32(hyper[AMPLITUDE]) * rate
            targets = ints[ints[INPUT + rv.TARGETS] + c * stride :][:stride]
            for k in range(stride):
                rv.receive(drive, targets[k], push, np.float32(0.0))


# The two loops over spikes are where the time goes. Unsigned indices spare the check for negative ones; reading four
# targets before anything is written lets the processor work on all four at once.
@kernel()
def _receive_spikes(ints: I64, mem: F32) -> None:
    """Adds the weights of last tick's spikes to the drive of their targets, and counts them there."""
    targets, weights = ints[ints[RECURRENT + rv.TARGETS] :], mem[ints[RECURRENT + rv.WEIGHTS] :]
    drive, spiked, stride = mem[ints[DRIVE] :], ints[ints[SPIKED] :], ints[RECURRENT + rv.STRIDE]
    one = np.float32(1.0)
    for n in range(ints[SPIKES]):
        k = np.uint64(spiked[n] * stride)
        end = k + np.uint64(stride)
        while k < end:
            rv.receive(drive, targets[k], weights[k], one)
            rv.receive(drive, targets[k + _1], weights[k + _1], one)
            rv.receive(drive, targets[k + _2], weights[k + _2], one)
            rv.receive(drive, targets[k + _3], weights[k + _3], one)
            k += _4


@kernel()
def _correct_weights(ints: I64, mem: F32) -> None:
    """Every weight that carried a spike takes its share of the error it went to."""
    targets, weights = ints[ints[RECURRENT + rv.TARGETS] :], mem[ints[RECURRENT + rv.WEIGHTS] :]
    correction, spiked = mem[ints[CORRECTION] :], ints[ints[SPIKED] :]
    stride = ints[RECURRENT + rv.STRIDE]
    for n in range(ints[SPIKES]):
        k = np.uint64(spiked[n] * stride)
        end = k + np.uint64(stride)
        while k < end:
            a, b = correction[np.uint64(targets[k])], correction[np.uint64(targets[k + _1])]
            c, d = correction[np.uint64(targets[k + _2])], correction[np.uint64(targets[k + _3])]
            weights[k] -= a
            weights[k + _1] -= b
            weights[k + _2] -= c
            weights[k + _3] -= d
            k += _4


@kernel()
def _spike(hyper: F64, ints: I64, mem: F32) -> None:
    """Activations, spikes and errors; targets move if the brain is plastic. The drive is used up."""
    nodes = ints[rv.NODES]
    keep, lr_w = np.float32(1.0 - hyper[LEAK]), np.float32(hyper[LR_W])
    lr_t = np.float32(hyper[LR_T]) if ints[PLASTIC] else np.float32(0.0)
    a, t = mem[ints[ACTIVATION] :][:nodes], mem[ints[TARGET] :][:nodes]
    drive = mem[ints[DRIVE] :][: 2 * nodes]
    correction, spike = mem[ints[CORRECTION] :][:nodes], mem[ints[SPIKE] :][:nodes]
    for i in range(nodes):
        level, threshold = keep * a[i] + drive[np.uint64(i) << _1], t[i] + t[i]
        fires = level >= threshold
        level = level - threshold if fires else level
        error = level - t[i]
        spike[i] = np.float32(1.0) if fires else np.float32(0.0)
        a[i] = level
        correction[i] = lr_w * error / max(drive[(np.uint64(i) << _1) | _1], np.float32(1.0))
        t[i] = max(t[i] + lr_t * error, np.float32(1.0))
    for k in range(2 * nodes):
        drive[k] = np.float32(0.0)


@kernel()
def _list_spikes(ints: I64, mem: F32) -> None:
    """The nodes that spiked, for the next tick and the counters."""
    spike, spiked, n = mem[ints[SPIKE] :], ints[ints[SPIKED] :], 0
    for i in range(ints[rv.NODES]):
        spiked[n] = i
        n += 1 if spike[i] > 0.0 else 0
    ints[SPIKES] = n
    rv.count_active(ints, n)


@kernel()
def _read_out(ints: I64, mem: F32) -> None:
    """Share of the nodes an output listens to that spike."""
    spike, degree, stride = mem[ints[SPIKE] :], ints[READOUT + rv.DEGREE], ints[READOUT + rv.STRIDE]
    for output in range(ints[rv.EFFECTORS] + ints[rv.CHOICES]):
        listened = ints[ints[READOUT + rv.TARGETS] + output * stride :]
        total = np.float32(0.0)
        for k in range(degree):
            total += spike[np.uint64(listened[k])]
        mem[ints[SHARES] + output] = total / np.float32(degree)


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """One tick of the reservoir, plasticity included."""
    if ints[BLIND] == 0:
        rv.encode(hyper, ints, mem, obs)
        _receive_inputs(hyper, ints, mem)
    _receive_spikes(ints, mem)
    _spike(hyper, ints, mem)
    if ints[PLASTIC]:
        _correct_weights(ints, mem)
    _list_spikes(ints, mem)
    _read_out(ints, mem)
    rv.act_on_shares(ints, mem, ints[SHARES], rng, action)


class HomeostaticReservoir(CompiledBrain):
    """Leaky integrate-and-fire nodes that keep themselves at a target; the body they move is never told what it is for.

    Learns without reward, all its life. Each tick, for every node (a activation, T target, both its own):

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `_reservoir`), each to a share `density` of the nodes, weight `amplitude` |
    | activation | a <- (1 - leak) a + inputs + weights of the nodes that spiked last tick |
    | spike | if a >= 2 T, and then a <- a - 2 T |
    | error | e = a - T, after the spike |
    | weights | from every node that spiked last tick: w <- w - lr_w e / (number of them that reach this node) |
    | target | T <- max(T + lr_t e, 1) |
    | effectors | the share that spikes of the nodes it listens to (a share `readout_density` of all) |
    | discrete actions | the one with the largest share, ties by lot |
    | birth | weights standard normal, no node reaches itself, T = 1; activity begins at 0 in every episode |

    Settings that suit a task, the others as the defaults: wall amplitude 4; tracking amplitude 0.75 (the default is
    better); pong nodes 500, amplitude 2.75, lr_t 0.1. What plasticity and sight add there (raw score, 20 runs each,
    +- standard error; blind means silent, so an unmoving body):

    | | tracking | pong | wall, gated (ungated) |
    |---|---|---|---|
    | null_random | -.01 +- .01 | .265 +- .004 | .758 +- .002 (.758) |
    | plastic, seeing | .357 +- .012 | .768 +- .030 | .446 +- .033 (.981): it circles |
    | frozen, seeing | .102 +- .024 | .229 +- .010 | .747 +- .035 (.830) |
    | blind, plastic or frozen | .000 | .206 +- .003 | .000 (1.000) |
    | plastic, seeing, default settings | .620 +- .028 | .472 +- .014 | .388 +- .030 (.991) |

    On foraging_small it stays at the null's composite: .049 +- .005 against .050.
    """

    name: ClassVar[str] = "homeostatic_reservoir"
    kind: ClassVar[BrainClass] = "reservoir"
    config = HomeostaticReservoirConfig
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: HomeostaticReservoirConfig, body: Interface) -> Layout:
        """Three sets of connections and seven numbers a node."""
        nodes, outputs = config.nodes, body.choices or body.effectors
        own = [config.amplitude, config.leak, config.lr_w, config.lr_t]
        plan = rv.Plan(body, nodes, own, _OWN_WORDS)
        plan.links(INPUT, plan.ints[rv.CHANNELS], nodes, config.density)
        plan.links(RECURRENT, nodes, nodes, config.density, weighted=True)
        plan.links(READOUT, outputs, nodes, config.readout_density)
        plan.ints[PLASTIC], plan.ints[BLIND] = config.plastic, config.blind
        for word in (ACTIVATION, TARGET, CORRECTION, SPIKE):
            plan.ints[word] = plan.floats(nodes + 1)
        plan.ints[DRIVE] = plan.floats(2 * (nodes + 1))
        plan.ints[SHARES] = plan.floats(outputs)
        plan.ints[SPIKED] = plan.words(nodes + 1)
        return Layout(np.array(plan.hyper), np.array(plan.ints, dtype=np.int64), plan.memory)

    @classmethod
    def describe(cls, config: HomeostaticReservoirConfig, ints: I64, mem: F32) -> dict[str, float]:
        """How alive it was."""
        return rv.liveness(ints)
