"""How the spiking network of `spiking_rstdp` fires, and what its spikes leave behind for learning, tick by tick."""

import numpy as np

from nematodebench.brains.parts.liveness import Liveness, count_active
from nematodebench.brains.spiking.network import Network
from nematodebench.brains.spiking.rows import add_block, add_row, clear_block, crossings, fade, lowest_bit
from nematodebench.kernels.jit import U64, inlined
from nematodebench.kernels.rng import next_u64
from nematodebench.kernels.vectors import LANES

__all__ = ["run_ticks"]

# What fades is cut off here: numbers too small to be normal cost the processor a hundred times as much.
_FADED, _OVER = np.float32(1e-6), np.float32(0.05)
_WORD = 64
_0, _1, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)
_ONE, _PIECE, _SHIFT, _NOISE_UNIT = np.uint64(1), np.uint64(0xFFFF), np.uint64(16), np.float32(1.0 / 65536.0)


@inlined
def _integrate(net: Network, rng: U64) -> None:
    """Membranes leak and take up what came in; motor neurons hear noise."""
    keep, gain, noise = np.float32(1.0 - net.leak), np.float32(net.gain), np.float32(2.0 * net.noise)
    potential, drive, current = net.potential, net.drive, net.current
    for i in range(net.sensory):
        potential[i] += gain * drive[i]
    body = potential[net.sensory : net.neurons]
    for j in range(net.targets):
        level = max(keep * body[j] + current[j], -_1)
        body[j] = level if abs(level) > _FADED else _0
        current[j] = _0
    if noise > _0:
        motor, word = body[net.hidden :], np.uint64(0)
        for m in range(motor.size):
            word = next_u64(rng) if m % 4 == 0 else word >> _SHIFT
            motor[m] += noise * (np.float32(word & _PIECE) * _NOISE_UNIT - _HALF)


@inlined
def _fire(net: Network) -> None:
    """Lists the neurons above threshold that have the energy for a spike."""
    potential, threshold, energy, spiked = net.potential, net.threshold, net.energy, net.spiked
    cost, n = np.float32(net.energy_cost), 0
    for start in range(0, net.neurons, _WORD):
        above = np.uint64(0)
        for part in range(0, min(_WORD, net.neurons - start), LANES):
            above |= crossings(potential, threshold, start + part) << np.uint64(part)
        while above:
            i = start + lowest_bit(above)
            above &= above - _ONE
            spiked[n] = i
            n += 1 if energy[i] >= cost else 0
    net.spikes = n


@inlined
def _penalise(net: Network) -> None:
    """What a spike that comes now, after its targets', takes away from their eligibility."""
    ltd, penalty, meta = np.float32(-net.stdp_ltd), net.penalty, net.meta
    trace = net.trace[net.sensory : net.neurons]
    for j in range(net.targets):
        penalty[j] = ltd * meta[j] * trace[j]


@inlined
def _potentiate(net: Network) -> None:
    """Targets fired: their connections from neurons that fired shortly before become eligible."""
    spiked, recent, trace, meta, fresh = net.spiked, net.recent, net.trace, net.meta, net.fresh
    if net.spikes == 0 or spiked[net.spikes - 1] < net.sensory:
        return
    ltp, fired, blocks, count = np.float32(net.stdp_ltp), net.fired, net.blocks, 0
    for k in range(net.spikes):
        j = spiked[k] - net.sensory
        if j >= 0:
            if count == 0 or blocks[count - 1] != j - j % LANES:
                blocks[count] = j - j % LANES
                clear_block(fired, blocks[count])
                count += 1
            fired[j] = ltp / meta[j]
    for n in range(net.recent_count):
        row, strength = fresh[recent[n]], trace[recent[n]]
        for b in range(count):
            add_block(row, fired, blocks[b], strength)


@inlined
def _transmit(net: Network, plastic: bool) -> None:
    """The neurons that spiked reset and pay; their rows go to the targets."""
    spiked, resource, energy, potential, count = net.spiked, net.resource, net.energy, net.potential, net.count
    weights, fresh, current, penalty = net.weights, net.fresh, net.current, net.penalty
    kept, cost = np.float32(1.0 - net.depression), np.float32(net.energy_cost)
    learning = net.first_motor if plastic else 0
    for k in range(net.spikes):
        i = spiked[k]
        add_row(current, weights[i], resource[i])
        if i < learning:
            add_row(fresh[i], penalty, _1)
        resource[i] *= kept
        energy[i] -= cost
        potential[i] = _0
        count[i] += _1


@inlined
def _remember_spikes(net: Network) -> None:
    """End of a tick. Neurons with a trace are listed as recent, those with eligibility as warm."""
    spiked, recent, warm, trace, heat = net.spiked, net.recent, net.warm, net.trace, net.heat
    back, rest = np.float32(net.depression_recovery), np.float32(net.energy_recovery)
    fade(trace, net.resource, net.energy, np.float32(net.trace_decay), _OVER, back, rest)
    n, m = 0, net.warm_count
    for k in range(net.recent_count):
        recent[n] = recent[k]
        n += 1 if trace[recent[k]] > _0 else 0
    for k in range(net.spikes):
        i = spiked[k]
        if i < net.first_motor:
            recent[n], warm[m] = i, i
            n += 1 if trace[i] == _0 else 0
            m += 1 if heat[i] == _0 else 0
            heat[i] = _1
        trace[i] += _1
    net.recent_count, net.warm_count = n, m


@inlined
def run_ticks(net: Network, liveness: Liveness, plastic: bool, rng: U64) -> None:
    """The ticks of one step; spikes are counted and, if the network is ``plastic``, eligibility is gathered."""
    for i in range(net.neurons):
        net.count[i] = _0
    for _ in range(net.ticks):
        _integrate(net, rng)
        _fire(net)
        count_active(liveness, net.spikes)
        if plastic:
            _penalise(net)
            _potentiate(net)
        _transmit(net, plastic)
        _remember_spikes(net)
