"""The tutorial does what it says: its files are those of ``examples/``, they are short, they run, and they learn."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\w+\.py) -->\n```python\n(.*?)```", PAGE, re.S))
COMMANDS = re.findall(r"^\$ (.*)$", PAGE, re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder with the tutorial's files."""
    place = tmp_path_factory.mktemp("tutorial")
    for name, content in FILES.items():
        (place / name).write_text(content, encoding="utf-8")
    return place


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)


def test_the_files_on_the_page_are_the_examples():
    assert set(FILES) == {"sarsa_lambda.py", "lamp.py"}
    for name, content in FILES.items():
        assert content == (ROOT / "examples" / name).read_text(encoding="utf-8")


def test_the_brain_fits_on_ninety_lines():
    assert len(FILES["sarsa_lambda.py"].splitlines()) <= 90


def score(output, brain):
    row = next(line for line in output.splitlines() if line.startswith(f"| {brain}"))
    return float(re.search(r"(\d\.\d+) ±", row)[1])


def test_the_command_trains_fifty_runs_and_beats_chance(folder):
    (command,) = COMMANDS
    ended = run(folder, sys.executable, "-m", "nematodebench", *command.split()[1:])
    assert ended.returncode == 0, ended.stderr
    assert "| 50 " in ended.stdout
    assert score(ended.stdout, "sarsa_lambda") > 0.5
    assert score(ended.stdout, "null_random") < 0.1


def test_the_suite_passes_for_the_brain(folder):
    code = re.search(r"```python\n(# test_sarsa_lambda\.py.*?)```", PAGE, re.S)[1]
    (folder / "test_sarsa_lambda.py").write_text(code, encoding="utf-8")
    ended = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sarsa_lambda.py")
    assert ended.returncode == 0, ended.stdout


def test_the_world_becomes_a_task_that_the_brain_learns(folder):
    code = re.search(r"```python\n(import nematodebench as nb.*?)```", PAGE, re.S)[1]
    check = "\nassert trained.metrics.closeness.ci95[0] > chance.metrics.closeness.ci95[1]\n"
    ended = run(folder, sys.executable, "-c", code + check)
    assert ended.returncode == 0, ended.stderr
