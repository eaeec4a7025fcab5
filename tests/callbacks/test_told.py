"""Callbacks are told everything once, in order, and change no bit, whatever the brain and wherever it runs."""

from dataclasses import replace

import numpy as np
import pytest
from told import Draws, DrawsAtSteps, Told, ToldSteps, bits, tables, told_tables

import nematodebench as nb
from nematodebench.engine import loop, watching
from nematodebench.engine.watching import View, Watch
from nematodebench.errors import UsageError
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import run_plan
from nematodebench.sessions.plan import make_plan

FORAGING = "foraging_small-v1"
CASES = {
    "compiled": (FORAGING, "mlp_ppo", {"episodes": 30, "runs": 4}),
    "many agents": ("torus-v1", "null_random", {"runs": 2}),
    "in processes": (FORAGING, "brains_for_tests:Fine", {"episodes": 3, "runs": 3, "workers": 2}),
    "batched": (FORAGING, "batched_brains:Walk", {"episodes": 3, "runs": 5}),
    "dying": (FORAGING, "brains_for_tests:DiesSometimes", {"episodes": 3, "runs": 4, "workers": 2}),
}


class Here:
    """No other process can import it under this name, and it uses the global generators."""

    def __init__(self, observation_space, action_space, config, seed):
        self.n, self.drawn = action_space.n, []

    def begin_episode(self):
        pass

    def act(self, observation):
        self.drawn.append(np.random.randint(self.n))
        return self.drawn[-1]

    def learn(self, transition):
        pass

    def memory(self):
        return bytes(self.drawn)


Here.__qualname__ = "nowhere.Here"


def run(case, told=None, **more):
    task, brain, given = CASES[case]
    return nb.run(task, brain, seed=5, callbacks=[] if told is None else [told], **{**given, **more})


def run_shortly(task, brain, *callbacks):
    """Two runs of a few ticks or episodes in every phase."""
    given = SessionConfig(task=task, brain=brain, runs=2, seed=5)
    plan = make_plan(given, workers=1, executor="threads")
    phases = [replace(one, ticks=min(one.ticks, 40), episodes=min(one.episodes, 2)) for one in plan.task.phases]
    return run_plan(replace(plan, task=replace(plan.task, phases=tuple(phases))), callbacks=callbacks)


@pytest.mark.parametrize("case", CASES)
def test_everything_is_told_once_and_nothing_changes(case):
    told = Told()
    plain, session = run(case), run(case, told)
    assert bits(session) == bits(plain)
    rows = told_tables(told, session)
    assert {index: rows[index] for index in tables(session)} == tables(session)
    assert set(told.runs) == {result.index for result in session.results}
    for result in session.results:
        end = told.runs[result.index]
        assert (end.seed, end.record_hash, end.memory_hash) == (result.seed, result.record_hash, result.memory_hash)
        assert end.failure == (result.failure.message if result.failure else None)
    assert told.ends == 1
    [start] = told.starts
    assert (start.task, start.runs, start.seed) == (CASES[case][0], len(session.results), 5)


def test_the_episodes_of_a_run_that_fails_are_told_up_to_there():
    class Falls(Here):
        def act(self, observation):
            if len(self.drawn) == 1500:
                raise RuntimeError("no more")
            return super().act(observation)

    Falls.__qualname__ = "nowhere.Falls"
    told = Told()
    session = nb.run(FORAGING, Falls, runs=1, episodes=20, seed=5, callbacks=[told])
    failure = session.runs[0].failure
    assert "no more" in told.runs[0].failure
    assert failure.episode == len(told.episodes[0]) > 0


@pytest.mark.parametrize("kind", [Draws, DrawsAtSteps])
def test_a_callback_that_draws_numbers_changes_none_of_a_brain_in_its_process(kind):
    told = kind()
    plain = nb.run(FORAGING, Here, runs=2, episodes=3, seed=5)
    session = nb.run(FORAGING, Here, runs=2, episodes=3, seed=5, callbacks=[told])
    assert bits(session) == bits(plain)
    assert told_tables(told, session) == tables(session)
    assert len({run.memory_hash for run in session.runs}) == 2


@pytest.mark.parametrize("case", ["compiled", "many agents", "in processes", "batched"])
def test_every_step_is_told_and_nothing_changes(case):
    told, (task, brain, _) = ToldSteps(), CASES[case]
    plain, session = run_shortly(task, brain), run_shortly(task, brain, told)
    assert bits(session) == bits(plain)
    assert told_tables(told, session) == tables(session)
    agents = session.plan.task.world.agents
    for index, phases in tables(session).items():
        for phase, rows in phases.items():
            for number, row in enumerate(rows):
                steps = [s for s in told.steps if (s.run, s.phase, s.episode) == (index, phase, number)]
                assert [(s.step, s.agent) for s in steps] == [(n, a) for n in range(int(row[1])) for a in range(agents)]
                assert sum(s.reward for s in steps) / agents == pytest.approx(row[0], abs=1e-9)
                assert (steps[-1].terminated, steps[-1].truncated) == (row[2] != 0, row[3] != 0)
                assert not any(s.terminated or s.truncated for s in steps[:-agents])


def test_steps_and_episodes_come_in_the_order_in_which_they_happened():
    told = ToldSteps()
    run("compiled", told, runs=2, episodes=3)
    changes = [one for n, one in enumerate(told.order) if n == 0 or one != told.order[n - 1]]
    wanted = []
    for index in range(2):
        for phase, number in [("train", 0), ("train", 1), ("train", 2), ("assay", 0)]:
            wanted += [("step", index, phase, number), ("episode", index, phase, number)]
        wanted.append(("run", index))
    assert changes == wanted


def test_a_step_holds_what_the_brain_saw_and_did():
    told = ToldSteps()
    run_shortly("tracking-v1", "brains_for_tests:Effectors", told)
    first, second = told.steps[0], told.steps[1]
    assert first.observation.dtype == np.float32
    assert first.observation.tobytes() != second.observation.tobytes()
    assert first.action.shape == (2,)
    discrete = ToldSteps()
    run_shortly(FORAGING, "brains_for_tests:Fine", discrete)
    assert {type(step.action) for step in discrete.steps} == {int}


def test_steps_are_told_of_one_run_at_a_time():
    with pytest.raises(UsageError, match="one run after another: leave out workers"):
        run("compiled", ToldSteps(), workers=2)


def test_steps_are_refused_elsewhere():
    plan = make_plan(SessionConfig(task=FORAGING, brain="brains_for_tests:Fine", runs=1, episodes=1), workers=1)
    assert plan.executor == "processes"
    with pytest.raises(UsageError, match="leave out workers and executor"):
        run_plan(plan, callbacks=[ToldSteps()])


def test_rows_that_are_read_while_a_run_writes_are_whole(monkeypatch):
    monkeypatch.setattr(watching, "LOOK_SECONDS", 1e-4)
    told = Told()
    session = nb.run(FORAGING, "mlp_ppo", runs=4, episodes=200, seed=5, callbacks=[told])
    assert told_tables(told, session) == tables(session)


def test_a_view_shows_the_rows_that_are_counted_and_each_once():
    control = loop.Control(np.zeros(loop.Control.count(), np.int64))
    view, records, counts = View(3, 99, control), np.arange(20.0).reshape(10, 2), np.zeros((2, 1), np.int64)

    def look():
        return [(rows.phase, rows.first, rows.values[:, 0].tolist()) for rows in view.new_rows()]

    assert look() == []
    view.show("train", records, counts[0])
    assert look() == [("train", 0, [])]
    assert look() == []
    counts[0] = 2
    assert look() == [("train", 0, [0.0, 2.0])]
    counts[0] = 3
    view.show("assay", records, counts[1])
    counts[1] = 1
    assert look() == [("train", 2, [4.0]), ("assay", 0, [0.0])]
    counts[1] = 2
    assert look() == [("assay", 1, [2.0])]
    assert look() == []


def test_nobody_looks_where_nobody_listens():
    watch = Watch()
    assert watch.look_seconds is None
    assert watch.pauses() == ()
    watch.view(0, 1, loop.Control(np.zeros(loop.Control.count(), np.int64)))
    watch.look()
    assert watch._views == []


@pytest.mark.parametrize(("given", "said"), [(Told, "the class Told"), ("csv:x.csv", "'csv:x.csv'")])
def test_what_is_no_callback_is_refused(given, said):
    with pytest.raises(UsageError, match=r"derived from nb\.Callback") as error:
        nb.run(FORAGING, "null_random", runs=1, episodes=1, callbacks=[given])
    assert said in str(error.value)
