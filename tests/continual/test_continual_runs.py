"""One brain through all: tests of copies leave no trace, the null is 0, full knowledge is far above it."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nematodebench import scoring
from nematodebench.brains.registry import get_brain
from nematodebench.calibration.reference import reference_runs
from nematodebench.continual import runs as continual
from nematodebench.continual.report import summarise
from nematodebench.continual.runs import Settings, anchors_of, run_continual, run_scores
from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.run import RunResult, RunSpec, compile_for, execute, resolve_config
from nematodebench.engine.seeds import run_seed
from nematodebench.errors import UsageError
from nematodebench.tasks.continual import ORDER, continual_task, probe_name, single_task

SHORT = dict.fromkeys(ORDER, 3)


@cache
def report_of(brain, runs=20):
    return summarise(run_continual(brain, None, Settings(runs=runs, seed=11, workers=1, probe_episodes=2)))


def spec(task, brain, seed=3):
    kind = get_brain(brain)
    compile_for(task, kind)
    return RunSpec(task, brain, kind, resolve_config(brain, kind, None), seed)


@pytest.mark.parametrize("brain", ["q_table", "mlp_reinforce", "null_random"])
def test_tests_of_copies_change_nothing_in_the_run(brain):
    plain = execute(spec(continual_task(episodes=SHORT), brain))
    probed = execute(spec(continual_task(episodes=SHORT, probe_episodes=2), brain))
    assert all((plain.records[name] == probed.records[name]).all() for name in ORDER)
    assert plain.memory_hash == probed.memory_hash
    assert plain.steps == probed.steps


class Restless:
    """A Python brain that draws from the global generator and learns by counting."""

    def __init__(self, observation_space, action_space, config, seed):
        self.learned = 0

    def begin_episode(self):
        pass

    def act(self, observation):
        return int(np.random.randint(10)) if self.learned % 2 else 0

    def learn(self, transition):
        self.learned += 1

    def memory(self):
        return self.learned.to_bytes(8, "little")


def test_tests_of_copies_change_nothing_for_python_brains():
    order = ("pattern_memory", "association")
    results = [
        execute(RunSpec(continual_task(order, SHORT, probe_episodes=probes), "restless", Restless, {}, 3))
        for probes in (0, 2)
    ]
    assert results[0].failure is None
    assert all((results[0].records[name] == results[1].records[name]).all() for name in order)
    assert results[0].memory_hash == results[1].memory_hash


def test_every_copy_is_tested_in_the_same_worlds():
    """A brain that learns nothing shows the same after every phase."""
    result = execute(spec(continual_task(episodes=SHORT, probe_episodes=4), "motionless"))
    for tested in ORDER:
        tests = [result.records[probe_name(learned, tested)] for learned in ORDER]
        assert all((test == tests[0]).all() for test in tests)


@pytest.mark.parametrize("brain", ["spiking_rstdp", "q_table", "mlp_ppo"])
def test_a_run_of_all_has_the_same_bits_alone_and_among_others(brain):
    task = continual_task(episodes=SHORT, probe_episodes=1)
    specs = [replace(spec(task, brain, run_seed(7, k)), index=k) for k in range(3)]
    alone = [bits(execute(one)) for one in specs]
    for executor, workers in (("threads", 1), ("threads", 2), ("processes", 2)):
        together = sorted(execute_all(specs, executor, workers, Watch()), key=lambda result: result.index)
        assert [bits(result) for result in together] == alone
    assert len(set(alone)) == 3


def bits(result):
    return result.record_hash, result.memory_hash


def test_the_nulls_primary_scores():
    profiles = report_of("null_random", 50).profiles
    assert profiles["nenv-v2"].null_primary.mean == pytest.approx(0.31, abs=0.01)
    assert profiles["calibrated"].null_primary.mean == pytest.approx(0.10, abs=0.01)


@pytest.mark.parametrize("profile", scoring.PROFILES)
def test_the_null_is_worth_nothing(profile):
    anchored = report_of("null_random", 50).profiles[profile].anchored
    assert abs(anchored.unclamped) < 4 * anchored.se
    assert anchored.se < 0.005


@pytest.mark.parametrize(("profile", "least"), [("nenv-v2", 0.85), ("calibrated", 0.90)])
def test_full_knowledge_is_far_above_the_null(profile, least):
    task, anchors = continual_task(), anchors_of(ORDER)
    for seed in range(3):
        records = {name: reference_runs(single_task(name), [seed], 1)[0]["train"] for name in ORDER}
        scores = run_scores(task, RunResult(0, seed, records), anchors)
        assert least < scores[profile].primary < 1.0


@pytest.mark.slow
def test_a_learner_is_above_the_null_where_it_learned():
    report = report_of("q_table")
    assert report.profiles["calibrated"].anchored.ci95[0] > 0.05
    assert report.environments["association"].success.mean > 0.8
    curve = report.environments["gridworld"].curve
    assert np.mean(curve[20:]) > np.mean(curve[:10]) + 5


def test_the_transfer_matrix_shows_what_was_learned_when():
    matrix = np.array([[cell.mean for cell in row] for row in report_of("q_table").transfer.matrix])
    column, row = ORDER.index("association"), ORDER.index("association")
    assert (matrix[:row, column] < 0.2).all()
    assert matrix[row, column] > 0.8


def test_no_energy_account_is_said():
    report = report_of("q_table")
    assert not report.has_energy_term
    assert any("no energy account" in note for note in report.notes)


def test_an_energy_account_adds_its_term():
    task, anchors = continual_task(), anchors_of(ORDER)
    records = {name: reference_runs(single_task(name), [1], 1)[0]["train"] for name in ORDER}
    without = run_scores(task, RunResult(0, 1, records), anchors)["nenv-v2"]
    spent = RunResult(0, 1, records, descriptors={"energy_spent": 4.0, "energy_budget": 1.0})
    assert run_scores(task, spent, anchors)["nenv-v2"].has_energy_term
    assert run_scores(task, spent, anchors)["nenv-v2"].adjusted < without.adjusted


def test_forward_transfer_leaves_out_what_is_mastered_alone(monkeypatch):
    result = run_continual("q_table", None, Settings(("association", "gridworld"), runs=2, seed=1, workers=1,
                                                     probe_episodes=1))  # fmt: skip
    full = copy.deepcopy(result)
    for run in full.alone["association"].results:
        run.records["train"][:, 0] = 50.0
    found = summarise(full).transfer
    assert found.forward_without == ["association"]
    assert found.forward is not None


def test_missing_anchors_are_said(monkeypatch):
    monkeypatch.setattr(continual, "load_anchors", lambda task: None)
    with pytest.raises(UsageError, match="nematodebench calibrate navigation-v1 --write"):
        run_continual("null_random", None, Settings(runs=1))


def test_run_seeds_are_the_sessions():
    result = run_continual("null_random", None, Settings(runs=2, seed=7, workers=1, probe_episodes=0, alone=False))
    assert [run.seed for run in result.session.results] == [run_seed(7, 0), run_seed(7, 1)]
    assert summarise(result).transfer is None
