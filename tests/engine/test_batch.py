"""Batches of runs: a run has the same bits alone, among others, in any batch and in any executor."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from batched_brains import Break, LateTalk, Stumble, Talk, Walk, Walks

import nematodebench as nb
from nematodebench.brains.registry import get_brain
from nematodebench.engine.batch import batch_size, execute_batch, in_groups
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.engine.seeds import brain_seed
from nematodebench.tasks.registry import get_task

EXAMPLE = Path(__file__).parents[2] / "examples" / "linear_actor.py"
TASK = "foraging_small-v1"


def specs_of(brain, runs, task=TASK, episodes=2):
    task = get_task(task)
    if task.phases[0].episodes:
        task = task.with_episodes(episodes)
    else:
        short = [replace(one, ticks=min(one.ticks, 200), episodes=min(one.episodes, 1)) for one in task.phases]
        task = replace(task, phases=tuple(short))
    compile_for(task, brain)
    return tuple(RunSpec(task, brain.__name__, brain, {}, 77 + n, n) for n in range(runs))


def bits(results):
    return {run.index: (run.record_hash, run.memory_hash, run.steps, run.failure) for run in results}


def quietly(specs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return bits(execute_batch(specs))


@pytest.mark.parametrize("brain", [get_brain(f"{EXAMPLE}:LinearActor"), Walk], ids=["example", "walk"])
def test_a_run_is_the_same_alone_and_in_any_batch(brain):
    specs = specs_of(brain, 9)
    alone = bits(map(execute, specs))
    assert all(found[3] is None and found[2] > 0 for found in alone.values())
    assert quietly(specs) == alone
    assert quietly(specs[::-1][:4]) == {n: alone[n] for n in (8, 7, 6, 5)}
    assert quietly(specs[3:5]) == {n: alone[n] for n in (3, 4)}


@pytest.mark.parametrize("task", ["cartpole-v1", "torus-v1", "association-v2", "foraging_medium-v1"])
def test_every_kind_of_task_can_be_done_in_batches(task):
    """Budgets of ticks, phases without learning, several agents, bodies wider than a world."""
    specs = specs_of(Walk, 3, task, episodes=1)
    assert quietly(specs) == bits(map(execute, specs))


def test_learning_off_is_off_in_a_batch():
    specs = [replace(spec, task=spec.task.untrained()) for spec in specs_of(Walk, 3)]
    assert quietly(specs) == bits(map(execute, specs))


def test_agents_take_lanes():
    (spec,) = specs_of(Walk, 1, "torus-v1")
    assert spec.task.world.agents == 8
    assert batch_size(spec) == 3
    assert batch_size(replace(spec, brain=nb.Session)) == 1
    assert [len(group) for group in in_groups([spec] * 7)] == [2, 2, 3]


@pytest.mark.parametrize(
    ("brain", "why"),
    [
        (Talk, r"other bits than its plain class \(lane \d+, (from episode \d+ of phase 'train' on|the same)"),
        (LateTalk, r"other bits than its plain class \(lane \d+, (from episode \d+ of phase 'train' on|the same)"),
        (Break, "no batch today"),
    ],
)
def test_a_batch_that_cannot_be_trusted_is_not_used(brain, why):
    specs = specs_of(brain, 3)
    with pytest.warns(UserWarning, match=why):
        results = bits(execute_batch(specs))
    assert results == bits(map(execute, specs))


def test_a_run_that_fails_takes_no_other_with_it():
    specs = specs_of(Stumble, 8, episodes=30)
    results = quietly(specs)
    assert results == bits(map(execute, specs))
    failed = {n for n, found in results.items() if found[3] is not None}
    assert failed == {spec.index for spec in specs if brain_seed(spec.seed) % 3 == 0}
    assert 0 < len(failed) < 8


def test_executors_use_batches():
    specs = specs_of(Walk, 30)
    alone = bits(map(execute, specs))
    assert bits(execute_all(specs, "threads", 1, Watch())) == alone
    assert bits(execute_all(specs, "processes", 2, Watch())) == alone


def test_a_session_of_a_batched_brain():
    session = nb.run(TASK, f"{EXAMPLE}:LinearActor", runs=3, episodes=2, seed=1, workers=1)
    assert len(session.finished_runs) == 3


def test_streams_are_those_of_the_seeds():
    seeds, lanes = (5, 6, 7), np.array([True, False, True])
    streams = nb.Streams(seeds, block=4)
    drawn = [streams.random(lanes if n % 2 else ~lanes | lanes) for n in range(20)]
    expected = [np.random.default_rng(seed).random(20) for seed in seeds]
    assert [row[0] for row in drawn] == expected[0].tolist()
    assert [row[2] for row in drawn] == expected[2].tolist()
    assert [row[1] for row in drawn[::2]] == expected[1][:10].tolist()


def test_a_batch_that_tells_no_memory_has_no_hash_in_any_form():
    class Quiets(Walks):
        memory_of = None

    class Quiet(Walk):
        batched, memory = Quiets, None

    specs = specs_of(Quiet, 3)
    alone = bits(map(execute, specs))
    assert [found[1] for found in alone.values()] == [None] * 3
    assert quietly(specs) == alone
