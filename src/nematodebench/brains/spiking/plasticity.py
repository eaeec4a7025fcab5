"""How `spiking_rstdp` decides and learns: votes of the motor populations, dopamine, and the slow mechanisms."""

import numpy as np

from nematodebench.brains.parts import reservoir as rv
from nematodebench.brains.parts.heads import write_action
from nematodebench.brains.spiking import network as net
from nematodebench.brains.spiking.rows import learn_row
from nematodebench.kernels.jit import F32, F32M, F64, I64, U64, kernel
from nematodebench.kernels.math import exp32
from nematodebench.kernels.rng import uniform

__all__ = ["adapt", "change_weights", "choose", "count_votes", "dopamine", "remember_action"]

# Words of the scalars.
BIAS, POWER = 0, 1
_0, _1 = np.float32(0.0), np.float32(1.0)
_COLD = np.float32(0.02)
_THRESHOLDS = np.float32(0.1), np.float32(20.0)
_SLOW = np.float32(0.01)


@kernel()
def count_votes(ints: I64, mem: F32) -> None:
    """Spikes of the excitatory neurons of every motor population."""
    first, per = ints[net.SENSORY] + ints[net.HIDDEN], ints[net.PER_OUTPUT]
    for n in range(ints[net.OUTPUTS]):
        total = _0
        for m in range(first + n * per, first + (n + 1) * per):
            if mem[ints[net.SIGN] + m] > _0:
                total += mem[ints[net.COUNT] + m]
        mem[ints[net.VOTES] + n] = total


@kernel()
def _gate(ints: I64, mem: F32, output: int, value: np.float32) -> None:
    at = ints[net.GATE] + ints[net.HIDDEN] + output * ints[net.PER_OUTPUT]
    for m in range(ints[net.PER_OUTPUT]):
        mem[at + m] = value


@kernel()
def choose(hyper: F64, ints: I64, mem: F32, rng: U64, head: int, action: F32M) -> None:
    """Draws a level, the likelier the more its population spiked; feedback of what was chosen gates eligibility."""
    levels, first = ints[net.LEVELS], head * ints[net.LEVELS]
    votes, top, total = mem[ints[net.VOTES] + first :][:levels], mem[ints[net.VOTES] + first], _0
    for n in range(1, levels):
        top = max(top, votes[n])
    for n in range(levels):
        votes[n] = exp32((votes[n] - top) / np.float32(hyper[net.TEMPERATURE]))
        total += votes[n]
    left, chosen = np.float32(uniform(rng)) * total, levels - 1
    for n in range(levels - 1, -1, -1):
        left -= votes[n]
        if left < _0:
            chosen = n
            break
    for n in range(levels):
        picked = _1 if n == chosen else _0
        mem[ints[net.PICKED] + first + n] = picked
        _gate(ints, mem, first + n, picked - votes[n] / total)
    write_action(action, head, ints[rv.EFFECTORS] > 0, chosen, levels)


@kernel()
def _value(ints: I64, mem: F32, rates: int) -> np.float32:
    """What is to be expected, by the sensory cells' rates."""
    total: np.float32 = mem[ints[net.SCALARS] + BIAS]
    for c in range(ints[net.SENSED]):
        total += mem[ints[net.VALUE] + c] * mem[rates + c]
    return total


@kernel()
def _novelty(hyper: F64, ints: I64, mem: F32) -> float:
    """Bonus for cells that seldom answered; they habituate."""
    seen, new = 1e-6, 0.0
    for c in range(ints[net.SENSED]):
        rate, novelty = mem[ints[net.NEXT] + c], mem[ints[net.NOVELTY] + c]
        seen += rate
        new += rate * novelty
        mem[ints[net.NOVELTY] + c] = max(novelty * (_1 - _SLOW * rate), net.LEAST)
    return float(hyper[net.CURIOSITY] * new / seen)


@kernel()
def dopamine(hyper: F64, ints: I64, mem: F32, out: F64) -> np.float32:
    """Reward minus what was expected, within [-1, 1]; the expectation learns from it."""
    reward = out[2]
    if hyper[net.CURIOSITY] > 0.0:
        reward += _novelty(hyper, ints, mem)
    ahead = 0.0 if out[0] != 0.0 else hyper[net.GAMMA] * _value(ints, mem, ints[net.NEXT])
    surprise = np.float32(min(max(reward + ahead - _value(ints, mem, ints[net.DRIVE]), -1.0), 1.0))
    power = _1
    for c in range(ints[net.SENSED]):
        power += mem[ints[net.DRIVE] + c] * mem[ints[net.DRIVE] + c]
    mem[ints[net.SCALARS] + POWER] = power
    step = np.float32(hyper[net.VALUE_RATE]) * surprise / power
    for c in range(ints[net.SENSED]):
        mem[ints[net.VALUE] + c] += step * mem[ints[net.DRIVE] + c]
    mem[ints[net.SCALARS] + BIAS] += np.float32(hyper[net.EXPECTATION_RATE]) * surprise
    return surprise


@kernel()
def remember_action(ints: I64, mem: F32, surprise: np.float32) -> None:
    """Working memory: what was done moves into the first slot, strong if it went better than expected."""
    outputs, memory = ints[net.OUTPUTS], mem[ints[net.MEMORY] :]
    if ints[net.SLOTS] == 0:
        return
    for k in range(ints[net.SLOTS] * outputs - 1, outputs - 1, -1):
        memory[k] = memory[k - outputs]
    strength = _1 if surprise > _0 else np.float32(0.5)
    for n in range(outputs):
        memory[n] = strength * mem[ints[net.PICKED] + n]


@kernel()
def _unusual(hyper: F64, ints: I64, mem: F32, i: int) -> np.float32:
    """Share of a neuron's spikes that is beyond what it usually fires, negative if it fired less."""
    usual = np.float32(hyper[net.HABITUATION]) * mem[ints[net.USUAL] + i]
    return max(_1 - usual / max(mem[ints[net.COUNT] + i], _1), -_1)


@kernel()
def _prepare_steps(hyper: F64, ints: I64, mem: F32, surprise: np.float32) -> None:
    """How far weights to each target move by their eligibility: dopamine, if the target has energy for it."""
    power, full = mem[ints[net.SCALARS] + POWER], np.float32(hyper[net.GAIN] * ints[net.TICKS]) + _COLD
    for i in range(ints[net.SENSORY], ints[net.SENSORY] + ints[net.HIDDEN]):
        power += (mem[ints[net.COUNT] + i] / full) * (mem[ints[net.COUNT] + i] / full)
    amount = np.float32(hyper[net.RATE]) * surprise / power
    energy, step = mem[ints[net.ENERGY] + ints[net.SENSORY] :], mem[ints[net.STEP] :]
    for j in range(ints[net.TARGETS]):
        step[j] = amount * energy[j]


@kernel()
def change_weights(hyper: F64, ints: I64, mem: F32, surprise: np.float32) -> None:
    """Dopamine turns eligibility into weights; rows whose eligibility has faded go cold."""
    _prepare_steps(hyper, ints, mem, surprise)
    w, e, f, gate, stride = ints[net.W], ints[net.E], ints[net.F], ints[net.GATE], ints[net.STRIDE]
    keep, limit = np.float32(hyper[net.LAMBDA]), np.float32(hyper[net.LIMIT])
    cooling = np.float32(min(max(hyper[net.LAMBDA], 0.2), 0.99))
    warm, heat, n = ints[ints[net.WARM] :], mem[ints[net.HEAT] :], 0
    for k in range(ints[net.WARM_COUNT]):
        i, part = warm[k], _unusual(hyper, ints, mem, warm[k])
        low, high = (net.LEAST, limit) if mem[ints[net.SIGN] + i] > _0 else (-limit, -net.LEAST)
        at = i * stride
        learn_row(mem, w + at, e + at, f + at, gate, ints[net.STEP], keep, part, low, high, stride)
        heat[i] *= cooling
        warm[n] = i
        if heat[i] > _COLD:
            n += 1
        else:
            heat[i] = _0
            for j in range(stride):
                mem[e + at + j] = _0
    ints[net.WARM_COUNT] = n


@kernel()
def _balance(hyper: F64, ints: I64, mem: F32) -> None:
    """Inhibitory neurons that fired grip targets harder that fire too much, and the others less."""
    targets, ticks, limit = ints[net.TARGETS], np.float32(ints[net.TICKS]), np.float32(hyper[net.LIMIT])
    count, excess = mem[ints[net.COUNT] + ints[net.SENSORY] :][:targets], mem[ints[net.STEP] :][:targets]
    speed, target = np.float32(hyper[net.INHIBITORY_RATE]) / ticks, np.float32(hyper[net.TARGET_RATE])
    for j in range(targets):
        excess[j] = speed * (count[j] / ticks - target)
    for i in range(ints[rv.NODES]):
        spikes = mem[ints[net.COUNT] + i]
        if spikes > _0 and mem[ints[net.SIGN] + i] < _0:
            w = mem[ints[net.W] + i * ints[net.STRIDE] :][:targets]
            for j in range(targets):
                moved = min(max(w[j] - spikes * excess[j], -limit), -net.LEAST)
                w[j] = moved if w[j] != _0 else _0


@kernel()
def adapt(hyper: F64, ints: I64, mem: F32) -> None:
    """The slow mechanisms, once a step: inhibition, thresholds, and how readily a neuron's connections change."""
    ticks, target = np.float32(ints[net.TICKS]), np.float32(hyper[net.TARGET_RATE])
    if hyper[net.INHIBITORY_RATE] > 0.0:
        _balance(hyper, ints, mem)
    usual, spikes = mem[ints[net.USUAL] :][: ints[rv.NODES]], mem[ints[net.COUNT] :][: ints[rv.NODES]]
    for i in range(ints[rv.NODES]):
        usual[i] += _SLOW * (spikes[i] - usual[i])
    targets, first = ints[net.TARGETS], ints[net.SENSORY]
    count, threshold = spikes[first:], mem[ints[net.THRESHOLD] + first :][:targets]
    meta, slide = mem[ints[net.META] :][:targets], np.float32(hyper[net.META_GAIN])
    speed = np.float32(hyper[net.HOMEOSTASIS])
    for j in range(targets):
        rate = count[j] / ticks
        threshold[j] = min(max(threshold[j] + speed * (rate - target), _THRESHOLDS[0]), _THRESHOLDS[1])
        meta[j] += _SLOW * (_1 + slide * rate * rate - meta[j])
