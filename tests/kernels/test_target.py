"""Code generation is pinned, and compiled code is kept where the sources say."""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nematodebench
from nematodebench.kernels.target import _closure, _imported, _key, cache_dir, code_generation

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


@pytest.mark.parametrize(
    ("brain", "line", "helper"),
    [
        ("outer_brain.py", "from outer_helper import value", "outer_helper.py"),
        ("outer_brain.py", "import outer_helper as helper", "outer_helper.py"),
        ("outer_brain.py", "import json, outer_helper", "outer_helper.py"),
        ("pack/brain.py", "from pack.parts.helper import value", "pack/parts/helper.py"),
        ("pack/brain.py", "from pack.parts import helper", "pack/parts/helper.py"),
        ("pack/brain.py", "from .parts import helper", "pack/parts/helper.py"),
        ("pack/parts/brain.py", "from ..helper import value", "pack/helper.py"),
        ("pack/brain.py", "import pack", "pack/__init__.py"),
        ("outer_brain.py", "from on_the_path import value", "shared/on_the_path.py"),
        ("outer_brain.py", "table = np.load('table.npy')", "table.npy"),
        ("pack/brain.py", "table = np.load(HERE / 'parts' / 'table.npy')", "pack/parts/table.npy"),
    ],
)
def test_a_file_that_a_brain_from_outside_imports_or_names_moves_its_folder(tmp_path, monkeypatch, brain, line, helper):
    monkeypatch.syspath_prepend(str(tmp_path / "shared"))
    for folder in (tmp_path / "shared", tmp_path / "pack", tmp_path / "pack" / "parts"):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (tmp_path / brain).write_text(f"import numpy as np\n{line}\n")
    (tmp_path / helper).write_text("value = 1\n")

    def folder_of_code():
        _imported.cache_clear()
        _key.cache_clear()
        return cache_dir(str(tmp_path / brain))

    first = folder_of_code()
    assert folder_of_code() == first
    (tmp_path / helper).write_text("value = 2\n")
    assert folder_of_code() != first


@pytest.mark.parametrize(
    "line",
    ["from nematodebench.kit import forward", "import nematodebench.kit as kit", "from nematodebench import kit"],
)
def test_a_brain_of_the_kit_depends_on_the_kit_and_on_no_library(tmp_path, line):
    (tmp_path / "brain.py").write_text(f"import numpy as np\n{line}\n")
    names = {path.relative_to(PACKAGE.parent) for path in _closure([tmp_path / "brain.py"]) if path.name != "brain.py"}
    assert Path("nematodebench/kernels/mlp.py") in names


def test_a_library_beside_an_installed_brain_is_not_followed(tmp_path):
    packages = tmp_path / "site-packages"
    (packages / "pack").mkdir(parents=True)
    for name in ("library.py", "pack/__init__.py", "pack/helper.py"):
        (packages / name).write_text("")
    (packages / "pack" / "brain.py").write_text("import library\nfrom pack import helper\n")
    found = {path.name for path in _closure([packages / "pack" / "brain.py"])}
    assert found == {"brain.py", "helper.py", "__init__.py"}


@pytest.mark.parametrize("content", [b"def (", b"# \xff\n", b"x = '\0'"], ids=["no Python", "no UTF-8", "a null byte"])
def test_a_module_that_nobody_can_import_stops_nothing(tmp_path, content):
    """A brain may try to import it, and do without."""
    (tmp_path / "brain.py").write_text("try:\n    import broken\nexcept Exception:\n    pass\n")
    (tmp_path / "broken.py").write_bytes(content)
    assert {path.name for path in _closure([tmp_path / "brain.py"])} == {"brain.py", "broken.py"}


_OUTSIDE = """
import sys
import time
import nematodebench as nb
from nematodebench.brains.registry import get_brain
from nematodebench.engine.run import compile_for
from nematodebench.tasks.registry import get_task
brain = get_brain("outer_walk.py:OuterWalk")
compile_for(get_task("foraging_small-v1"), brain)
print(sum(brain.act.stats.cache_hits.values()), sum(brain.act.stats.cache_misses.values()))
"""
_WALK = """
import numpy as np
from nematodebench.kit import F32, U64, BrainMemory, CompiledBrain, randint, size

class Memory(BrainMemory):
    choices = size()

@Memory.kernel
def act(brain: Memory, rng: U64, action: F32) -> None:
    action[0] = np.float32(randint(rng, brain.choices))

class OuterWalk(CompiledBrain):
    name, kind, memory, act = "outer_walk", "scripted", Memory, staticmethod(act)
"""


def test_what_a_compiled_brain_takes_from_its_module_is_part_of_its_code(tmp_path, monkeypatch):
    """A global is a constant in machine code: code on disk with another value would be executed in silence."""
    monkeypatch.chdir(tmp_path)
    source = _WALK.replace("import numpy as np\n", "import os\nimport numpy as np\nSTEP = int(os.environ['STEP'])\n")
    (tmp_path / "outer_walk.py").write_text(f"{source.replace('brain.choices)', 'STEP)')}\n# {time.time_ns()}\n")
    assert [child(_OUTSIDE, STEP=step) for step in "1221"] == ["0 1", "0 1", "1 0", "1 0"]


def test_a_compiled_brain_outside_the_repository_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outer_walk.py").write_text(f"{_WALK}\n# {time.time_ns()}: code that nobody has compiled before\n")
    assert [child(_OUTSIDE), child(_OUTSIDE)] == ["0 1", "1 0"]
