"""The README's examples do what it says: its brain runs on every task, and the one for effectors on its own."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import nematodebench as nb
from nematodebench.engine.run import RunSpec, compile_for, execute
from nematodebench.tasks.registry import get_task

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def brain(name):
    """The class of this name, from the one block that defines it."""
    [block] = [block for block in BLOCKS if f"class {name}:" in block]
    scope = {}
    exec(block, scope)
    return scope[name]


def shortly(task_id, kind, ticks=30, episodes=1, seed=1):
    """One run of a few ticks, or of the first episodes, in every phase."""
    task = get_task(task_id)
    phases = [replace(one, ticks=min(one.ticks, ticks), episodes=min(one.episodes, episodes)) for one in task.phases]
    short = replace(task, phases=tuple(phases))
    compile_for(short, kind)
    return execute(RunSpec(short, kind.__name__, kind, {}, seed))


@pytest.mark.parametrize("task", nb.list_tasks())
def test_the_brain_runs_on_every_task(task):
    result = shortly(task, brain("Curious"))
    assert result.failure is None, result.failure
    assert result.steps > 0


def test_the_vehicle_turns_away_from_walls():
    vehicle, random = (shortly("wall-v2", brain(name), ticks=3000) for name in ("Vehicle", "Curious"))
    assert vehicle.failure is None, vehicle.failure
    scored = get_task("wall-v2").scored
    assert vehicle.records[scored][:, 0].mean() > random.records[scored][:, 0].mean()


def test_the_session_of_the_readme_runs(capsys):
    [block] = [block for block in BLOCKS if "nb.run(" in block]
    exec(block, {})
    assert "foraging_small-v2" in capsys.readouterr().out
