"""Brain `liquid_ppo`: proximal policy optimisation of a closed-form continuous-time cell."""

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
from nematodebench.kernels.math import tanh32
from nematodebench.kernels.memory import floats, part, size
from nematodebench.kernels.rng import uniform
from nematodebench.kernels.vectors import add_linear, linear, matrix, padded, product, product_transposed, transpose

__all__ = ["LiquidPpo", "LiquidPpoConfig"]

_FIRST, _SECOND, _TIME = 0, 1, 2
_HEIGHT, _SLOPE = np.float32(1.7159), np.float32(0.666)
"""Of the backbone's activation, height x tanh(slope x)."""


class LiquidPpoConfig(RecurrentConfig):
    """Parameters of `liquid_ppo`."""

    units: int = parameter(32, 1, 1024, "units of the cell", searched(8, 128, "medium", log=True))
    backbone: int = parameter(32, 1, 1024, "units of the layer before it", searched(8, 128, "medium", log=True))


class LiquidCell(Cell):
    """The backbone, the three heads on it, and the gradient by each."""

    backbone = size()
    true_backbone = size()
    before = floats("rows", "units", scratch=True)
    trunk = floats("rows", "backbone", scratch=True)
    near = floats("rows", "units", scratch=True)
    far = floats("rows", "units", scratch=True)
    time = floats("rows", "units", scratch=True)
    by_trunk = floats("rows", "backbone", scratch=True)
    by_near = floats("rows", "units", scratch=True)
    by_far = floats("rows", "units", scratch=True)
    by_time = floats("rows", "units", scratch=True)
    carried = floats("sequences", "units", scratch=True)
    heads_transposed = floats(3, "units", "backbone", scratch=True)
    units_transposed = floats("backbone", "units", scratch=True)

    @classmethod
    def shape(cls, inputs: int, config: LiquidPpoConfig) -> Mapping[str, Any]:
        """One layer from inputs and units to the backbone, three from there."""
        units, backbone = padded(config.units), padded(config.backbone)
        count = padded((inputs + units + 1) * backbone + 3 * (backbone + 1) * units)
        return {
            "units": units, "state": units, "count": count, "true_units": config.units, "backbone": backbone,
            "true_backbone": config.backbone, "widest": backbone,
        }  # fmt: skip

    def connections(self, told: NDArray[Any], state: NDArray[Any]) -> Iterator[Synapses]:
        """To the backbone from inputs and units, from there to three heads, one of which mixes the others."""
        units, backbone = self.true_units, self.true_backbone
        yield Synapses("from_inputs", told.size, backbone, backbone, backbone, told, counted=False)
        yield Synapses("from_units", units, backbone, backbone, 0, self.sent(state))
        trunk = np.asarray(self.trunk)[0, :backbone]
        yield Synapses("heads", backbone, 3 * units, 3 * units, 3 * units, trunk)
        yield Synapses("mixing", units, units, 0, operations=2 * units)


@accessor
def _from_inputs(cell: LiquidCell, flat: F32) -> F32M:
    return matrix(flat, 0, cell.inputs, cell.backbone)


@accessor
def _from_units(cell: LiquidCell, flat: F32) -> F32M:
    return matrix(flat, cell.inputs * cell.backbone, cell.units, cell.backbone)


@accessor
def _trunk_bias(cell: LiquidCell, flat: F32) -> F32M:
    return matrix(flat, (cell.inputs + cell.units) * cell.backbone, 1, cell.backbone)


@accessor
def _head(cell: LiquidCell, flat: F32, head: int) -> F32M:
    start = (cell.inputs + cell.units + 1) * cell.backbone + head * cell.backbone * cell.units
    return matrix(flat, start, cell.backbone, cell.units)


@accessor
def _head_bias(cell: LiquidCell, flat: F32, head: int) -> F32M:
    start = (cell.inputs + cell.units + 1) * cell.backbone + (3 * cell.backbone + head) * cell.units
    return matrix(flat, start, 1, cell.units)


class Memory(Recurrent):
    """Of `liquid_ppo`."""

    cell = part(LiquidCell)


@kernel()
def _draw_uniform(weights: F32M, rows: int, columns: int, reach: float, rng: U64) -> None:
    for i in range(rows):
        for o in range(columns):
            weights[i, o] = np.float32(reach * (2.0 * uniform(rng) - 1.0))


@kernel()
def _draw_cell(cell: LiquidCell, rng: U64) -> None:
    """Uniform weights (Glorot), no biases."""
    flat, units, backbone = cell.parameters, cell.true_units, cell.true_backbone
    reach = np.sqrt(6.0 / (cell.inputs + units + backbone))
    _draw_uniform(_from_inputs(cell, flat), cell.inputs, backbone, reach, rng)
    _draw_uniform(_from_units(cell, flat), units, backbone, reach, rng)
    for head in range(3):
        _draw_uniform(_head(cell, flat, head), backbone, units, np.sqrt(6.0 / (units + backbone)), rng)


@kernel()
def run(cell: LiquidCell, x: F32M, sequences: int) -> None:
    """From inputs and state to the backbone b; then n = tanh(N b), f = tanh(F b), h <- n + logistic(T b) (f - n)."""
    flat, rows = cell.parameters, x.shape[0]
    linear(x, _from_inputs(cell, flat), _trunk_bias(cell, flat)[0], cell.trunk)
    for t in range(rows // sequences):
        first, last = t * sequences, (t + 1) * sequences
        hold_before(cell, t, sequences, cell.outputs, cell.before)
        add_linear(cell.before[first:last], _from_units(cell, flat), cell.trunk[first:last])
        trunk, shown = step_of(cell.trunk, t, sequences), cell.trunk[first:last]
        for n in range(trunk.size):
            trunk[n] = _HEIGHT * tanh32(_SLOPE * trunk[n])
        linear(shown, _head(cell, flat, _FIRST), _head_bias(cell, flat, _FIRST)[0], cell.near[first:last])
        linear(shown, _head(cell, flat, _SECOND), _head_bias(cell, flat, _SECOND)[0], cell.far[first:last])
        linear(shown, _head(cell, flat, _TIME), _head_bias(cell, flat, _TIME)[0], cell.time[first:last])
        near, far = step_of(cell.near, t, sequences), step_of(cell.far, t, sequences)
        time, output = step_of(cell.time, t, sequences), step_of(cell.outputs, t, sequences)
        for n in range(near.size):
            near[n] = tanh32(near[n])
        for n in range(far.size):
            far[n] = tanh32(far[n])
        squash(time)
        for n in range(output.size):
            output[n] = near[n] + time[n] * (far[n] - near[n])
    for s in range(sequences):
        for u in range(cell.units):
            cell.end[s, u] = cell.outputs[rows - sequences + s, u]


@kernel()
def run_back(cell: LiquidCell, x: F32M, sequences: int) -> None:
    """Gradients by heads and backbone, step by step from the last; then those of all weights at once."""
    flat, gradients, rows = cell.parameters, cell.gradients, x.shape[0]
    for head in range(3):
        transpose(_head(cell, flat, head), cell.heads_transposed[head])
    transpose(_from_units(cell, flat), cell.units_transposed)
    cell.carried[:] = np.float32(0.0)
    carried = cell.carried[:sequences]
    for back in range(rows // sequences):
        t = rows // sequences - 1 - back
        _head_gradients(cell, t, sequences)
        by_trunk = cell.by_trunk[t * sequences : (t + 1) * sequences]
        product(by_trunk, cell.units_transposed, cell.zeros, carried)
        forget_before(cell, t, carried)
    trunk, by_trunk = cell.trunk[:rows], cell.by_trunk[:rows]
    product_transposed(x, by_trunk, cell.zeros, _from_inputs(cell, gradients))
    product_transposed(cell.before[:rows], by_trunk, cell.zeros, _from_units(cell, gradients))
    add_up(cell, by_trunk, _trunk_bias(cell, gradients))
    product_transposed(trunk, cell.by_near[:rows], cell.zeros, _head(cell, gradients, _FIRST))
    product_transposed(trunk, cell.by_far[:rows], cell.zeros, _head(cell, gradients, _SECOND))
    product_transposed(trunk, cell.by_time[:rows], cell.zeros, _head(cell, gradients, _TIME))
    add_up(cell, cell.by_near[:rows], _head_bias(cell, gradients, _FIRST))
    add_up(cell, cell.by_far[:rows], _head_bias(cell, gradients, _SECOND))
    add_up(cell, cell.by_time[:rows], _head_bias(cell, gradients, _TIME))


@kernel()
def _head_gradients(cell: LiquidCell, t: int, sequences: int) -> None:
    """Of one step: by the heads, from its outputs and from what later steps carried back, and by the backbone."""
    one, first, last = np.float32(1.0), t * sequences, (t + 1) * sequences
    near, far = step_of(cell.near, t, sequences), step_of(cell.far, t, sequences)
    time, delta = step_of(cell.time, t, sequences), step_of(cell.deltas, t, sequences)
    by_near, by_far = step_of(cell.by_near, t, sequences), step_of(cell.by_far, t, sequences)
    by_time, carried = step_of(cell.by_time, t, sequences), step_of(cell.carried, 0, sequences)
    for n in range(delta.size):
        carried[n] += delta[n]
    for n in range(delta.size):
        by_time[n] = carried[n] * (far[n] - near[n]) * time[n] * (one - time[n])
    for n in range(delta.size):
        by_near[n] = carried[n] * (one - time[n]) * (one - near[n] * near[n])
    for n in range(delta.size):
        by_far[n] = carried[n] * time[n] * (one - far[n] * far[n])
    by_trunk = cell.by_trunk[first:last]
    product(cell.by_near[first:last], cell.heads_transposed[_FIRST], cell.zeros, by_trunk)
    add_linear(cell.by_far[first:last], cell.heads_transposed[_SECOND], by_trunk)
    add_linear(cell.by_time[first:last], cell.heads_transposed[_TIME], by_trunk)
    trunk, slope = step_of(cell.trunk, t, sequences), step_of(cell.by_trunk, t, sequences)
    for n in range(trunk.size):
        slope[n] *= _SLOPE * (_HEIGHT - trunk[n] * trunk[n] / _HEIGHT)


_remember, _learn = through_time(run, run_back)


@Memory.kernel
def init(brain: Memory, rng: U64) -> None:
    """Draws fresh weights."""
    start_recurrent(brain, rng)
    _draw_cell(brain.cell, rng)


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


class LiquidPpo(CompiledBrain):
    """Proximal policy optimisation of a liquid network in its closed form, trained through time.

    | part | how |
    |---|---|
    | inputs | the senses, the last action (one input a choice, or the effectors), tanh of the last reward |
    | backbone | b = 1.7159 tanh(0.666 (weights x (inputs, state) + bias)) |
    | state | h <- n + s (f - n) with n = tanh(N b), f = tanh(F b) and s = logistic(T b): time leads from n to f |
    | time | every step lasts as long, so that the two weights of time of the closed form (CfC) are one |
    | shortcut, readout, learning | as `gru_ppo` |
    """

    name: ClassVar[str] = "liquid_ppo"
    kind: ClassVar[BrainClass] = "classical"
    config = LiquidPpoConfig
    memory = Memory
    init = staticmethod(init)
    begin_episode = staticmethod(begin_episode)
    act = staticmethod(act)
    learn = staticmethod(learn)

    @classmethod
    def sizes(cls, config: LiquidPpoConfig, body: Interface) -> Mapping[str, Any]:
        """A rollout of sequences, the cell and its readout."""
        return Recurrent.sized(config, body, LiquidCell)
