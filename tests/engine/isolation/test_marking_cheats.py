"""A brain leaves no mark on the host's files and moves no count of the machine that its next run could read."""

from dataclasses import replace
from pathlib import Path

import pytest
from marking_cheats import DEVICES
from test_isolation import FILE, SEED, TASK, foreign, in_process

from nematodebench.engine.run import RunSpec, compile_for, execute

MARKING = Path(__file__).parent / "marking_cheats.py"


def run(name):
    brain = replace(foreign(name), where=f"{MARKING}:{name}", readable=(FILE, MARKING))
    compile_for(TASK, brain)
    return execute(RunSpec(TASK, name, brain, {}, SEED))


def marks():
    places = [place for name in DEVICES if (place := Path("/dev", name)).exists()]
    return [(place.stat().st_atime, place.stat().st_mtime) for place in places]


@pytest.mark.parametrize("name", ["MarksDevices", "CountsPipes", "CountsItsOwnFiles", "HasAHandle"])
def test_a_brain_that_would_leave_a_mark_finds_nowhere_to_leave_it(name):
    before = marks()
    result = run(name)
    assert result.failure is None, result.failure
    assert result.record_hash == in_process("Honest").record_hash
    assert all(now == was or 4711.0 not in now for now, was in zip(marks(), before, strict=True))
