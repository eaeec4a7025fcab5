"""A callback that raises stops the session with one line, and nothing that was finished is lost."""

import pytest
from told import Told, bits, tables, told_tables

import nematodebench as nb
from nematodebench.errors import CallbackError, Interrupted
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import resume, run_plan
from nematodebench.sessions.plan import make_plan

TASK = "foraging_small-v1"


def plan(runs=6, brain="null_random", workers=1):
    return make_plan(SessionConfig(task=TASK, brain=brain, runs=runs, episodes=4, seed=3), workers=workers)


class Raises(Told):
    """Raises in the function of this name, from its third call on."""

    def __init__(self, name, error=None):
        super().__init__()
        self.left, self.error = 2, error or RuntimeError("enough")
        self.usual = getattr(self, name, lambda *_: None)
        setattr(self, name, self.go)

    def go(self, *event):
        self.left -= 1
        if self.left < 0:
            raise self.error
        self.usual(*event)


class RaisesAtStep(Raises):
    def on_step(self, step):
        self.go(step)


@pytest.mark.parametrize("name", ["on_run_start", "on_episode", "on_run"])
def test_the_callback_and_the_place_are_named_and_finished_runs_are_kept(name):
    raises, told = Raises(name), Told()
    with pytest.raises(CallbackError) as error:
        run_plan(plan(), callbacks=[told, raises])
    assert f"Raises.{name} raised RuntimeError: enough (test_errors.py, line " in str(error.value)
    assert str(error.value).endswith("The session has stopped.")
    assert isinstance(error.value.__cause__, RuntimeError)
    assert (told.ends, raises.ends) == (1, 1)
    kept = error.value.session
    assert bits(kept) == bits(run_plan(plan()))[: len(kept.results)]
    assert len(kept.results) < 6


def test_an_error_at_a_step_is_no_failure_of_the_run():
    with pytest.raises(CallbackError, match=r"RaisesAtStep\.on_step raised RuntimeError"):
        nb.run(TASK, "null_random", runs=2, episodes=2, seed=3, callbacks=[RaisesAtStep("other")])


def test_an_error_while_runs_are_in_other_processes_stops_them():
    with pytest.raises(CallbackError, match=r"Raises\.on_episode"):
        run_plan(plan(4, "brains_for_tests:Fine", 2), callbacks=[Raises("on_episode")])


def test_an_error_at_the_end_is_told_unless_there_was_another():
    last = Raises("on_end")
    last.left = 0
    with pytest.raises(CallbackError, match=r"Raises\.on_end"):
        run_plan(plan(1), callbacks=[last])
    first, last.left = Raises("on_run"), 0
    first.left = 0
    with pytest.raises(CallbackError, match=r"Raises\.on_run"):
        run_plan(plan(1), callbacks=[last, first])


def test_a_stored_session_goes_on_and_the_log_is_complete(tmp_path):
    with pytest.raises(CallbackError, match="Nothing is lost: nematodebench run --resume") as error:
        run_plan(plan(), root=tmp_path, callbacks=[Raises("on_run")])
    told = Told()
    name = str(error.value).partition("--resume ")[2].split()[0]
    session = resume(name, tmp_path, callbacks=[told])
    assert bits(session) == bits(run_plan(plan()))
    assert told_tables(told, session) == tables(session)
    assert len(told.runs) == 6


def test_whoever_interrupts_ends_the_callbacks_too():
    stop = Raises("on_run", KeyboardInterrupt())
    with pytest.raises(Interrupted):
        run_plan(plan(), callbacks=[stop])
    assert stop.ends == 1
