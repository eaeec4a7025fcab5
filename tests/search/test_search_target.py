"""The score of a real brain as what a search makes better."""

import numpy as np
import pytest

from nematodebench.brains.registry import get_brain
from nematodebench.errors import UsageError
from nematodebench.search.space import declared_space
from nematodebench.search.study import SearchPlan, finished_trials, run_search
from nematodebench.search.target import TrialFailedError, brain_target
from nematodebench.search.verdict import search_seeds
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import Plan


class Broken:
    """A brain whose first step fails."""

    def __init__(self, observation_space, action_space, config, seed):
        pass

    def begin_episode(self):
        pass

    def act(self, observation):
        raise RuntimeError("no idea")

    def learn(self, transition):
        pass


def search(folder, workers):
    target = brain_target("spiking_rstdp", "association-v1", episodes=4, workers=workers)
    space = tuple(declared_space("spiking_rstdp", get_brain("spiking_rstdp"), "high"))
    plan = SearchPlan("s", space, trials=10, runs=4, held_out=4, seed=2, storage=str(folder / f"{workers}.log"))
    return run_search(target, plan)


def test_one_worker_or_two_make_the_same_search(tmp_path):
    one, two = (search(tmp_path, workers) for workers in (1, 2))
    assert [(t.params, t.value, t.state) for t in finished_trials(one.study)] == [
        (t.params, t.value, t.state) for t in finished_trials(two.study)
    ]
    assert one.verdict == two.verdict


def test_values_are_the_scores_of_a_session_with_these_seeds():
    target = brain_target("q_table", "gridworld-v1", episodes=6, workers=1)
    found = target.values(target.run({"learning_rate": 0.5}, search_seeds(9, 3)))
    config = target.brain.config(learning_rate=0.5)
    plan = Plan(target.task, "q_table", target.brain, config, 9, 3, 1, "threads", "", "")
    rewards = [run.records["train"][:, 0].mean() for run in run_plan(plan).results]
    np.testing.assert_allclose(found, rewards, rtol=1e-12)


def test_continual_is_a_target_too():
    target = brain_target("q_table", "continual", episodes=3, workers=1)
    scores = target.values(target.run({}, [1, 2]))
    assert scores.shape == (2,)
    assert ((scores > 0) & (scores < 1)).all()


def test_a_failed_run_fails_its_trial(monkeypatch):
    monkeypatch.setattr("nematodebench.search.target.get_brain", lambda name: Broken)
    target = brain_target("broken", "association-v1", episodes=2, workers=1)
    with pytest.raises(TrialFailedError, match="no idea"):
        target.run({}, [1])


def test_no_workers_are_refused():
    with pytest.raises(UsageError, match="workers is 0"):
        brain_target("q_table", "gridworld-v1", workers=0)
