"""What a library does to a thread's floating-point unit changes no bit of a run, and a run leaves it as it was."""

import ctypes
import threading

import numpy as np
import pytest

import nematodebench as nb
from nematodebench.brains.registry import get_brain
from nematodebench.engine.float_state import standard_floats

SMALL, SMALLER = np.full(1, 1e-30, np.float32), np.full(1, 1e-12, np.float32)
UPWARD = 0x800
TO_NEAREST = 0


def _rounding(mode):
    assert ctypes.CDLL("libm.so.6").fesetround(mode) == 0


def _flushes():
    """Whether numbers below the smallest normal one are made zero in this thread."""
    return float((SMALL * SMALLER)[0]) == 0.0


def _hashes(brain, **more):
    session = nb.run("tracking-v1", brain, runs=1, seed=5, workers=1, **more)
    return [(run.record_hash, run.memory_hash) for run in session.runs]


@pytest.fixture
def flushing():
    torch = pytest.importorskip("torch")
    assert torch.set_flush_denormal(True)
    yield
    torch.set_flush_denormal(False)


@pytest.fixture
def upward():
    _rounding(UPWARD)
    yield
    _rounding(TO_NEAREST)


def test_the_block_computes_as_the_standard_says_and_puts_back_what_it_found(flushing, upward):
    third = np.float64(1) / np.full(1, 3.0)
    assert _flushes()
    with standard_floats():
        assert not _flushes()
        assert (np.float64(1) / np.full(1, 3.0) < third).all()  # the nearest one is below the one above
    assert _flushes()
    assert (np.float64(1) / np.full(1, 3.0) == third).all()


def test_an_error_in_the_block_leaves_the_state_as_it_was(flushing):
    with pytest.raises(ZeroDivisionError), standard_floats():
        raise ZeroDivisionError
    assert _flushes()


def test_threads_that_inherit_the_state_are_set_too(flushing):
    found = []

    def look():
        with standard_floats():
            found.append(_flushes())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [False]


@pytest.mark.parametrize("brain", ["echo_state", "sorn"])
def test_bits_do_not_follow_what_torch_or_another_library_has_set(brain, request):
    wanted = _hashes(brain)
    request.getfixturevalue("flushing")
    assert _hashes(brain) == wanted
    request.getfixturevalue("upward")
    assert _hashes(brain) == wanted
    assert _flushes()


BRAIN = """
import ctypes
import numpy as np

ctypes.CDLL("libm.so.6").fesetround(0x800)  # what an import may leave behind


class Rounds:
    def __init__(self, observation_space, action_space, config, seed):
        self.sum = np.zeros(1)

    def begin_episode(self): ...

    def act(self, observation):
        self.sum += 1.0 / (3.0 + observation.sum())
        return 0

    def learn(self, transition): ...

    def memory(self):
        return self.sum.tobytes()
"""


def test_what_a_brains_import_leaves_behind_is_put_back(tmp_path):
    """Means and intervals of its runs are computed in this thread."""
    (tmp_path / "rounding_one.py").write_text(BRAIN)
    try:
        get_brain(f"{tmp_path / 'rounding_one.py'}:Rounds")
        assert ctypes.CDLL("libm.so.6").fegetround() == TO_NEAREST
    finally:
        _rounding(TO_NEAREST)


def test_what_a_brains_import_leaves_behind_reaches_no_worker(tmp_path):
    """In a worker process the file is imported there; without the line that sets the rounding bits are the same."""
    found = []
    for name, text in (("plain_one", BRAIN.replace("ctypes.CDLL", "# ctypes.CDLL")), ("other_one", BRAIN)):
        (tmp_path / f"{name}.py").write_text(text)
        brain = f"{tmp_path / name}.py:Rounds"
        try:
            session = nb.run("foraging_small-v1", brain, runs=2, episodes=3, seed=1, workers=2)
        finally:
            _rounding(TO_NEAREST)
        found.append([(run.record_hash, run.memory_hash) for run in session.runs])
    assert found[0] == found[1]
