"""Learned, or born so? A twin never learns, has the seeds of its brain, and the gain is of pairs."""

import hashlib

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.brains.classical.mlp_dqn import MlpDqn, MlpDqnConfig
from nematodebench.brains.registry import get_brain, without_learning
from nematodebench.engine.agents import Agents
from nematodebench.engine.run import interface, resolve_config
from nematodebench.errors import UsageError
from nematodebench.sessions.scores import RunScores
from nematodebench.sessions.twins import gain, gain_of, pair_twins
from nematodebench.tasks.anchoring import load_anchors
from nematodebench.tasks.registry import get_task


def learned_arrays(brain, learning):
    task = get_task("gridworld-v1")
    kind = get_brain(brain)
    agents = Agents(kind, resolve_config(brain, kind, None), interface(task), 5, 1, learning=learning)
    agents.run(task.phases[0], 0)
    return {name: np.array(value) for name, value in agents.brains.views()[0].learned()}


@pytest.mark.parametrize("brain", ["mlp_dqn", "mlp_ppo", "mlp_reinforce", "q_table"])
def test_a_twin_has_the_weights_it_was_born_with(brain):
    kind, task = get_brain(brain), get_task("gridworld-v1")
    config = without_learning(kind, resolve_config(brain, kind, None))
    born = Agents(kind, config, interface(task), 5, 1)
    names = [name for name, _ in born.brains.views()[0].learned() if "weights" in name or name == "table"]
    assert names
    before = {name: np.array(value) for name, value in born.brains.views()[0].learned()}
    off, on = learned_arrays(brain, learning=False), learned_arrays(brain, learning=True)
    assert all(np.array_equal(before[name], off[name]) for name in names)
    assert any(not np.array_equal(before[name], on[name]) for name in names)


def test_learn_of_a_python_brain_is_never_called_and_it_is_told():
    twin = nb.run("foraging_small-v1", "brains_for_tests:RefusesToLearn", runs=1, episodes=2, seed=3, workers=1,
                  learning=False)  # fmt: skip
    assert twin.runs[0].failure is None
    assert twin.runs[0].memory_hash == hashlib.sha256(b"[('told', True)]").hexdigest()
    ordinary = nb.run("foraging_small-v1", "brains_for_tests:RefusesToLearn", runs=1, episodes=2, seed=3, workers=1)
    assert "learn was called" in ordinary.runs[0].failure.message


def test_exploration_of_a_twin_is_where_it_ends():
    config = MlpDqnConfig(epsilon_start=0.9, epsilon_end=0.03)
    assert MlpDqn.without_learning(config).epsilon_start == 0.03
    twin = nb.run("gridworld-v1", "mlp_dqn", runs=1, seed=3, workers=1, learning=False)
    assert twin.metadata().brain_config["epsilon_start"] == MlpDqnConfig().epsilon_start  # as the brain it belongs to


def test_what_comes_before_the_scored_phase_is_left_out_and_the_rest_stays():
    assert [phase.name for phase in get_task("pong-v1").untrained().phases] == ["scored"]
    assert get_task("foraging_small_untrained-v1").phases == get_task("foraging_small-v1").phases
    assert not get_task("foraging_small_untrained-v1").learning


def test_anchors_belong_to_the_length_they_were_measured_with():
    task = get_task("foraging_small_untrained-v1")
    assert load_anchors(task) == load_anchors(get_task("foraging_small-v1"))
    assert load_anchors(task.with_episodes(20)) is None


def test_a_twin_has_the_seeds_of_its_brain_and_pairs_with_it():
    what = {"runs": 3, "episodes": 40, "seed": 8, "workers": 1}
    on = nb.run("foraging_small-v1", "q_table", **what).metadata()
    off = nb.run("foraging_small-v1", "q_table", **what, learning=False).metadata()
    other = nb.run("foraging_small-v1", "q_table", config={"gamma": 0.5}, **what, learning=False).metadata()
    shorter = nb.run("foraging_small-v1", "q_table", **{**what, "episodes": 30}, learning=False).metadata()
    assert off.task == "foraging_small_untrained-v1"
    assert [run.seed for run in on.runs] == [run.seed for run in off.runs]
    assert pair_twins([other, on, shorter, off]) == [(on, off), (other, None), (shorter, None)]
    found = gain_of(on, off)
    assert found.pairs == 3
    assert found.learned


def scores(by_seed):
    return RunScores(np.array(list(by_seed.values())), list(by_seed))


def test_a_gain_is_the_mean_of_pairs_with_students_interval():
    found = gain(scores({1: 0.5, 2: 0.7, 3: 0.9, 9: 5.0}), scores({3: 0.6, 2: 0.5, 1: 0.4, 8: 9.0}))
    gaps = [0.1, 0.2, 0.3]
    half = 4.302652729911275 * np.std(gaps, ddof=1) / np.sqrt(3)
    assert found.pairs == 3
    assert found.difference == pytest.approx(0.2)
    assert found.ci95 == pytest.approx((0.2 - half, 0.2 + half))
    assert not found.learned
    assert found.sentence("x").startswith("x is not shown to have learned: ")


def test_sentences():
    runs = range(4)
    better = gain(scores({k: 0.9 + k / 100 for k in runs}), scores({k: 0.1 - k / 100 for k in runs}))
    worse = gain(scores({k: 0.1 - k / 100 for k in runs}), scores({k: 0.9 + k / 100 for k in runs}))
    assert better.sentence("x").startswith("x has learned: 0.915 with learning, 0.085 without")
    assert worse.sentence("x").startswith("x is not shown to have learned, it got worse")
    assert gain(scores({1: 0.5}), scores({2: 0.5})) is None


@pytest.mark.parametrize(("pairs", "few"), [(1, "one pair cannot tell"), (2, "two pairs cannot tell")])
def test_one_or_two_pairs_do_not_show_that_anything_was_learned(pairs, few):
    found = gain(scores(dict.fromkeys(range(pairs), 0.9)), scores(dict.fromkeys(range(pairs), 0.1)))
    assert not found.learned
    assert found.sentence("x").startswith(f"x is not shown to have learned, {few}: ")
    assert gain(scores(dict.fromkeys(range(3), 0.9)), scores(dict.fromkeys(range(3), 0.1))).learned


def test_hand_written_policies_and_twins_have_no_twin():
    with pytest.raises(UsageError, match="never learns"):
        nb.run("gridworld-v1", "null_random", runs=1, workers=1, learning=False)
    with pytest.raises(UsageError, match="never learns"):
        nb.run("gridworld_untrained-v1", "q_table", runs=1, workers=1, learning=False)
