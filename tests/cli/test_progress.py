"""The live view: what it says, that it fits, and that it says little where there is no terminal."""

import io
import sys
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from nematodebench.cli import progress as shown
from nematodebench.cli.progress import counts, duration, live_view, number, pace, show_progress
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.sessions import progress as session_progress
from nematodebench.sessions.audience import Recent
from nematodebench.sessions.config import SessionConfig
from nematodebench.sessions.execution import Progress, run_plan
from nematodebench.sessions.plan import make_plan


@pytest.fixture(autouse=True)
def clock(monkeypatch, request):
    """Ten seconds after the start, for ever."""
    if request.function is not test_steps_are_counted_wherever_runs_are:
        monkeypatch.setattr(session_progress, "time", SimpleNamespace(perf_counter=lambda: 10.0))


def progress(done=12, failed=1, total=50, current=2, success=0.5, steps=1_000_000):
    made = Progress(started=0.0)
    made.begin(total, [])
    made.started = 0.0
    for index in range(done):
        made.ended(RunResult(index, 0, failure=RunFailure("why") if index < failed else None))
    made.current.update({100 + n: Recent(2.0 * n, success, 0.25) for n in range(current)})
    made.watch._told[0] = steps
    return made


def lines(made, label="foraging_small-v2 mlp_ppo", width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(live_view(made, label))
    return console.file.getvalue().splitlines()


def test_it_says_runs_time_steps_and_how_current_runs_do():
    made = progress()
    assert counts(made) == "12/50 runs, 1 failed, 38 left"
    rate, left, current = pace(made).split(" · ")
    assert rate == "100k steps/s"
    assert left == "30 s left"  # 12.5 runs took ten seconds, 37.5 are left
    assert current == "2 runs now: reward 1.00, success 0.50 (last 20 episodes)"


def test_what_is_not_there_is_not_said():
    assert "failed" not in counts(progress(failed=0))
    assert "success" not in pace(progress(success=None))
    assert pace(progress(done=0, failed=0, current=0, steps=0)) == "starting"
    assert counts(Progress()) == "compiling"
    assert "1 run now" in pace(progress(current=1))


@pytest.mark.parametrize("label", ["foraging_small-v2 mlp_ppo", "foraging_large-v1 a/path/" + "that/is/long/" * 20])
@pytest.mark.parametrize("width", [100, 80])
def test_it_fits_the_terminal(label, width):
    first, second = lines(progress(done=4321, total=10_000, current=64, steps=10**9), label, width)
    assert max(len(first), len(second)) <= width
    assert "4321/10000 runs, 1 failed, 5679 left" in first
    assert "100M steps/s" in second


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (850, "850"), (4400, "4.4k"), (238_000, "238k"), (1.7e6, "1.7M")]
)
def test_numbers_are_short(value, said):
    assert number(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (8100, "2 h 15 min")]
)
def test_durations_are_said_as_people_say_them(value, said):
    assert duration(value) == said


def test_a_long_session_without_a_terminal_writes_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(shown, "_SECONDS", 0.01)
    made = progress()
    with show_progress(made, "pong-v1 mlp_dqn"):
        assert made.shown
        while not (said := capsys.readouterr().err):
            time.sleep(0.01)
    assert said.startswith("pong-v1 mlp_dqn: 12/50 runs, 1 failed, 38 left, 100k steps/s · ")


def test_a_short_one_and_a_quiet_one_write_nothing(capsys):
    with show_progress(progress(), "pong-v1 mlp_dqn"):
        pass
    quiet = progress()
    with show_progress(quiet, "pong-v1 mlp_dqn", quiet=True):
        assert not quiet.shown
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_it_and_is_clean_afterwards(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with show_progress(progress(), "pong-v1 mlp_dqn"):
        pass
    assert "12/50 runs, 1 failed, 38 left" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the last line is erased


@pytest.mark.parametrize(("brain", "workers"), [("null_random", 2), ("brains_for_tests:Fine", 2)])
def test_steps_are_counted_wherever_runs_are(brain, workers):
    made = Progress(shown=True)
    given = SessionConfig(task="foraging_small-v1", brain=brain, runs=3, episodes=3, seed=3)
    session = run_plan(make_plan(given, workers=workers), progress=made)
    assert made.watch.steps() == session.steps > 0
    assert (made.done, made.failed, made.current) == (3, 0, {})
    assert made.seconds_left() == 0
