"""A run that takes longer than it may has failed, and the others go on; whoever stops a run is answered inside it."""

import signal
import subprocess
import sys
import threading
import time

import pytest

import nematodebench as nb
from nematodebench.engine.loop import TIME_IS_UP
from nematodebench.engine.run import RunSpec, execute
from nematodebench.engine.watching import Watch
from nematodebench.errors import UsageError
from nematodebench.tasks.registry import get_task

WAITS = """
import time

class Waits:
    'Waits for ever in runs of some seeds.'

    def __init__(self, observation_space, action_space, config, seed):
        self.waits = seed % 3 == 0

    def begin_episode(self): ...

    def act(self, observation):
        {wait}
        return 0

    def learn(self, transition): ...
"""
FOR_EVER = "while self.waits: time.sleep(3600)"
SLOWLY = "time.sleep(0.02)"


class Endless:
    """Episodes that last until somebody stops the run."""

    def __init__(self, observation_space, action_space, config, seed): ...

    def begin_episode(self): ...

    def act(self, observation):
        time.sleep(0.005)
        return 0

    def learn(self, transition): ...


def _brain(tmp_path, wait):
    (tmp_path / "waits.py").write_text(WAITS.format(wait=wait))
    return f"{tmp_path / 'waits.py'}:Waits"


def test_a_compiled_run_that_takes_too_long_has_failed_and_says_so():
    session = nb.run("foraging_small-v1", "mlp_ppo", runs=2, episodes=2_000_000, seed=1, timeout=0.3, workers=1)
    for run in session.failed_runs:
        assert "took longer than the 0.3 s that it may take (--timeout) at episode " in run.failure.message
    assert len(session.failed_runs) == 2


def test_runs_in_time_have_the_same_bits_as_without_a_limit():
    given = {"task": "foraging_small-v1", "brain": "q_table", "runs": 2, "episodes": 5, "seed": 4, "workers": 1}
    limited, free = nb.run(**given, timeout=600), nb.run(**given)
    assert [run.record_hash for run in limited.runs] == [run.record_hash for run in free.runs]


def test_a_python_brain_that_waits_for_ever_ends_with_its_process_and_the_others_go_on(tmp_path):
    session = nb.run("foraging_small-v1", _brain(tmp_path, FOR_EVER), runs=6, episodes=1, seed=2, workers=1, timeout=1)
    failed = {run.index for run in session.failed_runs}
    assert 0 < len(failed) < 6
    assert all("longer than the 1 s" in run.failure.message for run in session.failed_runs)


def test_a_python_brain_in_this_process_is_stopped_between_its_steps():
    session = nb.run("foraging_small-v1", Endless, runs=1, seed=2, timeout=0.2)
    assert "longer than the 0.2 s" in session.failed_runs[0].failure.message


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(UsageError, match="give a number above 0"):
        nb.run("foraging_small-v1", "null_random", runs=1, timeout=limit)


def test_whoever_watches_can_stop_a_python_brain_inside_an_episode():
    watch, results = Watch(), []
    spec = RunSpec(get_task("foraging_small-v1"), "x:Endless", Endless, None, 1)
    thread = threading.Thread(target=lambda: results.append(execute(spec, watch)))
    thread.start()
    while not watch._controls:
        time.sleep(0.01)
    watch.stop()
    thread.join()
    assert "was interrupted at episode 0" in results[0].failure.message
    assert watch._controls[0].stop != TIME_IS_UP


@pytest.mark.parametrize("wait", [SLOWLY, FOR_EVER])
def test_ctrl_c_is_answered_whatever_the_brain_does(tmp_path, wait):
    """An episode of such a brain takes minutes, or does not end; the answer comes, and nobody is left behind."""
    words = ["run", "foraging_small-v1", _brain(tmp_path, wait), "--runs", "4", "--workers", "2", "--seed", "2"]
    line = [sys.executable, "-m", "nematodebench", *words, "--track", "--output", str(tmp_path / "out")]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path)
    while not list(tmp_path.glob("out/*/session.json")):
        time.sleep(0.02)
        assert process.poll() is None
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Nothing is lost: nematodebench run --resume " in errors
