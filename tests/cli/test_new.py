"""What ``nematodebench new`` writes works at once, and nothing is overwritten."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nematodebench import kit
from nematodebench.brains.registry import get_brain
from nematodebench.cli import build
from nematodebench.engine.run import RunSpec, compile_for, execute, resolve_config
from nematodebench.errors import UsageError
from nematodebench.sessions.config import read_config
from nematodebench.sessions.plan import make_plan
from nematodebench.tasks.registry import get_task

BRAINS = {"fresh_compiled": "--compiled", "fresh_python": "--python", "fresh_torch": "--torch"}


def run(*words):
    build()([str(word) for word in words], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All four templates under names of their own."""
    place = tmp_path_factory.mktemp("fresh")
    for name, flag in BRAINS.items():
        run("new", "brain", name, flag, "--folder", place)
    run("new", "world", "fresh_world", "--folder", place)
    return place


def class_name(name):
    return "".join(word.capitalize() for word in name.split("_"))


@pytest.mark.parametrize("name", BRAINS)
@pytest.mark.parametrize("task", ["foraging_small-v2", "tracking-v1"])
def test_a_brain_acts_and_learns_with_choices_and_with_effectors(folder, name, task):
    # The compiled one where it lies, because what is written to a new folder has to be compiled anew.
    compiled = name == "fresh_compiled"
    where = "nematodebench.templates.compiled_brain:MyBrain" if compiled else f"{folder}/{name}.py:{class_name(name)}"
    brain = get_brain(where)
    short = get_task(task).with_episodes(2) if task.startswith("foraging") else _short(get_task(task))
    compile_for(short, brain)
    result = execute(RunSpec(short, name, brain, resolve_config(name, brain, {}), seed=1))
    assert result.failure is None, result.failure
    assert result.steps > 0


def _short(task):
    import dataclasses

    phases = tuple(dataclasses.replace(phase, episodes=0, ticks=200) for phase in task.phases)
    return dataclasses.replace(task, phases=phases)


@pytest.mark.parametrize("name", [*BRAINS, "fresh_world"])
def test_its_config_is_a_plan_and_its_test_is_the_suite_of_its_class(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    plan = make_plan(read_config(folder / f"{name}.yml"))
    assert plan.runs == 50
    monkeypatch.syspath_prepend(str(folder))
    suite = getattr(importlib.import_module(f"test_{name}"), f"Test{class_name(name)}")
    assert getattr(importlib.import_module(name), class_name(name)) in {
        getattr(suite, "brain", None), type(getattr(suite, "world", None)),
    }  # fmt: skip


def test_nothing_is_left_of_the_names_of_the_templates(folder):
    for path in folder.iterdir():
        if path.is_file():
            text = path.read_text().lower()
            assert "my_brain" not in text
            assert "mybrain" not in text
            assert "my_world" not in text
            assert "myworld" not in text
            if path.suffix == ".py":
                ast.parse(text)


def test_the_page_about_the_kit_shows_the_compiled_brain_and_names_everything():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "kit.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- file: my_brain.py -->\n```python\n")[2].partition("```")[0]
    assert shown == (root / "src/nematodebench/templates/compiled_brain.py").read_text(encoding="utf-8")
    table = page.partition("## What is in the kit")[2]
    assert [name for name in kit.__all__ if name not in re.findall(r"`(\w+)", table)] == []


def test_a_world_can_be_run_at_once(folder):
    task = get_task(f"{folder}/fresh_world.py:FreshWorld")
    assert task.id == "fresh_world-v0"
    brain = get_brain("null_random")
    result = execute(RunSpec(task.with_episodes(2), "null_random", brain, brain.config(), seed=1))
    assert result.failure is None


def test_a_brain_in_the_place_of_a_task_is_told(folder):
    with pytest.raises(UsageError, match="is not a world"):
        get_task(f"{folder}/fresh_python.py:FreshPython")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["brain", "My-Brain"], "lower-case letters, digits and _. Try my_brain."),
        (["brain", "MyBrain"], "Try my_brain."),
        (["brain", "class"], "cannot be the name of a brain"),
        (["world", "1st"], "cannot be the name of a world"),
        (["brain", ""], "cannot be the name of a brain"),
        (["brain", "../escape"], "Try escape."),
        (["brain", "json"], "There is a Python module called 'json' already"),
        (["brain", "fresh_python"], "fresh_python.py exists already, and nothing is overwritten"),
        (["brain", "both", "--torch", "--compiled"], "choose --compiled or --torch"),
    ],
)
def test_what_cannot_be_written_is_told(folder, words, message):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(UsageError) as error:
        run("new", *words, "--folder", folder)
    assert message in str(error.value)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def checked(capsys, *words):
    try:
        code = build()(["check", *words, "--json"], standalone_mode=False) or 0
    except SystemExit as stop:
        code = stop.code
    return code, json.loads(capsys.readouterr().out)


def test_check_runs_the_contract_and_tells_the_cost(capsys):
    code, told = checked(capsys, "null_random", "--tasks", "foraging_small-v2,tracking-v1", "--runs", "20")
    assert code == 0
    assert {part["outcome"] for part in told["contract"]} <= {"passed", "left out"}
    assert len(told["contract"]) > 10
    assert [cost["task"] for cost in told["costs"]] == ["foraging_small-v2", "tracking-v1"]
    assert all(cost["session_seconds"] > cost["episode_seconds"] > 0 for cost in told["costs"])


def test_check_finds_a_broken_contract(capsys):
    code, told = checked(capsys, "brains_for_tests:ReturnsIllegal", "--tasks", "foraging_small-v2")
    assert code == 1
    failed = {part["what"]: part["why"] for part in told["contract"] if part["outcome"] == "FAILED"}
    assert "actions are legal (discrete)" in failed
    assert all(failed.values())
    assert "illegal action" in told["costs"][0]["problem"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BRAINS)
def test_check_passes_for_what_new_writes(folder, name):
    place = f"{name}.py:{class_name(name)}"
    line = [sys.executable, "-m", "nematodebench", "check", place, "--tasks", "foraging_small-v2,tracking-v1"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
