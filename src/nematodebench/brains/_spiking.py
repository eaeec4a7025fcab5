"""The spiking network of `spiking_rstdp`: what lies where, how it is wired, and how it fires.

Neurons are numbered sensory, hidden, motor; the *targets* of connections are the hidden and the motor ones. Every
neuron has a row of weights to all targets, 0 where there is no connection: a spike adds its row to the targets'
currents, so a tick costs as much as there are spikes. Fresh and lasting eligibility lie in matrices of the same shape.
"""

import numpy as np

from nematodebench.brains import _reservoir as rv
from nematodebench.kernels.abi import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import next_u64, uniform

__all__ = ["FLOAT_WORDS", "HYPER", "LEAST", "WORDS", "draw_network", "encode", "run_ticks"]

# Words of hyper, in the order of HYPER; five words for each sensory cell follow at CELLS.
HYPER = (
    "leak", "gain", "noise", "weight", "weight_limit", "density", "inhibitory", "lateral",
    "trace_decay", "depression", "depression_recovery", "energy_cost", "energy_recovery",
    "stdp_ltp", "stdp_ltd", "metaplasticity", "temperature",
    "learning_rate", "hidden_rate", "eligibility_decay", "gamma", "expectation_rate", "value_rate",
    "inhibitory_rate", "homeostasis", "target_rate", "curiosity",
)  # fmt: skip
(
    LEAK, GAIN, NOISE, WEIGHT, LIMIT, DENSITY, INHIBITORY, LATERAL,
    TRACE_DECAY, DEPRESSION, DEPRESSION_RECOVERY, COST, RECOVERY,
    LTP, LTD, META_GAIN, TEMPERATURE,
    RATE, HIDDEN_RATE, LAMBDA, GAMMA, EXPECTATION_RATE, VALUE_RATE,
    INHIBITORY_RATE, HOMEOSTASIS, TARGET_RATE, CURIOSITY, CELLS,
) = range(28)  # fmt: skip
CELL_WORDS = 5
# Words of ints: sizes, ...
(
    SENSED, SENSORY, HIDDEN, MOTOR, TARGETS, STRIDE, OUTPUTS, PER_OUTPUT, SLOTS, TICKS, CHOSEN,
    WARM, WARM_COUNT, SPIKED, SPIKES, FIRST_PLACE,
) = range(rv.OWN, rv.OWN + 16)  # fmt: skip
# ... and places in memory.
(
    DRIVE, NEXT, MEMORY, VALUE, NOVELTY, POTENTIAL, TRACE, RESOURCE, ENERGY, COUNT, SIGN, HEAT,
    CURRENT, THRESHOLD, META, GATE, MEAN, VOTES, SCALARS, W, E, F,
) = range(FIRST_PLACE, FIRST_PLACE + 22)  # fmt: skip
FLOAT_WORDS = W - FIRST_PLACE
WORDS = F + 1
LEAST = np.float32(1e-4)
# What fades is cut off here: numbers too small to be normal cost the processor a hundred times as much.
_FADED = np.float32(1e-6)
_0, _1, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)
_PIECE, _SHIFT, _NOISE_UNIT = np.uint64(0xFFFF), np.uint64(16), np.float32(1.0 / 65536.0)


@kernel()
def _draw_row(hyper: F64, ints: I64, mem: F32, i: int, rng: U64) -> None:
    """Weights of a sensory or hidden neuron: some hidden ones, all motor ones, from a random start."""
    row, hidden = ints[W] + i * ints[STRIDE], ints[HIDDEN]
    sign, own = mem[ints[SIGN] + i], i - ints[SENSORY]
    for j in range(ints[TARGETS]):
        if j >= hidden or (uniform(rng) < hyper[DENSITY] and j != own):
            mem[row + j] = sign * max(np.float32(hyper[WEIGHT] * uniform(rng)), LEAST)


@kernel()
def _draw_motor_row(hyper: F64, ints: I64, mem: F32, m: int) -> None:
    """Motor neurons excite the inhibitory ones of their own population, and these inhibit the other populations."""
    first, per, i = ints[SENSORY] + ints[HIDDEN], ints[PER_OUTPUT], ints[SENSORY] + ints[HIDDEN] + m
    row, sign = ints[W] + i * ints[STRIDE] + ints[HIDDEN], mem[ints[SIGN] + i]
    for k in range(ints[MOTOR]):
        same = k // per == m // per
        if (sign < _0 and not same) or (sign > _0 and same and mem[ints[SIGN] + first + k] < _0):
            mem[row + k] = sign * np.float32(hyper[LATERAL])


@kernel()
def draw_network(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Signs, weights and the state of rested neurons."""
    neurons = ints[rv.NODES]
    every = int(np.floor(1.0 / hyper[INHIBITORY] + 0.5)) if hyper[INHIBITORY] > 0.0 else 0
    for i in range(neurons):
        layer = (
            0
            if i < ints[SENSORY]
            else ints[SENSORY]
            if i < ints[SENSORY] + ints[HIDDEN]
            else ints[SENSORY] + ints[HIDDEN]
        )
        mem[ints[SIGN] + i] = -_1 if every > 0 and (i - layer) % every == every - 1 else _1
        mem[ints[RESOURCE] + i] = mem[ints[ENERGY] + i] = _1
    for i in range(ints[SENSORY] + ints[HIDDEN]):
        _draw_row(hyper, ints, mem, i, rng)
    for m in range(ints[MOTOR]):
        _draw_motor_row(hyper, ints, mem, m)
    for j in range(ints[TARGETS]):
        mem[ints[THRESHOLD] + j] = mem[ints[META] + j] = _1
        mem[ints[GATE] + j] = np.float32(hyper[HIDDEN_RATE])
    for c in range(ints[SENSED]):
        mem[ints[NOVELTY] + c] = _1


@kernel()
def encode(hyper: F64, ints: I64, obs: F32M, rates: F32) -> None:
    """Population code of the observation: a cell answers the more, the nearer a sensor is to its own value."""
    for c in range(ints[SENSED]):
        at = CELLS + CELL_WORDS * c
        x, low, high = float(obs[0, int(hyper[at])]), hyper[at + 1], hyper[at + 2]
        centre, spacing = hyper[at + 3], hyper[at + 4]
        rest = max(low, 0.0)
        x = rest if np.isnan(x) else min(max(x, low), high)
        near = 1.0 - abs(x - centre) / (1.5 * spacing)
        rates[c] = np.float32(near * min(1.0, abs(x - rest) / spacing)) if near > 0.0 else _0


@kernel()
def _integrate(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Membranes leak and take up what came in; motor neurons hear noise."""
    sensory, targets, neurons = ints[SENSORY], ints[TARGETS], ints[rv.NODES]
    keep, gain, noise = np.float32(1.0 - hyper[LEAK]), np.float32(hyper[GAIN]), np.float32(2.0 * hyper[NOISE])
    v, drive = mem[ints[POTENTIAL] :][:neurons], mem[ints[DRIVE] :][:sensory]
    current = mem[ints[CURRENT] :][:targets]
    for i in range(sensory):
        v[i] += gain * drive[i]
    body = v[sensory:]
    for j in range(targets):
        level = max(keep * body[j] + current[j], -_1)
        body[j] = level if abs(level) > _FADED else _0
        current[j] = _0
    if noise > _0:
        word = np.uint64(0)
        for m in range(ints[MOTOR]):
            word = next_u64(rng) if m % 4 == 0 else word >> _SHIFT
            body[ints[HIDDEN] + m] += noise * (np.float32(word & _PIECE) * _NOISE_UNIT - _HALF)


@kernel()
def _fire(hyper: F64, ints: I64, mem: F32) -> None:
    """Lists the neurons above threshold that have the energy for a spike."""
    neurons, sensory = ints[rv.NODES], ints[SENSORY]
    cost, spiked, n = np.float32(hyper[COST]), ints[ints[SPIKED] :], 0
    v, energy, threshold = mem[ints[POTENTIAL] :], mem[ints[ENERGY] :], mem[ints[THRESHOLD] :]
    for i in range(sensory):
        spiked[n] = i
        n += 1 if v[i] >= _1 and energy[i] >= cost else 0
    for j in range(neurons - sensory):
        spiked[n] = sensory + j
        n += 1 if v[sensory + j] >= threshold[j] and energy[sensory + j] >= cost else 0
    ints[SPIKES] = n
    rv.count_active(ints, n)


@kernel()
def _transmit(hyper: F64, ints: I64, mem: F32, i: int) -> None:
    """One spike: the neuron resets and pays, its row goes to the targets, and what fired before it is depressed."""
    sensory, targets, stride = ints[SENSORY], ints[TARGETS], ints[STRIDE]
    strength = mem[ints[RESOURCE] + i]
    mem[ints[RESOURCE] + i] = strength * np.float32(1.0 - hyper[DEPRESSION])
    mem[ints[ENERGY] + i] -= np.float32(hyper[COST])
    mem[ints[POTENTIAL] + i] = _0
    mem[ints[COUNT] + i] += _1
    row, current = mem[ints[W] + i * stride :][:targets], mem[ints[CURRENT] :][:targets]
    for j in range(targets):
        current[j] += strength * row[j]
    if i < sensory + ints[HIDDEN]:
        fresh, trace = mem[ints[F] + i * stride :][:targets], mem[ints[TRACE] + sensory :][:targets]
        meta, ltd = mem[ints[META] :][:targets], np.float32(hyper[LTD])
        for j in range(targets):
            fresh[j] -= ltd * meta[j] * trace[j]


@kernel()
def _potentiate(hyper: F64, ints: I64, mem: F32, i: int) -> None:
    """A target fired: its connections from neurons that fired shortly before become eligible."""
    j, stride = i - ints[SENSORY], ints[STRIDE]
    amount = np.float32(hyper[LTP]) / mem[ints[META] + j]
    warm, trace, fresh = ints[ints[WARM] :], mem[ints[TRACE] :], mem[ints[F] + j :]
    for n in range(ints[WARM_COUNT]):
        pre = warm[n]
        fresh[pre * stride] += amount * trace[pre]


@kernel()
def _remember_spikes(hyper: F64, ints: I64, mem: F32) -> None:
    """Traces and resources at the end of a tick; neurons that left a trace are listed as warm."""
    neurons, before = ints[rv.NODES], ints[SENSORY] + ints[HIDDEN]
    trace, resource, energy = (
        mem[ints[TRACE] :][:neurons],
        mem[ints[RESOURCE] :][:neurons],
        mem[ints[ENERGY] :][:neurons],
    )
    keep, back, rest = (
        np.float32(hyper[TRACE_DECAY]),
        np.float32(hyper[DEPRESSION_RECOVERY]),
        np.float32(hyper[RECOVERY]),
    )
    for i in range(neurons):
        left = keep * trace[i]
        trace[i] = left if left > _FADED else _0
        resource[i] += back * (_1 - resource[i])
        energy[i] = min(energy[i] + rest, _1)
    warm, spiked, heat, n = ints[ints[WARM] :], ints[ints[SPIKED] :], mem[ints[HEAT] :], ints[WARM_COUNT]
    for k in range(ints[SPIKES]):
        i = spiked[k]
        trace[i] += _1
        if i < before:
            warm[n] = i
            n += 1 if heat[i] == _0 else 0
            heat[i] = _1
    ints[WARM_COUNT] = n


@kernel()
def run_ticks(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """The ticks of one step; spikes are counted and eligibility gathered."""
    neurons, plastic = ints[rv.NODES], hyper[RATE] > 0.0
    for i in range(neurons):
        mem[ints[COUNT] + i] = _0
    spiked = ints[ints[SPIKED] :]
    for _ in range(ints[TICKS]):
        _integrate(hyper, ints, mem, rng)
        _fire(hyper, ints, mem)
        for k in range(ints[SPIKES]):
            _transmit(hyper, ints, mem, spiked[k])
        if plastic:
            for k in range(ints[SPIKES]):
                if spiked[k] >= ints[SENSORY]:
                    _potentiate(hyper, ints, mem, spiked[k])
        _remember_spikes(hyper, ints, mem)
