"""The built scripts in the package are those of the sources in ``web/``."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB, BUILT = ROOT / "web", ROOT / "src/nematodebench/web"
MANIFEST = json.loads((BUILT / "built.json").read_text(encoding="utf-8"))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_source_is_the_one_that_was_built():
    written = {path.relative_to(WEB).as_posix() for path in (WEB / "src").rglob("*") if path.is_file()}
    assert written <= set(MANIFEST["sources"]), "run `make web`"
    now = {name: sha256(WEB / name) for name in MANIFEST["sources"] if (WEB / name).is_file()}
    assert now == MANIFEST["sources"], "run `make web`"


def test_every_built_file_is_the_one_that_was_written_down():
    assert {name: sha256(BUILT / name) for name in MANIFEST["built"]} == MANIFEST["built"], "run `make web`"
    assert {path.name for path in BUILT.iterdir()} == {*MANIFEST["built"], "built.json"}


def test_the_tools_have_exact_versions_and_no_address():
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    asked = {**package.get("dependencies", {}), **package["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values()), asked
    assert "://" not in re.sub(r'"url": "[^"]*"', "", (WEB / "package-lock.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_building_again_gives_the_same_bytes(tmp_path):
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here: apt-get install npm")
    copy = tmp_path / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules"))
    shared = tmp_path / "src/nematodebench/drawing"
    if (ROOT / "src/nematodebench/drawing").is_dir():
        shutil.copytree(ROOT / "src/nematodebench/drawing", shared)
    out = tmp_path / "out"
    out.mkdir()
    for command in (["install", "--no-save"], ["run", "check"], ["run", "build"]):
        environment = {**os.environ, "NB_WEB_OUT": str(out)}
        done = subprocess.run(["npm", *command], cwd=copy, env=environment, capture_output=True, text=True, check=False)
        if command[0] == "install" and done.returncode:
            pytest.skip(f"npm cannot install here: {done.stderr.strip().splitlines()[-1:]}")
        assert done.returncode == 0, done.stdout + done.stderr
    assert {name: sha256(out / name) for name in MANIFEST["built"]} == MANIFEST["built"]
