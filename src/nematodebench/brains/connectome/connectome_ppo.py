"""Brain `connectome_ppo`: the wiring of C. elegans as a recurrent network, trained by PPO through time."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.connectome.circuit import (
    Circuit,
    connect,
    draw_weights,
    leaks,
    offsets,
    renew_weights,
    rewire,
    spread_gradients,
)
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.cells import squash
from nematodebench.brains.parts.recurrent import (
    Recurrent,
    RecurrentConfig,
    forget_episode,
    start_recurrent,
    through_time,
)
from nematodebench.brains.synapses import Synapses
from nematodebench.kernels.abi import Feedback
from nematodebench.kernels.jit import F32, F32M, U64, accessor, kernel
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.memory import constant, floats, part, size
from nematodebench.kernels.sparse import add_outer, sparse_product, sum_lanes
from nematodebench.kernels.vectors import LANES, matrix, padded

__all__ = ["ConnectomePpo", "ConnectomePpoConfig"]


class ConnectomePpoConfig(RecurrentConfig):
    """Parameters of `connectome_ppo`."""

    rollout: int = parameter(256, 8, 65536, "steps before the first update", searched(64, 2048, "medium", log=True))
    longest_rollout: int = parameter(1024, 8, 65536, "the longest that a rollout becomes")
    minibatch: int = parameter(32, 1, 65536, "steps of one gradient step at first; they grow with the rollout")
    sequence: int = parameter(
        16, 1, 4096, "steps through which errors are propagated back", searched(8, 128, "medium", log=True)
    )
    epochs: int = parameter(5, 1, 100, "passes over a rollout", searched(1, 20, "medium"))
    shortcut: int = parameter(0, 0, 1024, "units of a layer that leads from the inputs to the readout past the neurons")
    ticks: int = parameter(4, 1, 16, "ticks of the circuit in every step", searched(1, 6, "high"))
    gain: float = parameter(1.0, 0, 100, "strength of a fresh neuron's synapses", searched(0.3, 3, "medium", log=True))


class ConnectomeCell(Circuit):
    """The circuit at every tick of a minibatch; sequences lie in the lanes of vector registers.

    ``states`` has one matrix of nodes and lanes for each tick and one behind the last, ``drives`` one of neurons.
    """

    ticks = size()
    lanes = size()
    room = size()
    drive_room = size()
    grid = size()
    states = floats("room", scratch=True)
    drives = floats("drive_room", scratch=True)
    base = floats("grid", scratch=True)
    follow = floats("grid", scratch=True)
    carried = floats("grid", scratch=True)
    by_drive = floats("grid", scratch=True)
    by_offset = floats("grid", scratch=True)
    by_follow = floats("grid", scratch=True)

    def connections(self, told: NDArray[Any], state: NDArray[Any]) -> Iterator[Synapses]:
        """In every tick from the inputs, by chemical synapses, and by gap junctions, one conductance for both ways."""
        neurons, ticks, receptors = self.neurons, self.ticks, self.receptors
        inputs, signals = np.tile(told, (ticks, 1)), np.tile(state, (ticks, 1))
        chemical, junction, back = (np.bincount(ends, minlength=neurons) for ends in (self.pre, self.left, self.right))
        # Of a neuron's own parameters are its offset and its leak.
        yield Synapses("chemical", neurons, neurons, chemical, 2 * neurons, signals, ticks=ticks)
        yield Synapses("junctions", neurons, neurons, junction, 0, signals, ticks=ticks, counted=False)
        yield Synapses("junctions_back", neurons, neurons, back, -self.gaps, signals, ticks=ticks, counted=False)
        yield Synapses("from_inputs", told.size, receptors, receptors, 0, inputs, ticks=ticks, counted=False)

    def sent(self, state: NDArray[Any]) -> NDArray[Any]:
        """The motor neurons."""
        return state[np.asarray(self.motor)]


class Memory(Recurrent):
    """Of `connectome_ppo`."""

    gain = constant()
    rewired = size()
    cell = part(ConnectomeCell)


@accessor
def _nodes(cell: ConnectomeCell, tick: int, width: int) -> F32M:
    return matrix(cell.states, tick * cell.nodes * width, cell.nodes, width)


@accessor
def _neurons(cell: ConnectomeCell, flat: F32, tick: int, width: int) -> F32M:
    return matrix(flat, tick * cell.neurons * width, cell.neurons, width)


@accessor
def _flat(cell: ConnectomeCell, flat: F32, tick: int, width: int) -> F32:
    return flat[tick * cell.neurons * width : (tick + 1) * cell.neurons * width]


@accessor
def _flat_neurons(cell: ConnectomeCell, tick: int, width: int) -> F32:
    """The states of the neurons, which lie before those of the inputs."""
    first = tick * cell.nodes * width
    return cell.states[first : first + cell.neurons * width]


@kernel()
def _prepare(cell: ConnectomeCell, width: int) -> None:
    """Offsets and shares of all neurons, in every lane."""
    renew_weights(cell)
    offset, leak = offsets(cell, cell.parameters), leaks(cell, cell.parameters)
    for n in range(cell.neurons):
        for s in range(width):
            cell.base[n * width + s] = offset[n]
            cell.follow[n * width + s] = leak[n]
    squash(_flat(cell, cell.follow, 0, width))


@kernel()
def _begin_step(cell: ConnectomeCell, x: F32M, t: int, sequences: int, width: int) -> None:
    """What was carried on is forgotten where an episode begins; the inputs are told, for all ticks of the step."""
    first = t * sequences
    now = _nodes(cell, t * cell.ticks, width)
    for n in range(cell.neurons):
        for s in range(sequences):
            now[n, s] = cell.alive[first + s] * (cell.start[s, n] if t == 0 else now[n, s])
    for tick in range(cell.ticks):
        told = _nodes(cell, t * cell.ticks + tick, width)
        for i in range(cell.inputs):
            for s in range(sequences):
                told[cell.neurons + i, s] = x[first + s, i]


@kernel()
def run(cell: ConnectomeCell, x: F32M, sequences: int) -> None:
    """A few ticks a step of h <- h + f (tanh(matrix (h, inputs) + offset) - h); motor neurons are the outputs."""
    width, steps = (sequences + LANES - 1) // LANES * LANES, x.shape[0] // sequences
    _prepare(cell, width)
    base, follow = _flat(cell, cell.base, 0, width), _flat(cell, cell.follow, 0, width)
    for t in range(steps):
        _begin_step(cell, x, t, sequences, width)
        for tick in range(t * cell.ticks, (t + 1) * cell.ticks):
            drive = _flat(cell, cell.drives, tick, width)
            for n in range(drive.size):
                drive[n] = base[n]
            drives = _neurons(cell, cell.drives, tick, width)
            sparse_product(cell.weights, cell.columns, cell.first, _nodes(cell, tick, width), drives)
            for n in range(drive.size):
                drive[n] = tanh32(drive[n])
            now, after = _flat_neurons(cell, tick, width), _flat_neurons(cell, tick + 1, width)
            for n in range(drive.size):
                after[n] = now[n] + follow[n] * (drive[n] - now[n])
        reached = _nodes(cell, (t + 1) * cell.ticks, width)
        for s in range(sequences):
            for m in range(cell.true_units):
                cell.outputs[t * sequences + s, m] = reached[cell.motor[m], s]
    final = _nodes(cell, steps * cell.ticks, width)
    for s in range(sequences):
        for n in range(cell.neurons):
            cell.end[s, n] = final[n, s]


@kernel()
def run_back(cell: ConnectomeCell, x: F32M, sequences: int) -> None:
    """From the motor neurons back through the ticks, then from the entries of the matrix to the parameters."""
    width, steps = (sequences + LANES - 1) // LANES * LANES, x.shape[0] // sequences
    cell.carried[:] = np.float32(0.0)
    cell.by_offset[:] = np.float32(0.0)
    cell.by_follow[:] = np.float32(0.0)
    cell.sums[:] = np.float32(0.0)
    carried = _neurons(cell, cell.carried, 0, width)
    for back in range(steps):
        t = steps - 1 - back
        for m in range(cell.true_units):
            for s in range(sequences):
                carried[cell.motor[m], s] += cell.deltas[t * sequences + s, m]
        for last in range(cell.ticks):
            tick = (t + 1) * cell.ticks - 1 - last
            _tick_back(cell, tick, width)
            by_drive = _neurons(cell, cell.by_drive, 0, width)
            add_outer(by_drive, _nodes(cell, tick, width), cell.columns, cell.first, cell.sums)
            sparse_product(cell.back_weights, cell.back_columns, cell.back_first, by_drive, carried)
        for n in range(cell.neurons):
            for s in range(sequences):
                carried[n, s] *= cell.alive[t * sequences + s]
    spread_gradients(cell)
    by_offset, by_leak = offsets(cell, cell.gradients), leaks(cell, cell.gradients)
    for n in range(cell.neurons):
        follow = cell.follow[n * width]
        by_offset[n] = sum_lanes(cell.by_offset[n * width : (n + 1) * width])
        by_follow = sum_lanes(cell.by_follow[n * width : (n + 1) * width])
        by_leak[n] = by_follow * follow * (np.float32(1.0) - follow)


@kernel()
def _tick_back(cell: ConnectomeCell, tick: int, width: int) -> None:
    """Gradients by the drives of one tick; ``carried`` is left with what goes on by the leaks."""
    one, drive, now = np.float32(1.0), _flat(cell, cell.drives, tick, width), _flat_neurons(cell, tick, width)
    carried, follow = _flat(cell, cell.carried, 0, width), _flat(cell, cell.follow, 0, width)
    by_drive, by_offset = _flat(cell, cell.by_drive, 0, width), _flat(cell, cell.by_offset, 0, width)
    by_follow = _flat(cell, cell.by_follow, 0, width)
    for n in range(drive.size):
        by_follow[n] += carried[n] * (drive[n] - now[n])
    for n in range(drive.size):
        by_drive[n] = carried[n] * follow[n] * (one - drive[n] * drive[n])
    for n in range(drive.size):
        by_offset[n] += by_drive[n]
        carried[n] *= one - follow[n]


_remember, _learn = through_time(run, run_back)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights, on the worm's wiring or on a random one."""
    start_recurrent(brain, rng)
    if brain.rewired:
        rewire(brain.cell, rng)
    connect(brain.cell)
    draw_weights(brain.cell, brain.gain, rng)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """All neurons are at rest."""
    forget_episode(brain)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Lets the circuit tick and samples an action."""
    _remember(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    _learn(brain, rng, obs, outcome)


class ConnectomePpo(CompiledBrain):
    """The 302 neurons of C. elegans with their real wiring, whose strengths are learned by PPO through time.

    | part | how |
    |---|---|
    | wiring | 3,709 chemical edges and 1,091 gap junctions of the adult hermaphrodite (Cook et al. 2019) |
    | neuron | h <- h + f (tanh(synapses + junctions + inputs + offset) - h), `ticks` times a step; f is learned |
    | synapse | a learned weight; fresh ones have drawn signs and are as strong as their sections in the data |
    | junction | a learned conductance, never negative, times the difference of both neurons |
    | inputs | senses, last action and tanh of the last reward, to all 83 sensory neurons |
    | readout | from the 123 motor neurons one logit for each level of each action head, and the value |
    | learning | as `gru_ppo` |
    """

    name: ClassVar[str] = "connectome_ppo"
    kind: ClassVar[BrainClass] = "classical"
    config = ConnectomePpoConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)
    rewired: ClassVar[bool] = False

    @classmethod
    def sizes(cls, config: ConnectomePpoConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout of sequences, the circuit at every tick of a minibatch, and the readout."""
        sizes = dict(Recurrent.sized(config, body, ConnectomeCell))
        cell = sizes["cell"]
        lanes = padded(cell["sequences"])
        ticks = max(config.ticks * config.sequence, config.ticks)
        more = {
            "ticks": config.ticks, "lanes": lanes, "grid": cell["neurons"] * lanes,
            "room": (ticks + 1) * cell["nodes"] * lanes, "drive_room": ticks * cell["neurons"] * lanes,
        }  # fmt: skip
        return {**sizes, "rewired": cls.rewired, "cell": {**cell, **more}}
