"""No run can tell another one anything: not the next, and not one that goes on at the same time."""

from dataclasses import replace
from pathlib import Path

import channel_cheats
import pytest
from channel_cheats import Tries
from test_isolation import FILE, SEED, TASK, foreign, in_process

from nematodebench.engine.isolation.seccomp import filter_program
from nematodebench.engine.run import RunSpec, compile_for, execute

CHANNELS = Path(__file__).parent / "channel_cheats.py"
NAMES = [name for name, kind in vars(channel_cheats).items() if isinstance(kind, type) and Tries in kind.__bases__]


def run(name):
    brain = replace(foreign(name), where=f"{CHANNELS}:{name}", readable=(FILE, CHANNELS))
    compile_for(TASK, brain)
    return execute(RunSpec(TASK, name, brain, {}, SEED))


@pytest.mark.parametrize("name", NAMES)
def test_a_brain_finds_nothing_that_another_run_could_read(name):
    result = run(name)
    assert result.failure is None, result.failure
    assert result.record_hash == in_process("Honest").record_hash


def test_what_a_brain_prints_is_its_last_words_all_the_same():
    failure = run("PrintsAndLeaves").failure
    assert failure is not None
    assert "ended with code 3: these are my last words" in failure.message


def test_every_jump_of_the_filter_leads_into_it():
    program = filter_program()
    lines = [program[k : k + 8] for k in range(0, len(program), 8)]
    for k, line in enumerate(lines):
        assert k + 1 + max(line[2], line[3]) < len(lines) or line[0] == 0x06
