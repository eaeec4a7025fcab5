"""NIR graphs are computed as their equations say, and as another library computes them."""

import copy
import itertools

import numpy as np
import pytest
from policy_files import bits, here, write_nir

from nematodebench.errors import UsageError
from nematodebench.policies.base import Body, Use
from nematodebench.policies.formats.nir_graph import Graph
from nematodebench.policies.neurons import KINDS
from nematodebench.policies.reading import read_policy

nir = pytest.importorskip("nir")
DT = 1e-4


def chain(*nodes, inputs=1, outputs=1):
    named = {"input": nir.Input(np.array([inputs]))} | {f"n{k}": node for k, node in enumerate(nodes)}
    named["output"] = nir.Output(np.array([outputs]))
    names = list(named)
    return nir.NIRGraph(nodes=named, edges=list(itertools.pairwise(names)))


def ones(value, n=1):
    return np.full(n, float(value))


def run(graph, inputs, dt=DT):
    made = Graph("graph", graph, dt)
    return [made.step(np.atleast_1d(np.asarray(value, dtype=float))).tolist() for value in inputs]


def lif(n, tau=1e-3):
    return nir.LIF(tau=ones(tau, n), r=ones(tau / DT, n), v_leak=ones(0, n), v_threshold=ones(1, n))


def cuba(n, tau=1e-3, rise=5e-4):
    return nir.CubaLIF(
        tau_syn=ones(rise, n), tau_mem=ones(tau, n), r=ones(tau / DT, n), v_leak=ones(0, n), v_threshold=ones(1, n),
        w_in=ones(rise / DT, n),
    )  # fmt: skip


def test_neurons_by_hand():
    # dt / tau = 1/4: 0 -> 1 -> 1.75; above 1.5 it fires and is set to 0.5 -> 1.375 -> 2.03 fires
    leaky = nir.LIF(tau=ones(4), r=ones(4), v_leak=ones(0), v_threshold=ones(1.5), v_reset=ones(0.5))
    assert run(chain(leaky), [1, 1, 1, 1, 0], dt=1) == [[0], [1], [0], [1], [0]]
    assert run(chain(nir.IF(r=ones(2), v_threshold=ones(3))), [1, 1, 1, 1], dt=1) == [[0], [1], [0], [1]]
    assert run(chain(nir.I(r=ones(2))), [1, 1, -3], dt=0.5) == [[1], [2], [-1]]
    assert run(chain(nir.LI(tau=ones(2), r=ones(1), v_leak=ones(1))), [0, 4, 0], dt=1) == [[1], [3], [2]]
    current = nir.CubaLI(tau_syn=ones(2), tau_mem=ones(2), r=ones(1), v_leak=ones(0), w_in=ones(2))
    assert run(chain(current), [2, 0], dt=1) == [[1], [1]]  # i: 2, 1; v: 1, 1
    assert run(chain(nir.Scale(ones(3)), nir.Threshold(ones(4))), [1, 2], dt=1) == [[0], [1]]


@pytest.mark.parametrize("neurons", [lif, cuba])
def test_spikes_are_those_of_snntorch(neurons):
    torch = pytest.importorskip("torch")
    reader = pytest.importorskip("snntorch.import_nir")
    numbers = np.random.default_rng(0)
    first = nir.Affine(numbers.normal(0, 0.5, (8, 5)).astype("f4"), numbers.normal(0, 0.1, 8).astype("f4"))
    second = nir.Linear(numbers.normal(0, 0.5, (4, 8)).astype("f4"))
    graph = chain(first, neurons(8), second, neurons(4), inputs=5, outputs=4)
    theirs, ours = reader.import_from_nir(copy.deepcopy(graph)), Graph("graph", graph, DT)
    state, spikes = None, 0.0
    for seen in numbers.normal(size=(150, 5)).astype("f4"):
        wanted, state = theirs(torch.from_numpy(seen[None]), state)
        found = ours.step(seen.astype(np.float64))
        assert found.tolist() == wanted[0].tolist()
        spikes += found.sum()
    assert spikes > 20


def test_a_loop_hands_on_what_was_in_the_step_before():
    nodes = {
        "input": nir.Input(np.array([1])), "sum": nir.Scale(ones(1)), "back": nir.Scale(ones(0.5)),
        "output": nir.Output(np.array([1])),
    }  # fmt: skip
    edges = [("input", "sum"), ("sum", "output"), ("sum", "back"), ("back", "sum")]
    assert run(nir.NIRGraph(nodes=nodes, edges=edges), [1, 0, 0]) == [[1], [0.5], [0.25]]


def test_potentials_last_from_tick_to_tick_and_end_with_the_episode(tmp_path):
    slow = nir.LI(tau=ones(1e-2, 2), r=ones(1, 2), v_leak=ones(0, 2))
    source = write_nir(tmp_path / "net.nir", np.eye(2, dtype="f4"), np.zeros(2, dtype="f4"), slow)
    policy = read_policy(source, Use(Body(2, 0, 2), steps=3))
    seen = np.array([1.0, 0.5], dtype=np.float32)
    policy.begin_episode()
    first, twin = policy.act(seen).tolist(), copy.deepcopy(policy)
    second = policy.act(seen).tolist()
    assert second[0] > first[0] == 2 * first[1]
    assert twin.act(seen).tolist() == second
    policy.begin_episode()
    assert policy.act(seen).tolist() == first


def test_a_spiking_policy_is_scored_with_the_same_bits_twice(tmp_path):
    weight = np.array([[0, 0, 3, 0, 0], [0, -3, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, 0, 0, 0]], dtype="f4")
    source = write_nir(tmp_path / "net.nir", weight, np.zeros(4, dtype="f4"), lif(4))
    first = here(source, episodes=4, steps=20)
    assert bits(first) == bits(here(source, episodes=4, steps=20))
    assert first.metrics.success_rate.mean > 0.5


def test_a_node_that_is_not_computed_is_named(tmp_path):
    delay = nir.Delay(ones(1))
    with pytest.raises(UsageError, match=r"node 'n0' is of the kind Delay, and these are computed: Affine"):
        Graph("graph", chain(delay), DT)
    assert "Delay" not in KINDS
