"""Machine code on disk: found wherever its source lies, made anew where it is spoilt, and taken from nobody else."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from nematodebench.kernels import target
from nematodebench.kernels.code_cache import KernelCache
from nematodebench.kernels.jit import kernel


def doubled(values):
    for n in range(values.size):
        values[n] *= 2.0


@pytest.fixture
def place(tmp_path):
    """The folder of the user, and one that came with the package, neither of which exists."""
    return tmp_path / "kept" / "key", tmp_path / "compiled" / "key"


def run(place):
    """Executes the function in a dispatcher of its own; how often its code was found on disk."""
    dispatcher = kernel(cached=True)(doubled)
    dispatcher._cache = KernelCache(doubled, lambda: place)
    values = np.ones(3)
    dispatcher(values)
    assert values.tolist() == [2.0, 2.0, 2.0]
    return sum(dispatcher.stats.cache_hits.values())


def test_code_is_kept_and_found(place):
    assert [run(place), run(place)] == [0, 1]
    (path,) = place[0].iterdir()
    assert path.name.startswith("test_code_cache.doubled-")


@pytest.mark.parametrize("content", [b"", b"no machine code", None])
def test_spoilt_code_is_compiled_anew(place, content):
    run(place)
    (path,) = place[0].iterdir()
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    assert [run(place), run(place)] == [0, 1]


def test_one_wrong_bit_is_noticed_wherever_it_is(place):
    """A file that can be unpickled may still hold other machine code: nothing is loaded whose hash is wrong."""
    run(place)
    (path,) = place[0].iterdir()
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert run(place) == 0
    assert run(place) == 1


@pytest.mark.parametrize("name", ["NUMBA_OPT", "NUMBA_SLP_VECTORIZE", "NUMBA_BOUNDSCHECK", "NUMBA_ANYTHING_NEW"])
def test_settings_that_change_machine_code_have_a_cache_of_their_own(monkeypatch, name):
    def folder():
        target._key.cache_clear()
        return target.cache_dirs(__file__)[0]

    usual = folder()
    monkeypatch.setenv(name, "1")
    assert folder() != usual
    monkeypatch.delenv(name)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert folder() == usual


def shipped(place):
    """Moves what was compiled to where a wheel would have it."""
    run(place)
    place[1].parent.mkdir()
    shutil.move(place[0], place[1])
    return place[1]


def test_code_that_came_with_the_package_is_read_and_not_written(place):
    folder = shipped(place)
    assert run(place) == 1
    assert not place[0].exists()
    assert len(list(folder.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner")
@pytest.mark.parametrize("level", [0, 1, 2])
def test_shipped_code_that_others_may_write_is_not_loaded(place, level):
    folder = shipped(place)
    (path,) = folder.iterdir()
    (path, folder, folder.parent)[level].chmod(0o777)
    assert run(place) == 0


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path):
    (tmp_path / "file").touch()
    place = (tmp_path / "file" / "key", tmp_path / "none")
    assert [run(place), run(place)] == [0, 0]


DEMANDING = """
import math
import sys
from pathlib import Path

import numpy as np

from nematodebench.kernels.code_cache import KernelCache
from nematodebench.kernels.jit import kernel


def plain(values):
    values[0] = values.sum()


def multiplied(values):
    values[0] = np.dot(values[:2], values[2:])


def drawn(values):
    np.random.seed(3)
    values[0] = np.random.normal() + np.random.randint(5)


def computed(values):
    values[0] = np.tanh(values[1]) ** values[2] + math.lgamma(values[3])


for function in (plain, multiplied, drawn, computed):
    dispatcher = kernel(cached=True)(function)
    dispatcher._cache = KernelCache(function, lambda: (Path(sys.argv[1]), Path(sys.argv[1], "none")))
    values = np.array([2.0, 1.0, 1.0, 3.0])
    dispatcher(values)
    print(sum(dispatcher.stats.cache_hits.values()), "numba.np.npyimpl" in sys.modules, values.tobytes().hex())
"""


def test_code_from_disk_finds_whatever_it_calls(tmp_path):
    """Machine code that calls a name which nobody has brought ends the process, so what it needs is brought before."""
    lines = []
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", DEMANDING, str(tmp_path / "kept")], capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stderr
        lines.append([line.split() for line in found.stdout.splitlines()])
    compiled, loaded = lines
    assert [line[0] for line in compiled] == ["0"] * 4
    assert [line[0] for line in loaded] == ["1"] * 4
    assert [line[2] for line in compiled] == [line[2] for line in loaded]
    assert loaded[0][1] == "False", "what a plain function does not need takes half of its time"
