"""The spiking network of `spiking_rstdp`: what lies where, how it is wired, and how it fires.

Neurons are numbered sensory, hidden, motor; the *targets* of connections are the hidden and the motor ones. Every
neuron has a row of weights to all targets, 0 where there is no connection: a spike adds its row to the targets'
currents, so a tick costs as much as there are spikes. Fresh and lasting eligibility lie in matrices of the same shape.
"""

import numpy as np

from nematodebench.brains.parts import reservoir as rv
from nematodebench.brains.spiking.rows import LANES, add_row, clear, crossings, fade, lowest_bit
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.rng import next_u64, uniform

__all__ = ["HYPER", "LEAST", "WORDS", "draw_network", "encode", "run_ticks"]

# Words of hyper, in the order of HYPER; five words for each sensory cell follow at CELLS.
HYPER = (
    "leak", "gain", "noise", "weight", "weight_limit", "density", "inhibitory", "lateral",
    "trace_decay", "depression", "depression_recovery", "energy_cost", "energy_recovery",
    "stdp_ltp", "stdp_ltd", "metaplasticity", "temperature",
    "learning_rate", "hidden_rate", "eligibility_decay", "gamma", "expectation_rate", "value_rate",
    "inhibitory_rate", "homeostasis", "target_rate", "curiosity", "habituation", "crowd",
)  # fmt: skip
(
    LEAK, GAIN, NOISE, WEIGHT, LIMIT, DENSITY, INHIBITORY, LATERAL,
    TRACE_DECAY, DEPRESSION, DEPRESSION_RECOVERY, COST, RECOVERY,
    LTP, LTD, META_GAIN, TEMPERATURE,
    RATE, HIDDEN_RATE, LAMBDA, GAMMA, EXPECTATION_RATE, VALUE_RATE,
    INHIBITORY_RATE, HOMEOSTASIS, TARGET_RATE, CURIOSITY, HABITUATION, CROWD, CELLS,
) = range(30)  # fmt: skip
CELL_WORDS = 5
# Words of ints: sizes, ...
(
    SENSED, SENSORY, HIDDEN, MOTOR, TARGETS, STRIDE, OUTPUTS, PER_OUTPUT, SLOTS, TICKS, LEVELS,
    WARM, WARM_COUNT, RECENT, RECENT_COUNT, SPIKED, SPIKES, BLOCKS, FIRST_PLACE,
) = range(rv.OWN, rv.OWN + 19)  # fmt: skip
# ... and places in memory.
(
    DRIVE, NEXT, MEMORY, VALUE, NOVELTY, POTENTIAL, TRACE, RESOURCE, ENERGY, COUNT, SIGN, HEAT, USUAL,
    THRESHOLD, CURRENT, META, GATE, PENALTY, STEP, PICKED, VOTES, SCALARS, W, E, F,
) = range(FIRST_PLACE, FIRST_PLACE + 25)  # fmt: skip
WORDS = F + 1
LEAST = np.float32(1e-4)
# What fades is cut off here: numbers too small to be normal cost the processor a hundred times as much.
_FADED, _OVER = np.float32(1e-6), np.float32(0.05)
# More hidden neurons than this begin with weaker connections: they fire for anything and would drown the senses.
_ENOUGH = 8.0
_WORD = 64
_0, _1, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)
_ONE, _PIECE, _SHIFT, _NOISE_UNIT = np.uint64(1), np.uint64(0xFFFF), np.uint64(16), np.float32(1.0 / 65536.0)


@kernel()
def _draw_row(hyper: F64, ints: I64, mem: F32, i: int, rng: U64) -> None:
    """Weights of a sensory or hidden neuron: some hidden ones, all motor ones, from a random start."""
    row, hidden = ints[W] + i * ints[STRIDE], ints[HIDDEN]
    sign, own = mem[ints[SIGN] + i], i - ints[SENSORY]
    largest = hyper[WEIGHT] * (min(1.0, _ENOUGH / hidden) if own >= 0 else 1.0)
    for j in range(ints[TARGETS]):
        if j >= hidden or (uniform(rng) < hyper[DENSITY] and j != own):
            mem[row + j] = sign * max(np.float32(largest * uniform(rng)), LEAST)


@kernel()
def _draw_motor_row(hyper: F64, ints: I64, mem: F32, m: int) -> None:
    """Motor neurons excite the inhibitory ones of their own population, and these inhibit their rivals in its head."""
    first, per, i = ints[SENSORY] + ints[HIDDEN], ints[PER_OUTPUT], ints[SENSORY] + ints[HIDDEN] + m
    row, sign = ints[W] + i * ints[STRIDE] + ints[HIDDEN], mem[ints[SIGN] + i]
    head = per * ints[LEVELS]
    for k in range(ints[MOTOR]):
        same = k // per == m // per
        if (sign < _0 and not same and k // head == m // head) or (
            sign > _0 and same and mem[ints[SIGN] + first + k] < _0
        ):
            mem[row + k] = sign * np.float32(hyper[LATERAL])


@kernel()
def draw_network(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """Signs, weights and the state of rested neurons."""
    neurons = ints[rv.NODES]
    every = int(np.floor(1.0 / hyper[INHIBITORY] + 0.5)) if hyper[INHIBITORY] > 0.0 else 0
    hidden, motor = ints[SENSORY], ints[SENSORY] + ints[HIDDEN]
    for i in range(neurons):
        layer = motor if i >= motor else hidden if i >= hidden else 0
        mem[ints[SIGN] + i] = -_1 if every > 0 and (i - layer) % every == every - 1 else _1
        mem[ints[RESOURCE] + i] = mem[ints[ENERGY] + i] = _1
    for i in range(ints[SENSORY] + ints[HIDDEN]):
        _draw_row(hyper, ints, mem, i, rng)
    for m in range(ints[MOTOR]):
        _draw_motor_row(hyper, ints, mem, m)
    for i in range(neurons + LANES):
        mem[ints[THRESHOLD] + i] = _1
    for j in range(ints[TARGETS]):
        mem[ints[META] + j] = _1
        mem[ints[GATE] + j] = np.float32(hyper[HIDDEN_RATE])
    for c in range(ints[SENSED]):
        mem[ints[NOVELTY] + c] = _1


@kernel()
def encode(hyper: F64, ints: I64, obs: F32M, rates: F32) -> None:
    """Population code of the observation: a cell answers the more, the nearer a sensor is to its own value.

    Cells divide among them what a crowd of them may answer, so rich senses do not drown the network.
    """
    total = 0.0
    for c in range(ints[SENSED]):
        at = CELLS + CELL_WORDS * c
        x, low, high = float(obs[0, int(hyper[at])]), hyper[at + 1], hyper[at + 2]
        centre, spacing = hyper[at + 3], hyper[at + 4]
        rest = max(low, 0.0)
        x = rest if np.isnan(x) else min(max(x, low), high)
        near = 1.0 - abs(x - centre) / (1.5 * spacing)
        rates[c] = np.float32(near * min(1.0, abs(x - rest) / spacing)) if near > 0.0 else _0
        total += rates[c]
    if total > hyper[CROWD]:
        share = np.float32(hyper[CROWD] / total)
        for c in range(ints[SENSED]):
            rates[c] *= share


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
    v, threshold, energy = ints[POTENTIAL], ints[THRESHOLD], mem[ints[ENERGY] :]
    cost, spiked, n = np.float32(hyper[COST]), ints[ints[SPIKED] :], 0
    for start in range(0, ints[rv.NODES], _WORD):
        above = np.uint64(0)
        for part in range(0, min(_WORD, ints[rv.NODES] - start), LANES):
            above |= crossings(mem, v + start + part, threshold + start + part) << np.uint64(part)
        while above:
            i = start + lowest_bit(above)
            above &= above - _ONE
            spiked[n] = i
            n += 1 if energy[i] >= cost else 0
    ints[SPIKES] = n
    rv.count_active(ints, n)


@kernel()
def _penalise(hyper: F64, ints: I64, mem: F32) -> None:
    """What a spike that comes now, after its targets', takes away from their eligibility."""
    targets, ltd = ints[TARGETS], np.float32(-hyper[LTD])
    penalty, meta = mem[ints[PENALTY] :][:targets], mem[ints[META] :][:targets]
    trace = mem[ints[TRACE] + ints[SENSORY] :][:targets]
    for j in range(targets):
        penalty[j] = ltd * meta[j] * trace[j]


@kernel()
def _transmit(hyper: F64, ints: I64, mem: F32, plastic: bool) -> None:
    """The neurons that spiked reset and pay; their rows go to the targets."""
    spiked, resource, energy = ints[ints[SPIKED] :], mem[ints[RESOURCE] :], mem[ints[ENERGY] :]
    potential, count, stride = mem[ints[POTENTIAL] :], mem[ints[COUNT] :], ints[STRIDE]
    kept, cost = np.float32(1.0 - hyper[DEPRESSION]), np.float32(hyper[COST])
    w, f, current, penalty = ints[W], ints[F], ints[CURRENT], ints[PENALTY]
    before = ints[SENSORY] + ints[HIDDEN] if plastic else 0
    for k in range(ints[SPIKES]):
        i = spiked[k]
        add_row(mem, current, w + i * stride, resource[i], stride)
        if i < before:
            add_row(mem, f + i * stride, penalty, _1, stride)
        resource[i] *= kept
        energy[i] -= cost
        potential[i] = _0
        count[i] += _1


@kernel()
def _potentiate(hyper: F64, ints: I64, mem: F32) -> None:
    """Targets fired: their connections from neurons that fired shortly before become eligible."""
    sensory, stride, ltp = ints[SENSORY], ints[STRIDE], np.float32(hyper[LTP])
    spiked, recent, trace, meta = ints[ints[SPIKED] :], ints[ints[RECENT] :], mem[ints[TRACE] :], mem[ints[META] :]
    if ints[SPIKES] == 0 or spiked[ints[SPIKES] - 1] < sensory:
        return
    fired, blocks, count = ints[STEP], ints[ints[BLOCKS] :], 0
    for k in range(ints[SPIKES]):
        j = spiked[k] - sensory
        if j >= 0:
            if count == 0 or blocks[count - 1] != j - j % LANES:
                blocks[count] = j - j % LANES
                clear(mem, fired + blocks[count])
                count += 1
            mem[fired + j] = ltp / meta[j]
    for n in range(ints[RECENT_COUNT]):
        row, strength = ints[F] + recent[n] * stride, trace[recent[n]]
        for b in range(count):
            add_row(mem, row + blocks[b], fired + blocks[b], strength, LANES)


@kernel()
def _remember_spikes(hyper: F64, ints: I64, mem: F32) -> None:
    """End of a tick. Neurons with a trace are listed as recent, those with eligibility as warm."""
    before = ints[SENSORY] + ints[HIDDEN]
    keep, trace = np.float32(hyper[TRACE_DECAY]), mem[ints[TRACE] :]
    back, rest = np.float32(hyper[DEPRESSION_RECOVERY]), np.float32(hyper[RECOVERY])
    fade(mem, ints[TRACE], ints[RESOURCE], ints[ENERGY], keep, _OVER, back, rest, ints[rv.NODES])
    spiked, recent, n = ints[ints[SPIKED] :], ints[ints[RECENT] :], 0
    for k in range(ints[RECENT_COUNT]):
        recent[n] = recent[k]
        n += 1 if trace[recent[k]] > _0 else 0
    warm, heat, m = ints[ints[WARM] :], mem[ints[HEAT] :], ints[WARM_COUNT]
    for k in range(ints[SPIKES]):
        i = spiked[k]
        if i < before:
            recent[n], warm[m] = i, i
            n += 1 if trace[i] == _0 else 0
            m += 1 if heat[i] == _0 else 0
            heat[i] = _1
        trace[i] += _1
    ints[RECENT_COUNT], ints[WARM_COUNT] = n, m


@kernel()
def run_ticks(hyper: F64, ints: I64, mem: F32, rng: U64) -> None:
    """The ticks of one step; spikes are counted and eligibility gathered."""
    neurons, plastic = ints[rv.NODES], hyper[RATE] > 0.0
    for i in range(neurons):
        mem[ints[COUNT] + i] = _0
    for _ in range(ints[TICKS]):
        _integrate(hyper, ints, mem, rng)
        _fire(hyper, ints, mem)
        if plastic:
            _penalise(hyper, ints, mem)
            _potentiate(hyper, ints, mem)
        _transmit(hyper, ints, mem, plastic)
        _remember_spikes(hyper, ints, mem)
