"""A wheel that brings compiled kernels: who installs it compiles nothing, and others cannot slip code into it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN = ["run", "foraging_small-v1", "null_random", "--runs", "1", "--episodes", "2", "--seed", "1"]

pytestmark = pytest.mark.slow


def call(*command, **environment):
    line = [str(part) for part in command]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder where such a wheel, with the kernels of one task and one brain, was installed."""
    pytest.importorskip("hatchling")
    compiled, dist, site = (tmp_path_factory.mktemp(name) for name in ("compiled", "dist", "site"))
    names = ["--task", "foraging_small-v1", "--brain", "null_random"]
    call(sys.executable, "scripts/compile_kernels.py", compiled, *names)
    pip = [sys.executable, "-m", "pip"]
    building = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", dist, ROOT]
    call(*pip, *building, NEMATODEBENCH_COMPILED=str(compiled))
    (wheel,) = dist.glob("*.whl")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.split("-")[2:4] == [python, python]
    inside = [name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("nematodebench/compiled/")]
    assert all(name.endswith(".nbc") for name in inside)
    assert any("foraging.step" in name for name in inside)
    call(*pip, "install", "--quiet", "--no-deps", "--target", site, wheel)
    return site


def run(site, cache):
    """What a first run tells, with an empty cache."""
    return call(
        sys.executable, "-m", "nematodebench", *RUN, PYTHONPATH=str(site), NEMATODEBENCH_CACHE_DIR=str(cache)
    ).stderr


def test_the_first_run_compiles_nothing(site, tmp_path):
    assert "compiling" not in run(site, tmp_path)
    assert not list(tmp_path.rglob("*.nbc"))


def test_an_edited_source_is_compiled(site, tmp_path):
    path = site / "nematodebench" / "worlds" / "worm" / "body.py"
    original = path.read_bytes()
    path.write_bytes(original + b"\n")
    try:
        assert "compiling foraging.step" in run(site, tmp_path)
    finally:
        path.write_bytes(original)


def test_kernels_that_others_may_write_are_not_loaded(site, tmp_path):
    folder = site / "nematodebench" / "compiled"
    folder.chmod(0o777)
    try:
        assert "compiling foraging.step" in run(site, tmp_path)
    finally:
        folder.chmod(0o755)
