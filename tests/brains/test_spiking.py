"""The spiking brain: its wiring, each of its mechanisms, what an episode resets, and that it learns."""

import numpy as np
import pytest
from brain_life import Life, discrete, effectors

from nematodebench.brains.parts import reservoir as rv
from nematodebench.brains.registry import get_brain
from nematodebench.brains.spiking import network as net
from nematodebench.brains.spiking.spiking_rstdp import SpikingRstdp, SpikingRstdpConfig
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.measures.anchored import ANCHORED
from nematodebench.search.space import switches
from nematodebench.search.target import brain_target
from nematodebench.search.verdict import search_seeds
from nematodebench.stats import compare
from nematodebench.tasks.base import Phase, Task
from nematodebench.worlds.cognition.association import Association
from nematodebench.worlds.grid.gridworld import Gridworld
from nematodebench.worlds.worm.foraging import Foraging

OTHER = {
    "cells": 3, "hidden": 0, "motor": 6, "ticks": 5, "slots": 0, "inhibitory": 0.0, "density": 0.5, "temperature": 0.5,
    "gamma": 0.0,
}  # fmt: skip
OFF = {
    "THRESHOLD": ("homeostasis", 1.0),
    "META": ("metaplasticity", 1.0),
    "RESOURCE": ("depression", 1.0),
    "ENERGY": ("energy_cost", 1.0),
    "NOVELTY": ("curiosity", 1.0),
    "VALUE": ("value_rate", 0.0),
    "SIGN": ("inhibitory", 1.0),
}


def run(world, episodes, seed=1, brain="spiking_rstdp", **config):
    phases = (Phase("train", world, episodes=episodes),)
    task = Task("x-v9", "", phases, scored="train", scoring=ANCHORED, score_key="reward")
    compile_for(task, get_brain(brain))
    result = execute(RunSpec(task, brain, get_brain(brain), get_brain(brain).config(**config), seed))
    assert result.failure is None
    return result


def rewards(world, episodes, seeds, brain="spiking_rstdp", **config):
    """Mean reward of an episode in the last third of every run."""
    runs = [run(world, episodes, seed, brain, **config).records["train"][:, 0] for seed in seeds]
    return np.array([reward[-(episodes // 3) :].mean() for reward in runs])


def lived(steps=200, body=None, seed=1, **config):
    life = Life("spiking_rstdp", body or discrete(), seed, **config)
    life.live(steps, np.random.default_rng(0))
    return life


def part(life, word, width=None):
    places = sorted(int(life.ints[w]) for w in range(net.FIRST_PLACE, net.WORDS))
    start = int(life.ints[getattr(net, word)])
    sizes = {"SIGN": rv.NODES, "ENERGY": rv.NODES, "RESOURCE": rv.NODES, "COUNT": rv.NODES, "TRACE": rv.NODES}
    sizes |= dict.fromkeys(["THRESHOLD", "META", "GATE"], net.TARGETS) | dict.fromkeys(["NOVELTY", "VALUE"], net.SENSED)
    if word in sizes:
        return life.mem[start : start + life.ints[sizes[word]]]
    end = next((place for place in places if place > start), life.mem.size)
    return life.mem[start:end][:width]


def matrix(life, word):
    start, shape = life.ints[getattr(net, word)], (life.ints[rv.NODES], life.ints[net.STRIDE])
    return life.mem[start : start + shape[0] * shape[1]].reshape(shape)[:, : life.ints[net.TARGETS]]


def layers(life):
    sensory, hidden = life.ints[net.SENSORY], life.ints[net.HIDDEN]
    sign = part(life, "SIGN")
    return sign[:sensory], sign[sensory : sensory + hidden], sign[sensory + hidden :]


def test_a_fifth_of_every_layer_is_inhibitory():
    shares = [(layer < 0).mean() for layer in layers(Life("spiking_rstdp", discrete()))]
    assert shares == pytest.approx([0.2] * 3, abs=0.04)


def test_about_a_hundred_neurons_on_a_worm():
    assert Life("spiking_rstdp", discrete(), slots=0).ints[rv.NODES] == 100


def test_weights_keep_their_sign_and_bounds():
    life = lived(learning_rate=1.0, inhibitory_rate=0.1, weight_limit=0.4, hidden_rate=1.0)
    signed = matrix(life, "W") * part(life, "SIGN")[:, None]
    assert signed.min() >= 0.0
    assert signed.max() == pytest.approx(0.4)


def test_no_connection_comes_from_nothing():
    before = matrix(Life("spiking_rstdp", discrete(), hidden_rate=1.0, learning_rate=1.0), "W") == 0.0
    after = matrix(lived(hidden_rate=1.0, learning_rate=1.0, inhibitory_rate=0.1), "W") == 0.0
    np.testing.assert_array_equal(before, after)


@pytest.fixture(scope="module")
def usual():
    return run(Association(), 12)


@pytest.mark.parametrize("name", [name for name in SpikingRstdpConfig.model_fields if name != "levels"])
def test_every_parameter_changes_what_is_done(usual, name):
    default = getattr(SpikingRstdpConfig(), name)
    other = run(Association(), 12, **{name: OTHER.get(name, default / 2)})
    assert usual.record_hash != other.record_hash


def test_an_effector_takes_so_many_values():
    def values(levels):
        life, done, senses = Life("spiking_rstdp", effectors(), levels=levels), set(), np.random.default_rng(0)
        for _ in range(200):
            done |= {float(value) for value in life.act(senses.random(life.body.inputs))}
        return done

    assert values(2) == {0.0, 1.0}
    assert values(3) == {0.0, 0.5, 1.0}


def test_every_mechanism_can_be_switched_off():
    required = {
        "slots", "inhibitory", "noise", "depression", "energy_cost", "learning_rate", "hidden_rate", "stdp_ltd",
        "eligibility_decay", "curiosity", "metaplasticity", "inhibitory_rate", "homeostasis", "habituation",
    }  # fmt: skip
    off = switches("spiking_rstdp", SpikingRstdp)
    assert required <= set(off)
    for name, value in off.items():
        assert value == 0
        assert run(Association(), 2, **{name: value}).record_hash


def test_a_crowd_of_senses_shares_one_drive():
    def drive(**config):
        life = Life("spiking_rstdp", discrete(), **config)
        life.act(np.ones(5))
        return part(life, "DRIVE")

    alone, shared = drive(crowd=1000), drive(crowd=2)
    assert alone.sum() > 2.0
    assert shared.sum() == pytest.approx(2.0)
    np.testing.assert_allclose(shared / shared.sum(), alone / alone.sum(), rtol=1e-5)


@pytest.mark.parametrize(("word", "parameter", "rest"), [(word, *how) for word, how in OFF.items()])
def test_a_mechanism_leaves_rest_only_if_it_is_on(word, parameter, rest):
    assert (part(lived(), word) != rest).any()
    assert (part(lived(**{parameter: 0.0}), word) == rest).all()


def test_without_learning_and_inhibitory_plasticity_no_weight_moves():
    before = matrix(Life("spiking_rstdp", discrete()), "W")
    np.testing.assert_array_equal(before, matrix(lived(learning_rate=0, inhibitory_rate=0), "W"))
    assert (before != matrix(lived(learning_rate=0), "W")).any()
    assert (before != matrix(lived(inhibitory_rate=0), "W")).any()


def test_hidden_neurons_can_be_fixed():
    hidden = SpikingRstdpConfig().hidden
    before = matrix(Life("spiking_rstdp", discrete()), "W")[:, :hidden]
    fixed = matrix(lived(hidden_rate=0, inhibitory_rate=0), "W")[:, :hidden]
    np.testing.assert_array_equal(before, fixed)
    assert (before != matrix(lived(inhibitory_rate=0), "W")[:, :hidden]).any()


def test_inhibition_grows_on_a_target_that_fires_too_much():
    still = {"learning_rate": 0, "inhibitory_rate": 0.01, "target_rate": 0, "homeostasis": 0}
    start, life = (Life("spiking_rstdp", discrete(), **still) for _ in range(2))
    life.live(100, np.random.default_rng(0))
    grown = matrix(life, "W") - matrix(start, "W")
    assert grown.max() <= 0.0
    assert grown.min() < -0.01


def test_a_tired_neuron_cannot_fire():
    life = Life("spiking_rstdp", discrete(), energy_cost=0.25, energy_recovery=0.0)
    spikes = []
    for _ in range(40):
        life.act(np.ones(5))
        spikes.append(part(life, "COUNT").copy())
    assert np.sum(spikes, axis=0).max() == 4
    assert part(life, "ENERGY").min() >= 0.0


def test_a_tired_neuron_does_not_learn():
    life = Life("spiking_rstdp", discrete(), inhibitory_rate=0)
    life.act(np.ones(5))
    before = matrix(life, "W").copy()
    part(life, "ENERGY")[:] = 0.0
    life.learn(np.ones(5), 1.0)
    np.testing.assert_array_equal(before, matrix(life, "W"))


def test_early_spikes_potentiate_and_late_ones_depress():
    def fresh(**config):
        life = Life("spiking_rstdp", discrete(), **config)
        life.act(np.ones(5))
        return matrix(life, "F")

    assert fresh(stdp_ltd=0).min() == 0.0 < fresh(stdp_ltd=0).max()
    assert fresh(stdp_ltp=0).min() < 0.0 == fresh(stdp_ltp=0).max()


def test_reward_beyond_expectation_makes_the_same_action_likelier():
    life = Life("spiking_rstdp", discrete(), slots=0)
    first = part(life, "THRESHOLD").size - 4 * 5
    for _ in range(200):
        chosen = life.act(np.ones(5))[0]
        life.learn(np.ones(5), 1.0 if chosen == 2 else 0.0)
    excitatory = matrix(life, "W")[part(life, "SIGN") > 0][:, first:].mean(0).reshape(4, 5).mean(1)
    assert excitatory.argmax() == 2


def test_an_episode_forgets_the_working_memory_and_nothing_learned():
    life = lived(steps=7)
    words = ("W", "E", "TRACE", "THRESHOLD", "META", "ENERGY", "RESOURCE", "VALUE", "NOVELTY")
    before = {word: part(life, word).copy() for word in words}
    assert part(life, "MEMORY").any()
    assert part(life, "DRIVE").any()
    assert part(life, "PICKED").any()
    life._call(life.brain.begin_episode)
    assert not part(life, "MEMORY").any()
    assert not part(life, "DRIVE").any()
    assert not part(life, "PICKED").any()
    for word in words:
        np.testing.assert_array_equal(before[word], part(life, word), err_msg=word)


def test_the_working_memory_holds_the_last_actions_in_order():
    life, done = Life("spiking_rstdp", discrete(), slots=3), []
    for _ in range(5):
        done.insert(0, int(life.act(np.ones(5))[0]))
        life.learn(np.ones(5), 0.0)
    slots = part(life, "MEMORY", 12).reshape(3, 4)
    assert list(slots.argmax(1)) == done[:3]
    assert ((slots > 0).sum(1) == 1).all()


def test_the_network_reads_its_working_memory():
    lives = [lived(steps=20) for _ in range(2)]
    part(lives[1], "MEMORY", 12)[:] = 1.0
    for life in lives:
        life.act(np.zeros(5))
    assert (part(lives[0], "COUNT") != part(lives[1], "COUNT")).any()


def test_a_sensor_at_rest_drives_no_cell():
    life = Life("spiking_rstdp", discrete())
    life.act(np.zeros(5))
    assert not part(life, "DRIVE").any()


@pytest.mark.parametrize("value", [-1e9, 1e9, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("body", [discrete(), effectors()])
def test_impossible_observations_leave_it_sane(value, body):
    life = Life("spiking_rstdp", body)
    for _ in range(20):
        action = life.act(np.full(body.inputs, value))
        life.learn(np.full(body.inputs, value), 1.0)
    assert np.isfinite(life.mem).all()
    assert ((action >= 0) & (action <= 3)).all()


@pytest.mark.parametrize("size", [1e3, 1e9, 1e30])
def test_huge_rewards_do_not_break_it(size):
    life = Life("spiking_rstdp", discrete())
    for k in range(200):
        life.act(np.full(5, k % 3 / 2))
        life.learn(np.full(5, (k + 1) % 3 / 2), size * (-1) ** k)
    assert np.isfinite(life.mem).all()


def test_descriptors():
    life = lived()
    found = SpikingRstdp.describe(SpikingRstdpConfig(), life.ints, life.mem)
    assert set(found) == {"mean_rate", "rate_variance", "silent", "saturated", "energy", "energy_spent"}
    assert 0.01 < found["mean_rate"] < 0.5
    assert 0.0 < found["energy_spent"] < found["energy"] <= 1.0


def test_searched_ranges_are_allowed_and_hold_the_default():
    for name, field in SpikingRstdpConfig.model_fields.items():
        search = (field.json_schema_extra or {}).get("search")
        if search:
            assert search["low"] <= field.default <= search["high"], name
            assert search["importance"] in {"high", "medium", "low"}
            SpikingRstdpConfig(**{name: search["low"]})
            SpikingRstdpConfig(**{name: search["high"]})


@pytest.mark.parametrize(("world", "episodes"), [(Association(), 30), (Gridworld(), 30), (Foraging(), 20)])
def test_it_learns(world, episodes):
    seeds = range(1, 6)
    learned, born = (rewards(world, episodes, seeds, **config) for config in ({}, {"learning_rate": 0}))
    chance = rewards(world, episodes, seeds, "null_random")
    assert learned.min() > max(born.max(), chance.max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "episodes"),
    [("association-v1", None), ("gridworld-v1", None), ("navigation-v1", None), ("foraging_small-v1", 60)],
)
def test_it_is_significantly_above_chance_and_above_itself_without_learning(task, episodes):
    """On the tasks as they are, with the default parameters and paired seeds."""
    seeds = search_seeds(5, 30)

    def scores(brain, **config):
        target = brain_target(brain, task, episodes=episodes, workers=2)
        return target.values(target.run(config, seeds))

    learned = scores("spiking_rstdp")
    for other in (scores("null_random"), scores("spiking_rstdp", learning_rate=0.0)):
        found = compare(learned, other, seeds, seeds)
        assert found.ci95[0] > 0.0
        assert found.p_value < 0.01
