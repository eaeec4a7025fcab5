"""How host and brain wait for each other, and processes that are started ahead: faster, and never another result."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from test_isolation import SEED, TASK, foreign, in_process, run

from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.isolation import host, sandbox, seats, spares
from nematodebench.engine.isolation.mailbox import Patience
from nematodebench.engine.isolation.process import Process
from nematodebench.engine.isolation.shared import LOOK, SLEEP, YIELD
from nematodebench.engine.run import RunSpec, execute


@pytest.fixture
def started(monkeypatch):
    """Every process of a brain that is started."""
    every, begin = [], Process.__init__

    def noted(self, *given):
        begin(self, *given)
        every.append(self)

    monkeypatch.setattr(Process, "__init__", noted)
    return every


def test_the_process_of_the_next_run_starts_ahead_and_none_is_left(started):
    specs = [RunSpec(TASK, "KeepsState", foreign("KeepsState"), {}, SEED, k) for k in range(3)]
    seen = [(result.record_hash, len(started)) for result in execute_all(specs, "threads", 1, Watch())]
    assert [hash_ for hash_, _ in seen] == [in_process("Honest").record_hash] * 3
    assert [count for _, count in seen] == [2, 3, 3], "one ahead, and no more than there are runs"
    assert all(process.returncode is not None for process in started)


def test_processes_that_nobody_took_are_ended(started):
    specs = [RunSpec(TASK, "Honest", foreign("Honest"), {}, SEED, k) for k in range(3)]
    runs = execute_all(specs, "threads", 1, Watch())
    next(runs)
    runs.close()
    assert all(process.returncode is not None for process in started)
    assert not spares._SPARES


def test_a_brain_that_cannot_be_imported_fails_the_run_and_not_the_process_ahead(tmp_path):
    (tmp_path / "broken.py").write_text("raise RuntimeError('not today')")
    brain = host.Foreign(f"{tmp_path}/broken.py:Brain", (tmp_path / "broken.py",), seconds=60)
    specs = [RunSpec(TASK, "Brain", brain, {}, SEED, k) for k in range(2)]
    messages = [result.failure.message for result in execute_all(specs, "threads", 1, Watch())]
    assert all("not today" in message for message in messages)


@pytest.mark.parametrize("cores", [{0}, {0, 1}, {0, 1, 2, 3}])
def test_a_run_has_two_cores_where_there_are_two_for_every_run(cores, monkeypatch):
    put: dict[int, set[int]] = {}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    monkeypatch.setattr(os, "sched_setaffinity", lambda number, given: put.update({number: given}))
    monkeypatch.setattr(seats, "_ROOM", seats._Room())
    told: dict[int, int] = {}

    def seat(number):
        return seats.Seat(number, lambda way: told.update({number: way}))

    first = seat(-1)
    alone = LOOK if len(cores) >= 2 else YIELD
    assert told == {-1: alone}
    here = threading.get_native_id()
    assert (put[here] != put[-1]) == (alone == LOOK)
    second = seat(-2)
    assert told == dict.fromkeys((-1, -2), LOOK if len(cores) >= 4 else YIELD if len(cores) >= 2 else SLEEP)
    second.leave()
    first.try_again()
    assert told[-1] == alone
    first.give_up(slow=False)
    assert told[-1] == (YIELD if alone == LOOK else SLEEP)
    assert put[here] == put[-1]
    first.try_again()
    assert told[-1] != alone, "somebody needed the core a moment ago"
    monkeypatch.setattr(seats._ROOM, "_crowded", (0.0, LOOK))
    first.try_again()
    assert told[-1] == alone
    first.give_up(slow=True)
    assert told[-1] == SLEEP
    assert put[here] == put[-1]
    first.leave()
    assert put[here] == cores


@pytest.mark.parametrize(
    ("lost", "slept", "gives_up"),
    [(0.0, 0.0, []), (0.0, 40.0, []), (0.1, 0.0, []), (0.7, 0.0, [False]), (0.0, 60.0, [True])],
)
@pytest.mark.parametrize("way", [LOOK, YIELD])
def test_a_run_does_not_stay_awake_if_others_need_its_cores_or_the_brain_is_slow(way, lost, slept, gives_up):
    given_up: list[bool] = []
    brains = object.__new__(host.IsolatedBrains)
    brains.hyper = np.zeros(Patience.count())
    patience = Patience(brains.hyper)
    brains._in_vain = False
    brains._seat = SimpleNamespace(
        way=way, lost=lambda: lost, try_again=lambda: None, give_up=lambda *, slow: given_up.append(slow)
    )
    for _ in range(2):
        assert not given_up, "once may be the start of the next run's process"
        patience.answers, patience.slept = 100.0, slept
        brains._give_up_in_vain()
    assert given_up == gives_up
    assert patience.answers == patience.slept == 0.0
    brains._give_up_in_vain()
    assert given_up == gives_up, "nothing is judged before there are answers"


@pytest.mark.parametrize("way", [LOOK, YIELD, SLEEP])
def test_the_bits_are_the_same_however_the_sides_wait_for_each_other(way, monkeypatch):
    monkeypatch.setattr(seats._Room, "_way", lambda room: way)
    monkeypatch.setattr(host.IsolatedBrains, "_give_up_in_vain", lambda self: None)
    result = run("Honest")
    assert result.failure is None
    assert result.record_hash == in_process("Honest").record_hash


def test_a_process_that_is_still_starting_is_not_taken_for_a_slow_brain(tmp_path, monkeypatch):
    """Its first answer comes late, and is the only one of the first glance."""
    given_up: list[bool] = []
    monkeypatch.setattr(seats.Seat, "give_up", lambda self, *, slow: given_up.append(slow))
    monkeypatch.setattr(seats.Seat, "lost", lambda self: 0.0)
    (tmp_path / "late.py").write_text(
        "import time\ntime.sleep(0.5)\n\n\nclass Brain:\n    def __init__(self, *given):\n        pass\n\n"
        "    def begin_episode(self):\n        pass\n\n    def act(self, observation):\n        return 0\n\n"
        "    def learn(self, transition):\n        pass\n"
    )
    brain = host.Foreign(f"{tmp_path}/late.py:Brain", (tmp_path / "late.py",), seconds=60)
    assert execute(RunSpec(TASK, "Brain", brain, {}, SEED)).failure is None
    assert not given_up


def test_a_brain_sees_what_libraries_choose_their_code_by_and_nothing_else(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("SECRET", "nobody's business")
    brain = foreign("Honest")
    words = sandbox.command(["x"], brain.readable, brain.limits)
    seen = {words[n + 1] for n, word in enumerate(words) if word == "--setenv"}
    assert "OPENBLAS_CORETYPE" in seen
    assert "SECRET" not in seen
    assert "--clearenv" in words


def test_a_numpy_brain_sums_with_the_same_code_in_the_sandbox(tmp_path, monkeypatch):
    """A library that is told to use other code than the processor's best gives other bits: on both sides, then."""
    source = tmp_path / "choice.py"
    source.write_text(
        "import os\n\n\nclass Brain:\n"
        "    def __init__(self, *given):\n        self.told = os.environ.get('OPENBLAS_CORETYPE', '')\n\n"
        "    def begin_episode(self):\n        pass\n\n    def act(self, observation):\n        return 0\n\n"
        "    def learn(self, transition):\n        pass\n\n    def memory(self):\n        return self.told.encode()\n"
    )
    brain = host.Foreign(f"{source}:Brain", (source,), seconds=60)
    hashes = set()
    for code in ("Haswell", "Prescott"):
        monkeypatch.setenv("OPENBLAS_CORETYPE", code)
        result = execute(RunSpec(TASK.with_episodes(1), "Brain", brain, {}, SEED))
        assert result.failure is None, result.failure
        hashes.add(result.memory_hash)
    assert len(hashes) == 2
