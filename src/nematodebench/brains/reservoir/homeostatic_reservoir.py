"""Brain `homeostatic_reservoir`: spiking nodes that only try to keep their own activity at a target."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from nematodebench.brains.base import BrainClass, BrainConfig, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, switch
from nematodebench.brains.parts.liveness import Liveness, count_active, liveness_of
from nematodebench.brains.parts.rate_code import RateCode, encode
from nematodebench.brains.parts.spikes import SpikeList, list_spikes, spiked_nodes
from nematodebench.brains.reservoir.rows import COLUMNS, add_rows, correct_rows
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import BrainMemory
from nematodebench.kernels.jit import F32, U64, kernel
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.rng import normal, randint, uniform

__all__ = ["HomeostaticReservoir", "HomeostaticReservoirConfig"]


class HomeostaticReservoirConfig(BrainConfig):
    """Parameters of `homeostatic_reservoir`."""

    nodes: int = parameter(200, 1, 2000, "nodes of the reservoir")
    amplitude: float = parameter(2.0, 0, 1000, "weight of every input connection")
    leak: float = parameter(0.25, 0, 1, "share of the activation lost in a tick")
    lr_w: float = parameter(1.0, 0, 2, "share of a node's error its spiking inputs correct together")
    lr_t: float = parameter(0.01, 0, 1, "share of a node's error its target moves")
    density: float = parameter(0.1, 0, 1, "probability of an input or recurrent connection", gt=0)
    readout_density: float = parameter(0.1, 0, 1, "probability that an output listens to a node", gt=0)
    plastic: bool = switch(True, "whether weights and targets change")
    blind: bool = switch(False, "whether the inputs are cut")


class Memory(BrainMemory):
    """Of `homeostatic_reservoir`. Rows of its matrices are padded to ``room`` numbers, whole steps of the row sums.

    ``inputs`` and ``readout`` are 0 where there is no connection, ``recurrent`` is NaN there. ``heard`` is the number
    of spikes that reached a node, ``listened`` the number of nodes that an output listens to.
    """

    amplitude = constant()
    leak = constant()
    lr_w = constant()
    lr_t = constant()
    density = constant()
    readout_density = constant()
    nodes = size()
    room = size()
    channels = size()
    outputs = size()
    choices = size()
    effectors = size()
    plastic = size()
    blind = size()
    code = part(RateCode)
    liveness = part(Liveness)
    inputs = floats("channels", "room")
    recurrent = floats("nodes", "room")
    readout = floats("outputs", "room")
    listened = floats("outputs")
    activation = floats("nodes")
    target = floats("nodes")
    drive = floats("room", scratch=True)
    heard = floats("room", scratch=True)
    correction = floats("room", scratch=True)
    spike = floats("nodes", scratch=True)
    shares = floats("outputs", scratch=True)
    spikes = part(SpikeList)

    def learned(self) -> Iterator[tuple[str, Any]]:
        """Everything that is kept, without the padding of the matrices."""
        for name, value in super().learned():
            yield name, value[:, : self.nodes] if name in {"inputs", "recurrent", "readout"} else value

    def synapses(self) -> Iterator[Synapses]:
        """From channels to nodes, among nodes by spikes, and from spikes to the outputs that listen."""
        nodes, spikes = self.nodes, np.asarray(self.spike)
        inputs, readout = np.asarray(self.inputs)[:, :nodes], np.asarray(self.readout)[:, :nodes]
        recurrent = ~np.isnan(np.asarray(self.recurrent)[:, :nodes])
        rates = np.asarray(self.code.rates)
        yield Synapses("inputs", self.channels, nodes, np.count_nonzero(inputs, axis=1), nodes, rates, counted=False)
        yield Synapses("recurrent", nodes, nodes, recurrent.sum(axis=1), 0, spikes, spiking=True)
        yield Synapses(
            "readout", nodes, self.outputs, np.count_nonzero(readout, axis=0), 0, spikes, True, counted=False
        )


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
def _draw_recurrent(brain: Memory, rng: U64) -> None:
    """Standard normal weights, no node reaches itself; NaN where there is no connection."""
    for j in range(brain.nodes):
        for i in range(brain.room):
            connected = i < brain.nodes and i != j and uniform(rng) < brain.density
            brain.recurrent[j, i] = np.float32(normal(rng)) if connected else np.float32(np.nan)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws the connections and recurrent weights; all targets at their minimum."""
    for c in range(brain.channels):
        _draw_row(brain.inputs[c, : brain.nodes], brain.density, np.float32(brain.amplitude), rng)
    _draw_recurrent(brain, rng)
    for n in range(brain.outputs):
        listened = _draw_row(brain.readout[n, : brain.nodes], brain.readout_density, np.float32(1.0), rng)
        brain.listened[n] = np.float32(listened)
    for i in range(brain.nodes):
        brain.target[i] = np.float32(1.0)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """Activity starts at rest; weights and targets stay."""
    for i in range(brain.nodes):
        brain.activation[i] = np.float32(0.0)
    brain.spikes.count = 0


@kernel()
def _receive_inputs(brain: Memory) -> None:
    """Adds rate x weight of every channel to the drive of the nodes."""
    drive = brain.drive
    for c in range(brain.channels):
        rate, row = brain.code.rates[c], brain.inputs[c]
        if rate > 0.0:
            for i in range(brain.room):
                drive[i] += rate * row[i]


@kernel()
def _receive_spikes(brain: Memory) -> None:
    """Adds the weights of last tick's spikes to the drive of the nodes they reach, and counts them there."""
    spiked = spiked_nodes(brain.spikes)
    for first in range(0, brain.room, COLUMNS):
        add_rows(brain.recurrent, spiked, first, brain.drive, brain.heard)


@kernel()
def _correct_weights(brain: Memory) -> None:
    """Every weight that carried a spike takes its share of the error it went to."""
    spiked = spiked_nodes(brain.spikes)
    for first in range(0, brain.room, COLUMNS):
        correct_rows(brain.recurrent, spiked, first, brain.correction)


@kernel()
def _spike(brain: Memory) -> None:
    """Activations, spikes and errors; targets move if the brain is plastic. The drive is used up."""
    keep, lr_w = np.float32(1.0 - brain.leak), np.float32(brain.lr_w)
    lr_t = np.float32(brain.lr_t) if brain.plastic else np.float32(0.0)
    a, t, drive, heard = brain.activation, brain.target, brain.drive, brain.heard
    correction, spike = brain.correction, brain.spike
    for i in range(brain.nodes):
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
def _read_out(brain: Memory) -> None:
    """Share of the nodes an output listens to that spike."""
    spike = brain.spike
    for output in range(brain.outputs):
        row = brain.readout[output]
        spiking = 0  # an integer, whose additions may take any order
        for i in range(brain.nodes):
            spiking += 1 if row[i] * spike[i] > 0.0 else 0
        brain.shares[output] = np.float32(spiking) / brain.listened[output]


@kernel()
def _act_on_shares(brain: Memory, rng: U64, action: F32) -> None:
    """Effectors are the shares; of discrete actions the one with the largest share is taken, ties by lot."""
    for n in range(brain.effectors):
        action[n] = brain.shares[n]
    best, ties = np.float32(-1.0), 0
    for n in range(brain.choices):
        share = brain.shares[n]
        ties = 1 if share > best else ties + 1 if share == best else ties
        if share > best or (share == best and randint(rng, ties) == 0):
            best = share
            action[0] = np.float32(n)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """One tick of the reservoir, plasticity included."""
    if not brain.blind:
        encode(brain.code, obs)
        _receive_inputs(brain)
    _receive_spikes(brain)
    _spike(brain)
    if brain.plastic:
        _correct_weights(brain)
    list_spikes(brain.spikes, brain.spike)
    count_active(brain.liveness, brain.spikes.count)
    _read_out(brain)
    _act_on_shares(brain, rng, action)


class HomeostaticReservoir(CompiledBrain):
    """Leaky integrate-and-fire nodes that keep themselves at a target; the body they move is never told what it is for.

    It learns without reward, in every tick. Each tick, for every node (a activation, T target, both its own):

    | part | how |
    |---|---|
    | inputs | rate-coded channels (see `parts.rate_code`), weight `amplitude` |
    | activation | a <- (1 - leak) a + inputs + weights of the nodes that spiked last tick |
    | spike | if a >= 2 T, and then a <- a - 2 T |
    | error | e = a - T, after the spike |
    | weights | from every node that spiked last tick: w <- w - lr_w e / (number of them that reach this node) |
    | target | T <- max(T + lr_t e, 1) |
    | effectors | the share that spikes of the nodes it listens to |
    | discrete actions | the one with the largest share, ties by lot |
    | connections | each channel to each node, each node to each other: with probability `density`, one by one |
    | listening | each effector to each node: with probability `readout_density`, one by one |
    | beginning of a run | weights standard normal, T = 1; a channel or effector that drew no node gets one by lot |
    | beginning of an episode | activity begins at 0; weights and targets stay |
    """

    name: ClassVar[str] = "homeostatic_reservoir"
    kind: ClassVar[BrainClass] = "reservoir"
    config = HomeostaticReservoirConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)

    @classmethod
    def sizes(cls, config: HomeostaticReservoirConfig, body: Interface) -> Mapping[str, Any]:
        """Three matrices of connections and the numbers of every node."""
        code, room = RateCode.shape(body), -(-config.nodes // COLUMNS) * COLUMNS
        return {"code": code, "channels": code["channels"], "room": room, "outputs": body.choices or body.effectors}

    @classmethod
    def describe(cls, config: HomeostaticReservoirConfig, brain: Memory) -> dict[str, float]:
        """How alive it was."""
        return liveness_of(brain.liveness)
