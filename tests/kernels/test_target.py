"""Code generation is pinned, and compiled code is kept where the sources say."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nematodebench
from nematodebench.kernels.target import cache_dir, code_generation

PACKAGE = Path(nematodebench.__file__).parent
X86 = platform.machine().lower() in {"x86_64", "amd64"}

_WHERE = """
import nematodebench, pathlib
from nematodebench.kernels.target import cache_dir
package = pathlib.Path(nematodebench.__file__).parent
files = [package / file for file in ("worlds/worm/foraging.py", "brains/classical/mlp_ppo.py", "engine/loop.py")]
assert all(file.is_file() for file in files), files
print(*(cache_dir(str(file)) for file in files))
"""
_RUN = """
import json
import nematodebench as nb
from nematodebench.kernels.target import cache_root
session = nb.run("foraging_small-v1", "null_random", runs=1, episodes=2, seed=1, workers=1)
print(json.dumps([str(cache_root()), session.runs[0].record_hash, session.failed_runs]))
"""


def child(code, source=PACKAGE.parent, **environment):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**inherited, "PYTHONPATH": str(source), **{k: str(v) for k, v in environment.items()}}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory):
    source = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, source / "nematodebench", ignore=shutil.ignore_patterns("__pycache__"))
    return source


@pytest.mark.skipif(not X86, reason="other processors are not pinned")
def test_code_is_generated_for_a_level_not_for_the_host():
    from numba.core.registry import cpu_target

    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    assert (name, features) == (code_generation(), "")
    assert name in {"x86-64", "x86-64-v3"}


@pytest.mark.skipif(not X86, reason="other processors are not pinned")
def test_something_compiled_for_the_host_before_is_admitted():
    """Numba fixes its target at the first compilation: then the provenance must not claim a pinned one."""
    code = (
        "import numba\n"
        "numba.njit('f8(f8)')(lambda x: x + 1)\n"
        "from nematodebench.kernels.target import code_generation\n"
        "print(code_generation())"
    )
    assert "not pinned" in child(code)


def test_two_processes_share_a_folder(package_copy, tmp_path):
    assert child(_WHERE, package_copy, NEMATODEBENCH_CACHE_DIR=tmp_path) == child(
        _WHERE, package_copy, NEMATODEBENCH_CACHE_DIR=tmp_path
    )


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("kernels/math.py", [True, True, True]),
        ("kernels/views.py", [True, True, True]),
        ("worlds/worm/body.py", [True, False, False]),
        ("brains/parts/heads.py", [False, True, False]),
        ("engine/loop.py", [False, False, True]),
        ("brains/classical/mlp_dqn.py", [False, False, False]),
    ],
)
def test_an_edited_byte_moves_what_depends_on_it_and_nothing_else(package_copy, tmp_path, file, changed):
    before = child(_WHERE, package_copy, NEMATODEBENCH_CACHE_DIR=tmp_path).split()
    path = package_copy / "nematodebench" / file
    original = path.read_bytes()
    path.write_bytes(original + b"\n")
    try:
        after = child(_WHERE, package_copy, NEMATODEBENCH_CACHE_DIR=tmp_path).split()
    finally:
        path.write_bytes(original)
    assert {Path(folder).parent for folder in before + after} == {tmp_path}
    assert [one != other for one, other in zip(before, after, strict=True)] == changed


def test_the_folder_is_in_the_users_cache_unless_told_otherwise(tmp_path):
    without = {"NEMATODEBENCH_CACHE_DIR": "", "XDG_CACHE_HOME": tmp_path}
    assert Path(child(_WHERE, **without).split()[0]).parent == tmp_path / "nematodebench"


def test_compiled_code_is_in_the_folder():
    nematodebench.run("foraging_small-v1", "null_random", runs=1, episodes=2, seed=1, workers=1)
    assert any(cache_dir(str(PACKAGE / "worlds" / "worm" / "foraging.py")).rglob("*.nbc"))


@pytest.mark.slow
def test_an_unwritable_folder_costs_only_the_cache(tmp_path):
    """A file where the folder should be cannot be written to, not even by root."""
    blocked, temporary = tmp_path / "blocked", tmp_path / "temporary"
    blocked.write_text("no folder")
    temporary.mkdir()
    where, bits, failed = json.loads(child(_RUN, NEMATODEBENCH_CACHE_DIR=blocked, TMPDIR=temporary))
    assert Path(where).parent == temporary
    assert failed == []
    warm = nematodebench.run("foraging_small-v1", "null_random", runs=1, episodes=2, seed=1, workers=1)
    assert bits == warm.runs[0].record_hash


def test_the_file_beside_a_brain_from_outside_moves_its_folder(tmp_path):
    brain, helper = tmp_path / "outer_brain.py", tmp_path / "outer_helper.py"
    brain.write_text("import numpy as np\nfrom outer_helper import value\n")
    helper.write_text("value = 1\n")
    script = f"from nematodebench.kernels.target import cache_dir; print(cache_dir({str(brain)!r}))"

    def folder():
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    first = folder()
    assert folder() == first
    helper.write_text("value = 2\n")
    assert folder() != first
