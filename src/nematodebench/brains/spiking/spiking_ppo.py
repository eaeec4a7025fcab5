"""Brain `spiking_ppo`: proximal policy optimisation of adaptive leaky integrate-and-fire neurons."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.cells import Cell, add_up, forget_before, hold_before
from nematodebench.brains.parts.liveness import Liveness, count_active, liveness_of
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
from nematodebench.kernels.math import exp64
from nematodebench.kernels.memory import constant, floats, part
from nematodebench.kernels.rng import normal, uniform
from nematodebench.kernels.vectors import add_linear, linear, matrix, padded, product, product_transposed, transpose

__all__ = ["SpikingPpo", "SpikingPpoConfig"]

_PARTS = 4
"""Of a neuron's state: potential, adaptation, spike, trace of spikes, one behind the other for all neurons."""
_THRESHOLD = np.float32(1.0)


class SpikingPpoConfig(RecurrentConfig):
    """Parameters of `spiking_ppo`."""

    sequence: int = parameter(
        32, 1, 4096, "steps through which errors are propagated back", searched(8, 128, "medium", log=True)
    )
    units: int = parameter(128, 1, 1024, "neurons", searched(16, 256, "medium", log=True))
    decay: float = parameter(0.5, 0, 1, "share of a potential that is left after a step", searched(0.2, 0.95, "high"))
    span: float = parameter(
        64.0, 1, None, "thresholds recover within 1 to this many steps", searched(4, 256, "medium", log=True)
    )
    adaptation: float = parameter(
        0.2, 0, 100, "how far a neuron's threshold rises by its spikes", searched(0.1, 5, "medium", log=True, off=0.0)
    )
    smoothing: float = parameter(
        0.2, 0, 1, "share of a trace of spikes that is left after a step", searched(0, 0.9, "medium", off=0.0), lt=1
    )
    sharpness: float = parameter(
        10.0, 0, 100, "how quickly the gradient by a spike falls with the distance from the threshold",
        searched(1, 25, "medium", log=True),
    )  # fmt: skip
    gain: float = parameter(1.0, 0, 100, "strength of fresh weights", searched(0.5, 4, "medium", log=True))


class SpikingCell(Cell):
    """States before and after every step, the drive, and the gradient by it; ``recovery`` is fixed for every neuron."""

    decay = constant()
    adaptation = constant()
    smoothing = constant()
    sharpness = constant()
    recovery = floats("units")
    before = floats("rows", "state", scratch=True)
    after = floats("rows", "state", scratch=True)
    heard = floats("rows", "units", scratch=True)
    drive = floats("rows", "units", scratch=True)
    by_drive = floats("rows", "units", scratch=True)
    carried = floats("sequences", "state", scratch=True)
    by_spike = floats("sequences", "units", scratch=True)
    transposed = floats("units", "units", scratch=True)

    @classmethod
    def shape(cls, inputs: int, config: SpikingPpoConfig) -> Mapping[str, Any]:
        """Weights from inputs, from neurons, and a bias."""
        units = padded(config.units)
        count = padded((inputs + units + 1) * units)
        return {"units": units, "state": _PARTS * units, "count": count, "true_units": config.units}

    def connections(self, told: NDArray[Any], state: NDArray[Any]) -> Iterator[Synapses]:
        """From the inputs, and among the neurons by spikes."""
        units, (_, _, spikes, _) = self.true_units, state.reshape(_PARTS, self.units)
        yield Synapses("from_inputs", told.size, units, units, units, told, counted=False)
        yield Synapses("from_units", units, units, units, 0, spikes[:units], spiking=True)

    def sent(self, state: NDArray[Any]) -> NDArray[Any]:
        """The traces of spikes."""
        _, _, _, traces = state.reshape(_PARTS, self.units)
        return traces[: self.true_units]


@accessor
def _from_inputs(cell: SpikingCell, flat: F32) -> F32M:
    return matrix(flat, 0, cell.inputs, cell.units)


@accessor
def _from_units(cell: SpikingCell, flat: F32) -> F32M:
    return matrix(flat, cell.inputs * cell.units, cell.units, cell.units)


@accessor
def _bias(cell: SpikingCell, flat: F32) -> F32M:
    return matrix(flat, (cell.inputs + cell.units) * cell.units, 1, cell.units)


class Memory(Recurrent):
    """Of `spiking_ppo`."""

    span = constant()
    gain = constant()
    cell = part(SpikingCell)
    liveness = part(Liveness)


@kernel()
def _draw_cell(cell: SpikingCell, gain: float, span: float, rng: U64) -> None:
    """Normal weights; thresholds recover with a time constant that is spread evenly from 1 to ``span`` steps."""
    inputs, units = _from_inputs(cell, cell.parameters), _from_units(cell, cell.parameters)
    for o in range(cell.true_units):
        for i in range(cell.inputs):
            inputs[i, o] = np.float32(gain * normal(rng) / np.sqrt(np.float64(cell.inputs)))
        for u in range(cell.true_units):
            units[u, o] = np.float32(gain * normal(rng) / np.sqrt(np.float64(cell.true_units)))
        cell.recovery[o] = np.float32(exp64(-1.0 / (1.0 + (span - 1.0) * uniform(rng))))


@kernel()
def _fire(cell: SpikingCell, row: int) -> None:
    """One step of all neurons of a sequence."""
    units, drive, recovery = cell.units, cell.drive[row], cell.recovery
    decay, adaptation, smoothing = np.float32(cell.decay), np.float32(cell.adaptation), np.float32(cell.smoothing)
    before, after = cell.before[row], cell.after[row]
    held, tired, fired, trace = before[:units], before[units:], before[2 * units :], before[3 * units :]
    potential, fatigue, spikes, output = after[:units], after[units:], after[2 * units :], after[3 * units :]
    for u in range(units):
        potential[u] = decay * held[u] + drive[u] - fired[u] * _THRESHOLD
    for u in range(units):
        fatigue[u] = recovery[u] * tired[u] + (np.float32(1.0) - recovery[u]) * fired[u]
    for u in range(units):
        above = potential[u] - _THRESHOLD - adaptation * fatigue[u]
        spikes[u] = np.float32(1.0) if above > 0.0 else np.float32(0.0)
    for u in range(units):
        output[u] = smoothing * trace[u] + (np.float32(1.0) - smoothing) * spikes[u]
        cell.outputs[row, u] = output[u]


@kernel()
def run(cell: SpikingCell, x: F32M, sequences: int) -> None:
    """Potentials leak and take up the drive; one above its threshold fires, which lowers it and tires the neuron."""
    flat, units = cell.parameters, cell.units
    linear(x, _from_inputs(cell, flat), _bias(cell, flat)[0], cell.drive)
    for t in range(x.shape[0] // sequences):
        first, last = t * sequences, (t + 1) * sequences
        hold_before(cell, t, sequences, cell.after, cell.before)
        for row in range(first, last):
            for u in range(units):
                cell.heard[row, u] = cell.before[row, 2 * units + u]
        add_linear(cell.heard[first:last], _from_units(cell, flat), cell.drive[first:last])
        for row in range(first, last):
            _fire(cell, row)
    for s in range(sequences):
        for n in range(cell.state):
            cell.end[s, n] = cell.after[x.shape[0] - sequences + s, n]


@kernel()
def run_back(cell: SpikingCell, x: F32M, sequences: int) -> None:
    """Step by step from the last; the step function of a spike has the slope 1 / (1 + sharpness |distance|)^2.

    A spike's lowering of its own potential is no path of the gradient, as in most libraries.
    """
    flat, rows, units = cell.parameters, x.shape[0], cell.units
    transpose(_from_units(cell, flat), cell.transposed)
    cell.carried[:] = np.float32(0.0)
    carried, by_spike = cell.carried[:sequences], cell.by_spike[:sequences]
    for back in range(rows // sequences):
        t = rows // sequences - 1 - back
        first, last = t * sequences, (t + 1) * sequences
        for s in range(sequences):
            _fire_back(cell, first + s, carried[s])
        product(cell.by_drive[first:last], cell.transposed, cell.zeros, by_spike)
        for s in range(sequences):
            for u in range(units):
                carried[s, 2 * units + u] += by_spike[s, u]
        forget_before(cell, t, carried)
    by_drive = cell.by_drive[:rows]
    product_transposed(x, by_drive, cell.zeros, _from_inputs(cell, cell.gradients))
    product_transposed(cell.heard[:rows], by_drive, cell.zeros, _from_units(cell, cell.gradients))
    add_up(cell, by_drive, _bias(cell, cell.gradients))


@kernel()
def _fire_back(cell: SpikingCell, row: int, carried: F32) -> None:
    """Of one sequence: from the gradient by the state after a step to those by its drive and by the state before."""
    one, units, recovery = np.float32(1.0), cell.units, cell.recovery
    decay, adaptation, smoothing = np.float32(cell.decay), np.float32(cell.adaptation), np.float32(cell.smoothing)
    sharpness, after, delta, by_drive = (
        np.float32(cell.sharpness),
        cell.after[row],
        cell.deltas[row],
        cell.by_drive[row],
    )
    by_potential, by_fatigue = carried[:units], carried[units:]
    by_spike, by_trace = carried[2 * units :], carried[3 * units :]
    for u in range(units):
        by_trace[u] += delta[u]
        by_spike[u] += (one - smoothing) * by_trace[u]
        by_trace[u] *= smoothing
    for u in range(units):
        near = one + sharpness * abs(after[u] - _THRESHOLD - adaptation * after[units + u])
        by_spike[u] /= near * near
    for u in range(units):
        by_drive[u] = by_potential[u] + by_spike[u]
        by_fatigue[u] -= adaptation * by_spike[u]
    for u in range(units):
        by_potential[u] = decay * by_drive[u]
        by_spike[u] = (one - recovery[u]) * by_fatigue[u]
        by_fatigue[u] *= recovery[u]


_remember, _learn = through_time(run, run_back)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_recurrent(brain, rng)
    _draw_cell(brain.cell, brain.gain, brain.span, rng)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """All neurons are at rest."""
    forget_episode(brain)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Lets the neurons fire and samples an action."""
    _remember(brain, rng, obs, action)
    spikes, units = 0, brain.cell.units
    for u in range(units):
        spikes += int(brain.present[2 * units + u])
    count_active(brain.liveness, spikes)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    _learn(brain, rng, obs, outcome)


class SpikingPpo(CompiledBrain):
    """Adaptive leaky integrate-and-fire neurons, trained by PPO through time with surrogate gradients.

    | part | how |
    |---|---|
    | inputs | senses, last action and tanh of the last reward, as currents to all neurons |
    | potential | v <- `decay` v + currents + recurrent weights x spikes - spike: a spike lowers it by the threshold |
    | threshold | 1 + `adaptation` x a, where a <- r a + (1 - r) spike recovers within 1 to `span` steps |
    | spike | 1 where the potential is above the threshold; its gradient is 1 / (1 + `sharpness` x distance)^2 |
    | shortcut | a tanh layer of the inputs past the neurons |
    | readout | from traces of spikes and the shortcut one logit for each level of each action head, and the value |
    | learning | as `gru_ppo` |
    """

    name: ClassVar[str] = "spiking_ppo"
    kind: ClassVar[BrainClass] = "spiking"
    config = SpikingPpoConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: SpikingPpoConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout of sequences, the neurons and their readout."""
        return {**Recurrent.sized(config, body, SpikingCell), "liveness": {"nodes": config.units}}

    @classmethod
    def describe(cls, config: SpikingPpoConfig, brain: Memory) -> dict[str, float]:
        """How many neurons fired."""
        return liveness_of(brain.liveness)
