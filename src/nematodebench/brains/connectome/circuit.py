"""A circuit: neurons with chemical synapses, gap junctions and inputs, as one sparse matrix whose weights are learned.

A gap junction of conductance g between two neurons carries g x (their difference), so that it has four entries in the
matrix: g for each side, -g in both places of a neuron with itself. Inputs are columns behind those of the neurons.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nematodebench.brains.connectome.wiring import read_wiring
from nematodebench.brains.parts.cells import Cell
from nematodebench.kernels.jit import F32, F32M, I64, U64, accessor, kernel
from nematodebench.kernels.memory import constants, counter, floats, size, words
from nematodebench.kernels.rng import normal, randint, uniform
from nematodebench.kernels.sparse import sum_lanes
from nematodebench.kernels.vectors import LANES, padded

__all__ = ["Circuit", "connect", "draw_weights", "leaks", "offsets", "renew_weights", "rewire", "spread_gradients"]

_SWAPS_PER_EDGE = 10
_FRESH_CONDUCTANCE = 0.3


class Circuit(Cell):
    """Edges as lists, and the matrix they make: entries by row for forwards, by column for back.

    Parameters lie in this order: chemical weights, roots of conductances, input weights, offsets, leaks.
    """

    neurons = size()
    nodes = size()
    chemicals = size()
    gaps = size()
    receptors = size()
    entries = size()
    backs = size()
    pre = words("chemicals")
    post = words("chemicals", scratch=True)
    left = words("gaps", scratch=True)
    right = words("gaps")
    sensory = words("receptors", scratch=True)
    motor = words("true_units", scratch=True)
    sections = constants("chemicals")
    gap_sections = constants("gaps")
    renewed = counter(scratch=True)
    row = words("entries", scratch=True)
    column = words("entries", scratch=True)
    place = words("entries", scratch=True)
    first = words("neurons + 1", scratch=True)
    columns = words("entries", scratch=True)
    back_place = words("backs", scratch=True)
    back_first = words("neurons + 1", scratch=True)
    back_columns = words("backs", scratch=True)
    weights = floats("entries", scratch=True)
    back_weights = floats("backs", scratch=True)
    sums = floats("entries", LANES, scratch=True)
    strength = floats("neurons", scratch=True)
    taken = floats("neurons", "neurons", scratch=True)

    @classmethod
    def shape(cls, inputs: int, config: Any) -> Mapping[str, Any]:
        """The sizes and lists of the worm's wiring."""
        wiring = read_wiring()
        neurons, chemicals, gaps = len(wiring.names), len(wiring.pre), len(wiring.left)
        backs = chemicals + 2 * gaps + neurons
        from_inputs = len(wiring.sensory) * inputs
        return {
            "neurons": neurons, "nodes": neurons + inputs, "state": neurons, "chemicals": chemicals, "gaps": gaps,
            "receptors": len(wiring.sensory), "units": padded(len(wiring.motor)), "true_units": len(wiring.motor),
            "count": padded(chemicals + gaps + from_inputs + 2 * neurons), "entries": backs + from_inputs,
            "backs": backs, "pre": wiring.pre, "post": wiring.post, "left": wiring.left, "right": wiring.right,
            "sensory": wiring.sensory, "motor": wiring.motor, "sections": wiring.sections,
            "gap_sections": wiring.gap_sections,
        }  # fmt: skip


@accessor
def offsets(cell: Circuit, flat: F32) -> F32:
    """A constant drive for every neuron."""
    start = cell.chemicals + cell.gaps + cell.receptors * cell.inputs
    return flat[start : start + cell.neurons]


@accessor
def leaks(cell: Circuit, flat: F32) -> F32:
    """The logit of the share by which a neuron follows its drive in one tick."""
    start = cell.chemicals + cell.gaps + cell.receptors * cell.inputs + cell.neurons
    return flat[start : start + cell.neurons]


@kernel()
def rewire(cell: Circuit, rng: U64) -> None:
    """Exchanges ends of edges at random: every neuron keeps the number of its edges in, out and by gap junctions.

    Two chemical edges exchange where they come from, two junctions their right sides, unless such an edge exists or
    would lead a neuron to itself. Edges of a neuron to itself stay.
    """
    pre, post, left, right, taken = cell.pre, cell.post, cell.left, cell.right, cell.taken
    _mark(taken, pre, post)
    for _ in range(_SWAPS_PER_EDGE * cell.chemicals):
        k, m = randint(rng, cell.chemicals), randint(rng, cell.chemicals)
        a, b, c, d = pre[k], post[k], pre[m], post[m]
        loops = a in (b, d) or c in (b, d)
        if not loops and taken[a, d] == 0.0 and taken[c, b] == 0.0:
            taken[a, b], taken[c, d], taken[a, d], taken[c, b] = 0.0, 0.0, 1.0, 1.0
            pre[k], pre[m] = c, a
    _mark(taken, left, right)
    for _ in range(_SWAPS_PER_EDGE * cell.gaps):
        k, m = randint(rng, cell.gaps), randint(rng, cell.gaps)
        a, b, c, d = left[k], right[k], left[m], right[m]
        free = taken[a, d] == 0.0 and taken[d, a] == 0.0 and taken[c, b] == 0.0 and taken[b, c] == 0.0
        if a != d and c != b and free:
            taken[a, b], taken[c, d], taken[a, d], taken[c, b] = 0.0, 0.0, 1.0, 1.0
            right[k], right[m] = d, b


@kernel()
def _mark(taken: F32M, source: I64, target: I64) -> None:
    taken[:] = np.float32(0.0)
    for k in range(source.size):
        taken[source[k], target[k]] = np.float32(1.0)


@kernel()
def connect(cell: Circuit) -> None:
    """Makes the matrix of the edges: first which entries there are, then their places by row and by column."""
    chemicals, gaps = cell.chemicals, cell.gaps
    for k in range(chemicals):
        cell.row[k], cell.column[k] = cell.post[k], cell.pre[k]
    for k in range(gaps):
        there, back = chemicals + k, chemicals + gaps + k
        cell.row[there], cell.column[there] = cell.left[k], cell.right[k]
        cell.row[back], cell.column[back] = cell.right[k], cell.left[k]
    for n in range(cell.neurons):
        own = chemicals + 2 * gaps + n
        cell.row[own], cell.column[own] = n, n
    for k in range(cell.receptors):
        for i in range(cell.inputs):
            entry = cell.backs + k * cell.inputs + i
            cell.row[entry], cell.column[entry] = cell.sensory[k], cell.neurons + i
    _sort_entries(cell.row, cell.column, cell.first, cell.place, cell.columns)
    backs = cell.backs
    _sort_entries(cell.column[:backs], cell.row[:backs], cell.back_first, cell.back_place, cell.back_columns)
    cell.renewed = -1


@kernel()
def _sort_entries(key: I64, other: I64, first: I64, place: I64, ordered: I64) -> None:
    """Places of entries that are sorted by ``key``, in the order of the list where it is equal."""
    first[:] = 0
    for e in range(key.size):
        first[key[e] + 1] += 1
    for n in range(first.size - 1):
        first[n + 1] += first[n]
    for e in range(key.size):
        place[e] = first[key[e]]
        ordered[place[e]] = other[e]
        first[key[e]] += 1
    for back in range(first.size - 1):
        n = first.size - 1 - back
        first[n] = first[n - 1]
    first[0] = 0


@kernel()
def draw_weights(cell: Circuit, gain: float, rng: U64) -> None:
    """A fresh circuit: signs are drawn, for the data has none; an edge is as strong as its sections make it.

    The drive of a neuron by its chemical edges has the variance ``gain`` squared if all others are at 1.
    """
    flat, strength = cell.parameters, cell.strength
    strength[:] = np.float32(0.0)
    for k in range(cell.chemicals):
        strength[cell.post[k]] += np.float32(cell.sections[k])
    for k in range(cell.chemicals):
        share = cell.sections[k] / np.float64(strength[cell.post[k]])
        flat[k] = np.float32(gain * normal(rng) * np.sqrt(share))
    strength[:] = np.float32(0.0)
    for k in range(cell.gaps):
        strength[cell.left[k]] += np.float32(cell.gap_sections[k])
        strength[cell.right[k]] += np.float32(cell.gap_sections[k])
    for k in range(cell.gaps):
        share = cell.gap_sections[k] / np.float64(max(strength[cell.left[k]], strength[cell.right[k]]))
        flat[cell.chemicals + k] = np.float32(np.sqrt(_FRESH_CONDUCTANCE * share))
    for n in range(cell.receptors * cell.inputs):
        flat[cell.chemicals + cell.gaps + n] = np.float32(normal(rng) / np.sqrt(np.float64(cell.inputs)))
    leak = leaks(cell, flat)
    for n in range(cell.neurons):
        leak[n] = np.float32(3.0 * uniform(rng) - 1.0)


@kernel()
def renew_weights(cell: Circuit) -> None:
    """Gives the matrix the parameters of now."""
    if cell.renewed == cell.adam.steps:
        return
    cell.renewed = cell.adam.steps
    flat, weights, place = cell.parameters, cell.weights, cell.place
    chemicals, gaps, own = cell.chemicals, cell.gaps, cell.strength
    own[:] = np.float32(0.0)
    for k in range(chemicals):
        weights[place[k]] = flat[k]
    for k in range(gaps):
        conductance = flat[chemicals + k] * flat[chemicals + k]
        weights[place[chemicals + k]] = conductance
        weights[place[chemicals + gaps + k]] = conductance
        own[cell.left[k]] -= conductance
        own[cell.right[k]] -= conductance
    for n in range(cell.neurons):
        weights[place[chemicals + 2 * gaps + n]] = own[n]
    for n in range(cell.receptors * cell.inputs):
        weights[place[cell.backs + n]] = flat[chemicals + gaps + n]
    for e in range(cell.backs):
        cell.back_weights[cell.back_place[e]] = weights[place[e]]


@kernel()
def spread_gradients(cell: Circuit) -> None:
    """From the gradients by the entries of the matrix, lane by lane in ``sums``, to those of the parameters."""
    flat, gradients, place, sums = cell.parameters, cell.gradients, cell.place, cell.sums
    chemicals, gaps = cell.chemicals, cell.gaps
    own = chemicals + 2 * gaps
    for k in range(chemicals):
        gradients[k] = sum_lanes(sums[place[k]])
    for n in range(cell.neurons):
        cell.strength[n] = sum_lanes(sums[place[own + n]])
    for k in range(gaps):
        across = sum_lanes(sums[place[chemicals + k]]) + sum_lanes(sums[place[chemicals + gaps + k]])
        by_conductance = across - cell.strength[cell.left[k]] - cell.strength[cell.right[k]]
        gradients[chemicals + k] = np.float32(2.0) * flat[chemicals + k] * by_conductance
    for n in range(cell.receptors * cell.inputs):
        gradients[chemicals + gaps + n] = sum_lanes(sums[place[cell.backs + n]])
