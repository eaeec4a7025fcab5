"""``run --debug`` opens the debugger where a brain fails."""

import subprocess
import sys

FAILING = """
class Failing:
    def __init__(self, observation_space, action_space, config, seed):
        self.steps = 0

    def begin_episode(self):
        pass

    def act(self, observation):
        self.steps += 1
        return [0] if self.steps > 9 else 0 / (self.steps < 7)

    def learn(self, transition):
        pass
"""


def run(folder, *words, typed=""):
    command = [sys.executable, "-m", "nematodebench", "run", "gridworld-v2", *words, "--debug"]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, input=typed, check=False)


def test_the_debugger_stands_where_the_brain_failed(tmp_path):
    (tmp_path / "failing.py").write_text(FAILING)
    done = run(tmp_path, "failing.py:Failing", typed="p self.steps\nq\n")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "failing.py(11)act()" in done.stdout
    assert "(Pdb) 7" in done.stdout


def test_a_run_that_ends_well_says_so_and_stores_nothing(tmp_path):
    done = run(tmp_path, "q_table")
    assert done.returncode == 0, done.stderr
    assert "run 0 ended after" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_twin_is_debugged_too(tmp_path):
    (tmp_path / "failing.py").write_text(FAILING)
    done = run(tmp_path, "failing.py:Failing", "--twin", typed="q\np self.steps\nq\n")
    assert done.returncode == 1
    assert "gridworld_untrained-v2 failing.py:Failing: run 0" in done.stderr
    assert "(Pdb) 7" in done.stdout


COMPILED = """
import numpy as np
from nematodebench.kit import F32, BrainMemory, CompiledBrain, counter

class Memory(BrainMemory):
    steps = counter()

@Memory.kernel
def act(brain: Memory, action: F32) -> None:
    brain.steps += 1
    action[brain.steps // 4] = np.float32(0)

class Wrong(CompiledBrain):
    name, kind, memory, act = "wrong", "scripted", Memory, staticmethod(act)
"""


def test_a_compiled_brain_of_ones_own_is_debugged_in_the_interpreter(tmp_path):
    (tmp_path / "wrong.py").write_text(COMPILED)
    done = run(tmp_path, "wrong.py:Wrong", typed="p brain.steps\nq\n")
    assert done.returncode == 1
    assert "in the interpreter, which is slow" in done.stderr
    assert "wrong.py(11)act()" in done.stdout
    assert "(Pdb) 4" in done.stdout
