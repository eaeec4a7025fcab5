"""Brain `gru_ppo`: proximal policy optimisation of a gated recurrent unit."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.base import BrainClass, CompiledBrain, Interface
from nematodebench.brains.parameters import parameter, searched
from nematodebench.brains.parts.cells import Cell, add_up, forget_before, hold_before, squash, step_of
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
from nematodebench.kernels.math import log64, tanh32
from nematodebench.kernels.memory import constant, floats, part
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.vectors import add_linear, linear, matrix, padded, product_transposed, transpose

__all__ = ["GruPpo", "GruPpoConfig"]

_RESET, _KEEP, _NEW, _OLD = 0, 1, 2, 3
"""The gates; ``_OLD`` is what the state brings to the new one."""


class GruPpoConfig(RecurrentConfig):
    """Parameters of `gru_ppo`."""

    units: int = parameter(32, 1, 1024, "units of the cell", searched(8, 128, "medium", log=True))
    span: float = parameter(
        32.0, 1, None, "a fresh unit forgets within 1 to this many steps", searched(1, 128, "medium", log=True), gt=1
    )


class GruCell(Cell):
    """Gates, what they are made of, and the gradient by each."""

    before = floats("rows", "units", scratch=True)
    reset = floats("rows", "units", scratch=True)
    keep = floats("rows", "units", scratch=True)
    new = floats("rows", "units", scratch=True)
    old = floats("rows", "units", scratch=True)
    by_reset = floats("rows", "units", scratch=True)
    by_keep = floats("rows", "units", scratch=True)
    by_new = floats("rows", "units", scratch=True)
    by_old = floats("rows", "units", scratch=True)
    carried = floats("sequences", "units", scratch=True)
    transposed = floats(3, "units", "units", scratch=True)

    @classmethod
    def shape(cls, inputs: int, config: GruPpoConfig) -> Mapping[str, Any]:
        """Three matrices from the inputs, three from the units, four biases."""
        units = padded(config.units)
        count = padded(3 * (inputs + units) * units + 4 * units)
        return {"units": units, "state": units, "count": count, "true_units": config.units}

    def connections(self, told: NDArray[Any], state: NDArray[Any]) -> Iterator[Synapses]:
        """To three gates from the inputs and from the units; the gates are multiplied unit by unit."""
        units = self.true_units
        yield Synapses("from_inputs", told.size, 3 * units, 3 * units, 4 * units, told, counted=False)
        yield Synapses("from_units", units, 3 * units, 3 * units, 0, self.sent(state))
        yield Synapses("gates", units, units, 0, operations=3 * units)


@accessor
def _from_inputs(cell: GruCell, flat: F32, gate: int) -> F32M:
    return matrix(flat, gate * cell.inputs * cell.units, cell.inputs, cell.units)


@accessor
def _from_units(cell: GruCell, flat: F32, gate: int) -> F32M:
    return matrix(flat, (3 * cell.inputs + gate * cell.units) * cell.units, cell.units, cell.units)


@accessor
def _bias(cell: GruCell, flat: F32, gate: int) -> F32M:
    return matrix(flat, (3 * (cell.inputs + cell.units) + gate) * cell.units, 1, cell.units)


class Memory(Recurrent):
    """Of `gru_ppo`."""

    span = constant()
    cell = part(GruCell)


@kernel()
def _draw_cell(cell: GruCell, span: float, rng: U64) -> None:
    """Uniform weights; the biases of ``keep`` spread the time that units remember evenly from 1 to ``span`` steps."""
    flat, true = cell.parameters, cell.true_units
    for gate in range(3):
        inputs, units = _from_inputs(cell, flat, gate), _from_units(cell, flat, gate)
        for o in range(true):
            for i in range(cell.inputs):
                inputs[i, o] = np.float32((2.0 * uniform(rng) - 1.0) / np.sqrt(cell.inputs))
            for u in range(true):
                units[u, o] = np.float32((2.0 * uniform(rng) - 1.0) / np.sqrt(true))
    for o in range(true):
        _bias(cell, flat, _KEEP)[0, o] = np.float32(log64(1.0 + (span - 1.0) * uniform(rng)))


@kernel()
def run(cell: GruCell, x: F32M, sequences: int) -> None:
    """Reset r, keep z, new n: n = tanh(W x + b + r (U h + c)), h <- n + z (h - n)."""
    flat = cell.parameters
    linear(x, _from_inputs(cell, flat, _RESET), _bias(cell, flat, _RESET)[0], cell.reset)
    linear(x, _from_inputs(cell, flat, _KEEP), _bias(cell, flat, _KEEP)[0], cell.keep)
    linear(x, _from_inputs(cell, flat, _NEW), _bias(cell, flat, _NEW)[0], cell.new)
    for t in range(x.shape[0] // sequences):
        first, last = t * sequences, (t + 1) * sequences
        hold_before(cell, t, sequences, cell.outputs, cell.before)
        rows = cell.before[first:last]
        add_linear(rows, _from_units(cell, flat, _RESET), cell.reset[first:last])
        add_linear(rows, _from_units(cell, flat, _KEEP), cell.keep[first:last])
        linear(rows, _from_units(cell, flat, _NEW), _bias(cell, flat, _OLD)[0], cell.old[first:last])
        reset, keep = step_of(cell.reset, t, sequences), step_of(cell.keep, t, sequences)
        new, old = step_of(cell.new, t, sequences), step_of(cell.old, t, sequences)
        squash(reset)
        squash(keep)
        for n in range(new.size):
            new[n] += reset[n] * old[n]
        for n in range(new.size):
            new[n] = tanh32(new[n])
        held, output = step_of(cell.before, t, sequences), step_of(cell.outputs, t, sequences)
        for n in range(output.size):
            output[n] = new[n] + keep[n] * (held[n] - new[n])
    for s in range(sequences):
        for u in range(cell.units):
            cell.end[s, u] = cell.outputs[x.shape[0] - sequences + s, u]


@kernel()
def run_back(cell: GruCell, x: F32M, sequences: int) -> None:
    """Gradients by the gates, step by step from the last; then those of all weights at once."""
    flat, rows = cell.parameters, x.shape[0]
    for gate in range(3):
        transpose(_from_units(cell, flat, gate), cell.transposed[gate])
    cell.carried[:] = np.float32(0.0)
    for back in range(rows // sequences):
        t = rows // sequences - 1 - back
        _gate_gradients(cell, t, sequences)
        first, last = t * sequences, (t + 1) * sequences
        carried = cell.carried[:sequences]
        add_linear(cell.by_reset[first:last], cell.transposed[_RESET], carried)
        add_linear(cell.by_keep[first:last], cell.transposed[_KEEP], carried)
        add_linear(cell.by_old[first:last], cell.transposed[_NEW], carried)
        forget_before(cell, t, carried)
    _weight_gradients(cell, x, _RESET, cell.by_reset[:rows], cell.by_reset[:rows])
    _weight_gradients(cell, x, _KEEP, cell.by_keep[:rows], cell.by_keep[:rows])
    _weight_gradients(cell, x, _NEW, cell.by_new[:rows], cell.by_old[:rows])
    add_up(cell, cell.by_old[:rows], _bias(cell, cell.gradients, _OLD))


@kernel()
def _gate_gradients(cell: GruCell, t: int, sequences: int) -> None:
    """Of one step, from its outputs and from what later steps carried back; ``keep`` lets a part of that go on."""
    one = np.float32(1.0)
    reset, keep = step_of(cell.reset, t, sequences), step_of(cell.keep, t, sequences)
    new, old = step_of(cell.new, t, sequences), step_of(cell.old, t, sequences)
    held, delta = step_of(cell.before, t, sequences), step_of(cell.deltas, t, sequences)
    by_reset, by_keep = step_of(cell.by_reset, t, sequences), step_of(cell.by_keep, t, sequences)
    by_new, by_old = step_of(cell.by_new, t, sequences), step_of(cell.by_old, t, sequences)
    carried = step_of(cell.carried, 0, sequences)
    for n in range(delta.size):
        carried[n] += delta[n]
    for n in range(delta.size):
        by_keep[n] = carried[n] * (held[n] - new[n]) * keep[n] * (one - keep[n])
    for n in range(delta.size):
        by_new[n] = carried[n] * (one - keep[n]) * (one - new[n] * new[n])
    for n in range(delta.size):
        by_old[n] = by_new[n] * reset[n]
        by_reset[n] = by_new[n] * old[n] * reset[n] * (one - reset[n])
    for n in range(delta.size):
        carried[n] *= keep[n]


@kernel()
def _weight_gradients(cell: GruCell, x: F32M, gate: int, by_input: F32M, by_state: F32M) -> None:
    """Of one gate: from the inputs, from the units, and its bias."""
    rows = x.shape[0]
    product_transposed(x, by_input, cell.zeros, _from_inputs(cell, cell.gradients, gate))
    product_transposed(cell.before[:rows], by_state, cell.zeros, _from_units(cell, cell.gradients, gate))
    add_up(cell, by_input, _bias(cell, cell.gradients, gate))


_remember, _learn = through_time(run, run_back)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_recurrent(brain, rng)
    _draw_cell(brain.cell, brain.span, rng)


@Memory.kernel
def begin_episode(brain: Memory) -> None:
    """The state is empty."""
    forget_episode(brain)


@Memory.kernel
def act(brain: Memory, rng: U64, obs: F32, action: F32) -> None:
    """Advances the state and samples an action."""
    _remember(brain, rng, obs, action)


@Memory.kernel
def learn(brain: Memory, rng: U64, obs: F32, outcome: Feedback) -> None:
    """Stores the reward; updates when the rollout is full."""
    _learn(brain, rng, obs, outcome)


class GruPpo(CompiledBrain):
    """Proximal policy optimisation of a gated recurrent unit, trained through time.

    | part | how |
    |---|---|
    | inputs | the senses, the last action (one input a choice, or the effectors), tanh of the last reward |
    | cell | gated recurrent unit; its state is 0 when an episode begins |
    | shortcut | a tanh layer of the inputs past the cell: what to do at once need not pass through what remembers |
    | readout | from the state and the shortcut one logit for each level of each action head, and the value |
    | gradient | backpropagation through `sequence` steps from the states that were met, as many as a minibatch has |
    | rollouts, horizon, update, value | as in `mlp_ppo` |
    | effectors | one softmax head each over `levels` values spread over [0, 1] |
    """

    name: ClassVar[str] = "gru_ppo"
    kind: ClassVar[BrainClass] = "classical"
    config = GruPpoConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: GruPpoConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout of sequences, the cell and its readout."""
        return Recurrent.sized(config, body, GruCell)
