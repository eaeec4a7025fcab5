"""The wheel, installed somewhere else, is whole."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ANCHORS = "nematodebench/tasks/anchors"

pytestmark = pytest.mark.slow


def call(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def outside(wheel, tmp_path_factory):
    """Runs commands where the repository is neither the folder nor the source of the package."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("outside")
    call(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel)
    environment = {**os.environ, "PYTHONPATH": str(site), "PATH": f"{site / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(*command):
        return call(*command, cwd=folder, env=environment)

    run.site = site
    return run


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/nematodebench").rglob("*.py")}
    assert source <= set(names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"nematodebench"}
    assert not any("__pycache__" in name for name in names)


def test_the_anchors_are_in_the_wheel(wheel):
    inside = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(ANCHORS)}
    assert inside == {path.name for path in (ROOT / "src" / ANCHORS).iterdir()}
    assert "foraging_small-v1.json" in inside


def test_the_installed_package_is_the_one_that_runs(outside):
    file = outside(sys.executable, "-c", "import nematodebench; print(nematodebench.__file__)").strip()
    assert Path(file).is_relative_to(outside.site)


def test_tasks_are_listed(outside):
    assert "foraging_small-v2" in outside("nematodebench", "tasks")


def test_a_session_runs_and_has_anchors(outside):
    printed = outside(
        "nematodebench", "run", "foraging_small-v1", "null_random", "--runs", "2", "--seed", "1", "--json"
    )
    record = json.loads(printed)
    record = record[0] if isinstance(record, list) else record
    assert record["num_runs"] == 2
    assert record["normalised"]["floor"]["provenance"]


def test_gymnasium_knows_the_tasks(outside):
    code = (
        "import gymnasium, nematodebench; env = gymnasium.make('nematodebench/foraging_small-v1');"
        "obs, _ = env.reset(seed=1); print(obs.shape[0], len(env.step(0)))"
    )
    assert outside(sys.executable, "-c", code).split() == ["5", "5"]
