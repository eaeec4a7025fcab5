"""The spiking brain: its wiring, each of its mechanisms, what an episode resets, and that it learns."""

import numpy as np
import pytest
from brain_trial import Trial, discrete, effectors

from nematodebench.brains.registry import get_brain
from nematodebench.brains.spiking.spiking_rstdp import SpikingRstdp, SpikingRstdpConfig
from nematodebench.engine.compiled_brain import memory_digest
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
    "net.threshold": ("homeostasis", 1.0),
    "net.meta": ("metaplasticity", 1.0),
    "net.resource": ("depression", 1.0),
    "net.energy": ("energy_cost", 1.0),
    "net.sign": ("inhibitory", 1.0),
    "expectation.novelty": ("curiosity", 1.0),
    "expectation.value": ("value_rate", 0.0),
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


def fresh(body=None, seed=1, **config):
    return Trial("spiking_rstdp", body or discrete(), seed, **config)


def played(steps=200, **config):
    trial = fresh(**config)
    trial.play(steps, np.random.default_rng(0))
    return trial


def kept(trial, name):
    """An array of what the brain keeps, by its name; it can be written to."""
    return dict(trial.brain.learned())[name]


def weights(trial):
    return kept(trial, "net.weights")


def layers(trial):
    net, sign = trial.brain.net, kept(trial, "net.sign")
    return sign[: net.sensory], sign[net.sensory : net.first_motor], sign[net.first_motor :]


def test_a_fifth_of_every_layer_is_inhibitory():
    shares = [(layer < 0).mean() for layer in layers(fresh())]
    assert shares == pytest.approx([0.2] * 3, abs=0.04)


def test_about_a_hundred_neurons_on_a_worm():
    assert fresh(slots=0).brain.net.neurons == 100


def test_weights_keep_their_sign_and_bounds():
    trial = played(learning_rate=1.0, inhibitory_rate=0.1, weight_limit=0.4, hidden_rate=1.0)
    signed = weights(trial) * kept(trial, "net.sign")[:, None]
    assert signed.min() >= 0.0
    assert signed.max() == pytest.approx(0.4)


def test_no_connection_comes_from_nothing():
    before = weights(fresh(hidden_rate=1.0, learning_rate=1.0)) == 0.0
    after = weights(played(hidden_rate=1.0, learning_rate=1.0, inhibitory_rate=0.1)) == 0.0
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
        trial, done, senses = fresh(effectors(), levels=levels), set(), np.random.default_rng(0)
        for _ in range(200):
            done |= {float(value) for value in trial.act(senses.random(trial.body.inputs))}
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
        trial = fresh(**config)
        trial.act(np.ones(5))
        return kept(trial, "net.drive")

    alone, shared = drive(crowd=1000), drive(crowd=2)
    assert alone.sum() > 2.0
    assert shared.sum() == pytest.approx(2.0)
    np.testing.assert_allclose(shared / shared.sum(), alone / alone.sum(), rtol=1e-5)


@pytest.mark.parametrize(("name", "parameter", "rest"), [(name, *how) for name, how in OFF.items()])
def test_a_mechanism_leaves_rest_only_if_it_is_on(name, parameter, rest):
    assert (kept(played(), name) != rest).any()
    assert (kept(played(**{parameter: 0.0}), name) == rest).all()


def test_without_learning_and_inhibitory_plasticity_no_weight_moves():
    before = weights(fresh())
    np.testing.assert_array_equal(before, weights(played(learning_rate=0, inhibitory_rate=0)))
    assert (before != weights(played(learning_rate=0))).any()
    assert (before != weights(played(inhibitory_rate=0))).any()


def test_hidden_neurons_can_be_fixed():
    hidden = SpikingRstdpConfig().hidden
    before = weights(fresh())[:, :hidden]
    fixed = weights(played(hidden_rate=0, inhibitory_rate=0))[:, :hidden]
    np.testing.assert_array_equal(before, fixed)
    assert (before != weights(played(inhibitory_rate=0))[:, :hidden]).any()


def test_inhibition_grows_on_a_target_that_fires_too_much():
    still = {"learning_rate": 0, "inhibitory_rate": 0.01, "target_rate": 0, "homeostasis": 0}
    start, trial = (fresh(**still) for _ in range(2))
    trial.play(100, np.random.default_rng(0))
    grown = weights(trial) - weights(start)
    assert grown.max() <= 0.0
    assert grown.min() < -0.01


def test_a_tired_neuron_cannot_fire():
    trial = fresh(energy_cost=0.25, energy_recovery=0.0)
    spikes = []
    for _ in range(40):
        trial.act(np.ones(5))
        spikes.append(kept(trial, "net.count").copy())
    assert np.sum(spikes, axis=0).max() == 4
    assert kept(trial, "net.energy").min() >= 0.0


def test_a_tired_neuron_does_not_learn():
    trial = fresh(inhibitory_rate=0)
    trial.act(np.ones(5))
    before = weights(trial).copy()
    kept(trial, "net.energy")[:] = 0.0
    trial.learn(np.ones(5), 1.0)
    np.testing.assert_array_equal(before, weights(trial))


def test_early_spikes_potentiate_and_late_ones_depress():
    def eligibility(**config):
        trial = fresh(**config)
        trial.act(np.ones(5))
        return kept(trial, "net.fresh")

    assert eligibility(stdp_ltd=0).min() == 0.0 < eligibility(stdp_ltd=0).max()
    assert eligibility(stdp_ltp=0).min() < 0.0 == eligibility(stdp_ltp=0).max()


def test_reward_beyond_expectation_makes_the_same_action_likelier():
    trial = fresh(slots=0)
    for _ in range(200):
        chosen = trial.act(np.ones(5))[0]
        trial.learn(np.ones(5), 1.0 if chosen == 2 else 0.0)
    excitatory = weights(trial)[kept(trial, "net.sign") > 0][:, trial.brain.net.hidden :].mean(0).reshape(4, 5).mean(1)
    assert excitatory.argmax() == 2


def test_an_episode_forgets_the_working_memory_and_nothing_learned():
    trial = played(steps=7)
    gone = {"choice.done", "choice.picked", "net.drive"}
    before = {name: value.copy() for name, value in trial.brain.learned() if name not in gone}
    assert kept(trial, "choice.done").any()
    assert kept(trial, "net.drive").any()
    assert kept(trial, "choice.picked").any()
    trial.begin_episode()
    assert not kept(trial, "choice.done").any()
    assert not kept(trial, "net.drive").any()
    assert not kept(trial, "choice.picked").any()
    for name, value in before.items():
        np.testing.assert_array_equal(value, kept(trial, name), err_msg=name)


def test_the_working_memory_holds_the_last_actions_in_order():
    trial, done = fresh(slots=3), []
    for _ in range(5):
        done.insert(0, int(trial.act(np.ones(5))[0]))
        trial.learn(np.ones(5), 0.0)
    slots = kept(trial, "choice.done")
    assert list(slots.argmax(1)) == done[:3]
    assert ((slots > 0).sum(1) == 1).all()


def test_the_network_reads_its_working_memory():
    trials = [played(steps=20) for _ in range(2)]
    kept(trials[1], "choice.done")[:] = 1.0
    for trial in trials:
        trial.act(np.zeros(5))
    assert (kept(trials[0], "net.count") != kept(trials[1], "net.count")).any()


def test_a_sensor_at_rest_drives_no_cell():
    trial = fresh()
    trial.act(np.zeros(5))
    assert not kept(trial, "net.drive").any()


@pytest.mark.parametrize("value", [-1e9, 1e9, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("body", [discrete(), effectors()])
def test_impossible_observations_leave_it_sane(value, body):
    trial = fresh(body)
    for _ in range(20):
        action = trial.act(np.full(body.inputs, value))
        trial.learn(np.full(body.inputs, value), 1.0)
    assert np.isfinite(trial.mem).all()
    assert ((action >= 0) & (action <= 3)).all()


@pytest.mark.parametrize("size", [1e3, 1e9, 1e30])
def test_huge_rewards_do_not_break_it(size):
    trial = fresh()
    for k in range(200):
        trial.act(np.full(5, k % 3 / 2))
        trial.learn(np.full(5, (k + 1) % 3 / 2), size * (-1) ** k)
    assert np.isfinite(trial.mem).all()


def test_room_to_spare_is_no_part_of_what_is_learned():
    trial = played(steps=20, hidden=59)
    net, before = trial.brain.net, memory_digest([trial.brain])
    net.energy[net.neurons :] = net.weights[:, net.targets :] = 7.0
    net.warm[net.warm_count :] = net.recent[net.recent_count :] = 7
    assert net.neurons < net.room
    assert net.targets < net.stride
    assert memory_digest([trial.brain]) == before
    net.energy[net.neurons - 1] += 0.5
    assert memory_digest([trial.brain]) != before


def test_descriptors():
    trial = played()
    found = SpikingRstdp.describe(SpikingRstdpConfig(), trial.brain)
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
