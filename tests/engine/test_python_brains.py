"""Brains written in Python: seeded, checked, and never able to take other runs down."""

from dataclasses import replace

import pytest
from brains_for_tests import SamplesItsSpace

import nematodebench as nb
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.engine.seeds import brain_seed
from nematodebench.errors import UsageError
from nematodebench.records.memory_hash import NO_HASH
from nematodebench.records.store import load_experiment
from nematodebench.sessions.rerun import rerun
from nematodebench.tasks.registry import get_task

TASK = "foraging_small-v1"


def session(brain, runs=4, episodes=2, seed=3, workers=2, **more):
    return nb.run(TASK, f"brains_for_tests:{brain}", runs=runs, episodes=episodes, seed=seed, workers=workers, **more)


def hashes(result):
    return [(run.record_hash, run.memory_hash) for run in result.runs]


def test_same_bits_with_one_worker_or_two():
    assert hashes(session("Fine", workers=1)) == hashes(session("Fine", workers=2))


def test_global_generators_are_seeded_from_the_run_seed():
    assert hashes(session("GlobalRandom", workers=1)) == hashes(session("GlobalRandom", workers=2))


@pytest.mark.parametrize("name", [TASK, "cartpole-v1", "torus-v1"])
def test_samples_of_the_spaces_follow_from_the_seed(name):
    """The first brain of whoever knows Gymnasium: action_space.sample(), of choices and effectors, of every agent."""
    task = get_task(name)
    task = replace(task, phases=tuple(replace(phase, episodes=0, ticks=200) for phase in task.phases))
    compile_for(task, SamplesItsSpace)
    runs = [execute(RunSpec(task, "samples", SamplesItsSpace, {}, seed)) for seed in (3, 3, 4)]
    first, again, other = [(run.record_hash, run.memory_hash) for run in runs]
    assert all(run.failure is None for run in runs)
    assert first == again != other


def test_a_space_that_is_kept_and_never_sampled_is_no_memory():
    """Hashes of such brains are older than the seeds of spaces."""
    keeps = nb.run(TASK, "brains_for_tests:KeepsItsSpace", runs=2, episodes=1, seed=3, workers=1)
    assert {run.memory_hash for run in keeps.runs} == {
        "v3:99f00b5af44546f8409b4242d2c40fd2b32617c170a1d42aaa983753ed9f05c5"
    }


def test_a_transition_that_is_asked_for_what_it_has_not_tells_what_it_has():
    failure = session("AsksForDone", runs=1, workers=1).runs[0].failure
    has = "observation, action, reward, next_observation, terminated, truncated"
    assert f"no attribute 'done' (it has {has}) (brains_for_tests.py, line " in failure.message
    assert "in learn) at episode 0, step 1" in failure.message


def test_what_a_brain_does_not_tell_of_its_memory_is_taken_from_its_attributes():
    first, again, other = session("GlobalRandom"), session("GlobalRandom", workers=1), session("GlobalRandom", seed=4)
    assert all(run.memory_hash.startswith("v3:") for run in first.runs)
    assert hashes(first) == hashes(again)
    assert {run.memory_hash for run in first.runs}.isdisjoint(run.memory_hash for run in other.runs)


def test_a_memory_that_cannot_be_had_has_no_hash(tmp_path):
    result = session("HoldsAnIterator", runs=1)
    assert result.runs[0].failure is None
    assert result.runs[0].memory_hash is None
    stored = load_experiment(result.save(tmp_path))
    assert stored.runs[0].memory_hash is None
    again = rerun(stored, 0, trust_code=True)
    assert again.identical
    assert again.note == NO_HASH


def test_a_brain_that_raises_fails_its_run_and_no_other():
    result = session("RaisesSometimes", runs=6)
    failed = {brain_seed(run.seed) % 2 == 1 for run in result.runs if run.failure}
    assert failed == {True}
    assert 0 < len(result.failed_runs) < 6
    assert all(run.failure for run in result.runs if brain_seed(run.seed) % 2)
    failure = result.failed_runs[0].failure
    assert "thirty is enough (brains_for_tests.py, line " in failure.message
    assert "in act) at episode 0, step 30 of phase 'train'" in failure.message
    assert (failure.episode, failure.step) == (0, 30)
    assert "thirty is enough" in failure.traceback
    assert "/engine/run.py" not in failure.traceback
    assert result.metrics.success_rate.n == len(result.finished_runs)


@pytest.mark.parametrize(
    ("brain", "message"),
    [
        ("ReturnsNan", "returned NaN (nan; legal is a whole number from 0 to 3) at episode 0, step 5"),
        ("ReturnsIllegal", "an illegal action (4; legal is a whole number from 0 to 3) at episode 0, step 7"),
        ("ReturnsTwo", "2 numbers where the body takes 1, a whole number from 0 to 3 at episode 0, step 0"),
    ],
)
def test_wrong_actions_are_failures_with_their_place(brain, message):
    result = session(brain, runs=1, workers=1)
    assert message in result.runs[0].failure.message
    assert result.metrics == {}


def test_a_brain_that_kills_its_process_fails_its_run_and_no_other():
    result = session("DiesSometimes", runs=6)
    assert {brain_seed(run.seed) % 2 == 1 for run in result.runs if run.failure} == {True}
    assert "exit code 9" in result.failed_runs[0].failure.message
    assert len(result.finished_runs) == sum(brain_seed(run.seed) % 2 == 0 for run in result.runs)


def test_a_class_that_lacks_functions_of_a_brain_is_refused():
    with pytest.raises(UsageError, match="lacks learn, begin_episode"):
        session("NotABrain")


def test_unknown_module_and_class_are_named():
    with pytest.raises(UsageError, match="no class 'Fin'"):
        session("Fin")
    with pytest.raises(UsageError, match="No module named 'nowhere'"):
        nb.run(TASK, "nowhere:Fine", runs=1)


@pytest.mark.slow
def test_torch_brain_gives_the_same_bits_in_another_process_layout():
    one = nb.run(TASK, "torch_reinforce", runs=2, episodes=3, seed=1, workers=1)
    two = nb.run(TASK, "torch_reinforce", runs=2, episodes=3, seed=1, workers=2)
    assert hashes(one) == hashes(two)
    assert one.runs[0].record_hash != one.runs[1].record_hash
