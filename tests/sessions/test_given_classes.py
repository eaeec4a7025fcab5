"""A brain is given by its name, by ``file.py:Class``, or as the class itself; the results are the same."""

import subprocess
import sys

import numpy as np
import pytest
from brains_for_tests import Fine

import nematodebench as nb
from nematodebench.brains.registry import get_brain, importable_elsewhere, list_brains, name_of
from nematodebench.errors import UsageError

TASK = "foraging_small-v1"


def hashes(session):
    return [(run.record_hash, run.memory_hash) for run in session.runs]


def short(brain, **more):
    return nb.run(TASK, brain, runs=2, episodes=2, seed=3, **more)


def test_a_class_of_this_package_has_its_own_name():
    assert name_of(get_brain("null_random")) == "null_random"


def test_a_class_that_only_this_process_knows_is_run_here():
    class Local(Fine):
        pass

    before = np.random.get_state()[1].tolist()
    given, other = short(Local), short(Fine, workers=1)
    assert np.random.get_state()[1].tolist() == before
    assert (given.plan.executor, given.plan.workers) == ("threads", 1)
    assert (other.plan.executor, other.plan.brain_name) == ("processes", "brains_for_tests:Fine")
    assert hashes(given) == hashes(other)
    assert given.metadata().brain == f"{__name__}:{Local.__qualname__}"
    assert given.plan.brain_name not in list_brains()
    with pytest.raises(UsageError, match="Put the class in a file of its own"):
        short(Local, workers=2)


def test_an_instance_is_no_class():
    with pytest.raises(UsageError, match="as a class; this is a Fine"):
        nb.run(TASK, object.__new__(Fine))


class OfNoKind(Fine):
    kind = "telepathic"


def test_a_kind_that_does_not_exist_is_refused_before_anything_runs():
    with pytest.raises(UsageError, match="kind is 'telepathic': it is one of classical, spiking"):
        short(OfNoKind)


SCRIPT = """
import nematodebench as nb
from brains_for_tests import Fine

class Mine(Fine):
    pass

{guard}session = nb.run("foraging_small-v1", Mine, runs=2, episodes=2, seed=3, workers={workers})
{guard}print(session.plan.brain_name, session.plan.executor, session.runs[1].record_hash)
"""


def test_a_script_that_would_run_again_in_a_worker_is_run_in_one_process(tmp_path):
    assert _executed(tmp_path, SCRIPT.format(guard="", workers=None))[:2] == ["script.py:Mine", "threads"]


@pytest.mark.slow
def test_a_script_with_a_guard_uses_processes(tmp_path):
    name, executor, record_hash = _executed(tmp_path, SCRIPT.format(guard="if __name__ == '__main__': ", workers=1))
    assert (name, executor) == ("script.py:Mine", "processes")
    assert record_hash == short(Fine, workers=1).runs[1].record_hash


def _executed(folder, text):
    (folder / "script.py").write_text(text)
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importable_elsewhere():
    assert importable_elsewhere(Fine)
    assert not importable_elsewhere(type("Made", (), {}))
