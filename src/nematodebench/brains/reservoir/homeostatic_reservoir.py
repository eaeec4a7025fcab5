"""Brain `homeostatic_reservoir`: spiking nodes that only try to keep their own activity at a target."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface, Layout
from nematodebench.brains.parts import reservoir as rv
from nematodebench.brains.reservoir.rows import COLUMNS, add_rows, correct_rows
from nematodebench.kernels.abi import brain_kernel
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import normal, randint, uniform

__all__ = ["HomeostaticReservoir", "HomeostaticReservoirConfig"]

# Words of hyper.
AMPLITUDE, LEAK, LR_W, LR_T, DENSITY, READOUT_DENSITY = range(6)
# Words of ints: floats a row of nodes occupies; two switches; places of three matrices with such rows, of the nodes'
# activation, target, drive, number of spikes it came from, correction and spike, of the number of nodes an output
# listens to and the share of them that spikes; the nodes that spiked last, and how many.
ROOM, PLASTIC, BLIND, INPUT, RECURRENT, READOUT = range(rv.OWN, rv.OWN + 6)
ACTIVATION, TARGET, DRIVE, HEARD, CORRECTION, SPIKE, LISTENED, SHARES, SPIKED, SPIKES = range(rv.OWN + 6, rv.OWN + 16)
_OWN_WORDS = SPIKES + 1 - rv.OWN


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


@kernel()
def _draw_row(row: F32, density: float, present: np.float32, rng: U64) -> int:
    """Connects every node with probability ``density``, or one by lot if that left none; returns how many."""
    drawn = 0
    for i in range(row.size):
        chosen = uniform(rng) < density
        row[i] = present if chosen else np.float32(0.0)
        drawn += 1 if chosen else 0
    if drawn == 0:
        row[randint(rng, row.size)] = present
    return max(drawn, 1)


@kernel()
def _draw_recurrent(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Standard normal weights, no node reaches itself; NaN where there is no connection."""
    nodes, room = ints[rv.NODES], ints[ROOM]
    for j in range(nodes):
        row = mem[ints[RECURRENT] + j * room :][:room]
        for i in range(room):
            connected = i < nodes and i != j and uniform(rng) < hyper[DENSITY]
            row[i] = np.float32(normal(rng)) if connected else np.float32(np.nan)


@brain_kernel
def init(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Draws the connections and recurrent weights; all targets at their minimum."""
    nodes, room = ints[rv.NODES], ints[ROOM]
    for c in range(ints[rv.CHANNELS]):
        _draw_row(mem[ints[INPUT] + c * room :][:nodes], hyper[DENSITY], np.float32(hyper[AMPLITUDE]), rng)
    _draw_recurrent(hyper, ints, mem, rng)
    for n in range(ints[rv.EFFECTORS] + ints[rv.CHOICES]):
        listened = _draw_row(mem[ints[READOUT] + n * room :][:nodes], hyper[READOUT_DENSITY], np.float32(1.0), rng)
        mem[ints[LISTENED] + n] = np.float32(listened)
    for i in range(nodes):
        mem[ints[TARGET] + i] = np.float32(1.0)


@brain_kernel
def begin_episode(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """Activity starts at rest; weights and targets stay."""
    for i in range(ints[rv.NODES]):
        mem[ints[ACTIVATION] + i] = np.float32(0.0)
    ints[SPIKES] = 0


@kernel()
def _receive_inputs(ints: I64, mem: F32) -> None:
    """Adds rate x weight of every channel to the drive of the nodes."""
    room = ints[ROOM]
    drive = mem[ints[DRIVE] :][:room]
    for c in range(ints[rv.CHANNELS]):
        rate = mem[ints[rv.RATES] + c]
        if rate > 0.0:
            row = mem[ints[INPUT] + c * room :][:room]
            for i in range(room):
                drive[i] += rate * row[i]


@kernel()
def _receive_spikes(ints: I64, mem: F32) -> None:
    """Adds the weights of last tick's spikes to the drive of the nodes they reach, and counts them there."""
    for i in range(0, ints[ROOM], COLUMNS):
        add_rows(
            mem, ints[ints[SPIKED] :], ints[SPIKES], ints[RECURRENT] + i, ints[ROOM], ints[DRIVE] + i, ints[HEARD] + i
        )


@kernel()
def _correct_weights(ints: I64, mem: F32) -> None:
    """Every weight that carried a spike takes its share of the error it went to."""
    for i in range(0, ints[ROOM], COLUMNS):
        correct_rows(mem, ints[ints[SPIKED] :], ints[SPIKES], ints[RECURRENT] + i, ints[ROOM], ints[CORRECTION] + i)


@kernel()
def _spike(hyper: F64, ints: I64, mem: F32) -> None:
    """Activations, spikes and errors; targets move if the brain is plastic. The drive is used up."""
    nodes = ints[rv.NODES]
    keep, lr_w = np.float32(1.0 - hyper[LEAK]), np.float32(hyper[LR_W])
    lr_t = np.float32(hyper[LR_T]) if ints[PLASTIC] else np.float32(0.0)
    a, t = mem[ints[ACTIVATION] :][:nodes], mem[ints[TARGET] :][:nodes]
    drive, heard = mem[ints[DRIVE] :][:nodes], mem[ints[HEARD] :][:nodes]
    correction, spike = mem[ints[CORRECTION] :][:nodes], mem[ints[SPIKE] :][:nodes]
    for i in range(nodes):
        level, threshold = keep * a[i] + drive[i], t[i] + t[i]
        fires = level >= threshold
        level = level - threshold if fires else level
        error = level - t[i]
        spike[i] = np.float32(1.0) if fires else np.float32(0.0)
        a[i] = level
        correction[i] = lr_w * error / max(heard[i], np.float32(1.0))
        t[i] = max(t[i] + lr_t * error, np.float32(1.0))
        drive[i] = np.float32(0.0)


@kernel()
def _list_spikes(ints: I64, mem: F32) -> None:
    """The nodes that spiked, for the next tick and the counters."""
    nodes = ints[rv.NODES]
    spike, spiked, n = mem[ints[SPIKE] :], ints[ints[SPIKED] :], 0
    for i in range(nodes):
        spiked[n] = i
        n += 1 if spike[i] > 0.0 else 0
    ints[SPIKES] = n
    rv.count_active(ints, n)


@kernel()
def _read_out(ints: I64, mem: F32) -> None:
    """Share of the nodes an output listens to that spike."""
    nodes = ints[rv.NODES]
    spike = mem[ints[SPIKE] :][:nodes]
    for output in range(ints[rv.EFFECTORS] + ints[rv.CHOICES]):
        row = mem[ints[READOUT] + output * ints[ROOM] :][:nodes]
        spiking = 0  # an integer, whose additions may take any order
        for i in range(nodes):
            spiking += 1 if row[i] * spike[i] > 0.0 else 0
        mem[ints[SHARES] + output] = np.float32(spiking) / mem[ints[LISTENED] + output]


@brain_kernel
def act(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    """One tick of the reservoir, plasticity included."""
    if ints[BLIND] == 0:
        rv.encode(hyper, ints, mem, obs)
        _receive_inputs(ints, mem)
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
    | inputs | rate-coded channels (see `_reservoir`), weight `amplitude` |
    | activation | a <- (1 - leak) a + inputs + weights of the nodes that spiked last tick |
    | spike | if a >= 2 T, and then a <- a - 2 T |
    | error | e = a - T, after the spike |
    | weights | from every node that spiked last tick: w <- w - lr_w e / (number of them that reach this node) |
    | target | T <- max(T + lr_t e, 1) |
    | effectors | the share that spikes of the nodes it listens to |
    | discrete actions | the one with the largest share, ties by lot |
    | connections | each channel to each node, each node to each other: with probability `density`, one by one |
    | listening | each effector to each node: with probability `readout_density`, one by one |
    | birth | weights standard normal, T = 1; a channel or effector that drew no node gets one by lot |
    | episode | activity begins at 0; weights and targets stay |

    Settings for a task, the others as the defaults (they are in configs/): wall amplitude 4; tracking amplitude 0.75
    (the default is better); pong nodes 500, amplitude 2.75, lr_t 0.1. What plasticity and sight add there (raw score,
    50 runs each, +- standard error; blind means silent, so an unmoving body):

    | | tracking | pong | wall, gated (ungated) |
    |---|---|---|---|
    | null_random | .003 +- .002 | .262 +- .003 | .761 +- .002 (.761) |
    | plastic, seeing | .268 +- .007 | .744 +- .019 | .449 +- .019 (.984) |
    | frozen, seeing | .088 +- .019 | .239 +- .008 | .784 +- .020 (.854) |
    | blind, plastic or frozen | .000 | .209 +- .002 | .000 (1.000) |
    | plastic, seeing, default settings | .533 +- .022 | .468 +- .012 | .412 +- .018 (.986) |

    So it learns to track and to keep the ball in play, far above the null; frozen it tracks a little and plays no pong.
    On wall it learns to circle: hardly a collision, but the gate asks it to get about, and so it stays below the null.

    On foraging_small it stays at the null's composite: .045 +- .006 against .050 (20 runs).
    """

    name: ClassVar[str] = "homeostatic_reservoir"
    kind: ClassVar[BrainClass] = "reservoir"
    config = HomeostaticReservoirConfig
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def layout(cls, config: HomeostaticReservoirConfig, body: Interface) -> Layout:
        """Three matrices of connections and six numbers a node."""
        nodes, room, outputs = config.nodes, -(-config.nodes // COLUMNS) * COLUMNS, body.choices or body.effectors
        own = [config.amplitude, config.leak, config.lr_w, config.lr_t, config.density, config.readout_density]
        plan = rv.Plan(body, nodes, own, _OWN_WORDS)
        plan.ints[ROOM], plan.ints[PLASTIC], plan.ints[BLIND] = room, config.plastic, config.blind
        plan.ints[INPUT] = plan.floats(plan.ints[rv.CHANNELS] * room)
        plan.ints[RECURRENT] = plan.floats(nodes * room)
        plan.ints[READOUT] = plan.floats(outputs * room)
        for word in (ACTIVATION, TARGET, DRIVE, HEARD, CORRECTION, SPIKE):
            plan.ints[word] = plan.floats(room)
        plan.ints[LISTENED], plan.ints[SHARES] = plan.floats(outputs), plan.floats(outputs)
        plan.ints[SPIKED] = plan.words(nodes + 1)
        return Layout(np.array(plan.hyper), np.array(plan.ints, dtype=np.int64), plan.memory)

    @classmethod
    def describe(cls, config: HomeostaticReservoirConfig, ints: I64, mem: F32) -> dict[str, float]:
        """How alive it was."""
        return rv.liveness(ints)
