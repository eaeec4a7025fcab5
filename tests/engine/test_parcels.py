"""Parcels: short runs travel together, long ones alone, and nobody is left without work at the end."""

import numpy as np
import pytest

from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.parcels import Parcels, execute_parcel, runs_of
from nematodebench.engine.run import execute
from nematodebench.engine.seeds import brain_seed
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.plan import make_plan


def specs_of(brain, runs):
    given = SessionConfig(task="foraging_small-v1", brain=brain, runs=runs, episodes=1, seed=4)
    return make_plan(given, workers=2, executor="processes").specs()


def in_one_group_each(runs):
    return [(spec,) for spec in specs_of("null_random", runs)]


def sizes(count, workers, seconds_a_run):
    """How many runs the parcels have that one worker after another takes."""
    waiting, taken = Parcels(in_one_group_each(count)), []
    while waiting:
        parcel = waiting.take(workers)
        waiting.took(parcel, seconds_a_run * len(parcel))
        taken.append(len(parcel))
    assert sum(taken) == count
    return taken


def test_the_first_parcel_is_one_run_because_nobody_knows_how_long_it_takes():
    assert sizes(40, 2, 1e-3)[0] == 1


def test_short_runs_travel_together_and_the_last_parcels_are_small():
    taken = sizes(2000, 2, 1e-3)
    assert len(taken) < 40
    assert max(taken) > 300
    assert taken[-1] == 1


def test_a_parcel_is_half_a_second_of_work_and_long_runs_go_alone():
    assert max(sizes(4000, 2, 5e-3)) == 100
    assert set(sizes(40, 2, 3.0)) == {1}


def test_every_worker_can_get_a_share():
    assert max(sizes(41, 10, 1e-9)) == 2


def test_every_run_is_in_one_parcel():
    waiting = Parcels(in_one_group_each(30))
    seen = []
    while waiting:
        parcel = waiting.take(3)
        waiting.took(parcel, 1e-6)
        seen += [spec.index for spec in runs_of(parcel)]
    assert seen == list(range(30))


def test_runs_of_a_lost_parcel_go_one_by_one():
    waiting = Parcels([tuple(spec for (spec,) in in_one_group_each(6))])
    lost = waiting.take(1)
    assert not waiting
    waiting.lost(runs_of(lost))
    again = [waiting.take(1) for _ in range(6)]
    assert [len(runs_of(parcel)) for parcel in again] == [1] * 6
    assert {runs_of(parcel)[0].index for parcel in again} == set(range(6))


def test_a_parcel_comes_back_with_its_results_and_their_time():
    specs = specs_of("null_random", 3)
    results, seconds = execute_parcel(tuple((spec,) for spec in specs))
    assert [run.record_hash for run in results] == [execute(spec).record_hash for spec in specs]
    assert seconds >= sum(run.seconds for run in results) > 0


@pytest.mark.parametrize("runs", [1, 60])
def test_processes_give_every_run_once_with_its_bits(runs):
    specs = specs_of("null_random", runs)
    results = sorted(execute_all(specs, "processes", 2, Watch()), key=lambda run: run.index)
    assert [run.index for run in results] == list(range(runs))
    assert [run.record_hash for run in results] == [execute(spec).record_hash for spec in specs]


def test_a_run_that_kills_its_process_takes_no_other_of_its_parcel_with_it(monkeypatch):
    monkeypatch.setattr(Parcels, "take", _everything)
    specs = specs_of("brains_for_tests:DiesSometimes", 8)
    results = {run.index: run for run in execute_all(specs, "processes", 1, Watch())}
    failed = [n for n, run in sorted(results.items()) if run.failure is not None]
    assert failed == [spec.index for spec in specs if brain_seed(spec.seed) % 2]
    assert np.all([results[spec.index].steps > 0 for spec in specs if spec.index not in failed])


def _everything(self, workers, take=Parcels.take):
    """All that waits at once."""
    return tuple(self._waiting.pop() for _ in list(self._waiting)) or take(self, workers)
