"""Brains that outlive their run, write to the mailbox out of turn, or read what all runs share."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from later_cheats import Answers
from test_isolation import FILE, SEED, TASK, foreign, in_process

from nematodebench.engine.isolation import host
from nematodebench.engine.isolation.process import Process
from nematodebench.engine.run import RunSpec, compile_for, execute

LATER = Path(__file__).parent / "later_cheats.py"


def later(name):
    return replace(foreign(name), where=f"{LATER}:{name}", readable=(FILE, LATER))


def run(name, config=None, brain=None):
    brain = brain or later(name)
    compile_for(TASK, brain)
    return execute(RunSpec(TASK, name, brain, config or {}, SEED))


@pytest.mark.parametrize(
    "name",
    ["OutlivesItsRun", "CountsOnTheMachine", "AsksTheKernel", "ReadsItsNumber", "KeepsInLibraries", "LeavesThreads"],
)
def test_a_brain_that_reaches_beyond_its_run_finds_nothing(name):
    result = run(name)
    assert result.failure is None, result.failure
    assert result.record_hash == in_process("Honest").record_hash


@pytest.mark.parametrize("name", ["OutlivesItsRun", "LeavesThreads", "Replaces"])
def test_no_process_of_a_brain_is_left_when_its_run_is_over(name, monkeypatch):
    inside, end = [], Process.end

    def noted(process):
        inside.append(process.number)
        end(process)

    monkeypatch.setattr(Process, "end", noted)
    run(name, brain=replace(later(name), seconds=3))
    (number,) = inside
    status = Path(f"/proc/{number}/stat")
    deadline = time.monotonic() + 10
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_brain_that_says_it_is_over_and_stays_is_ended(monkeypatch):
    monkeypatch.setattr(host, "_LAST_WORDS", 0.2)
    result = run("SaysItIsOver", brain=replace(later("SaysItIsOver"), seconds=300))
    assert result.failure is not None
    assert "the brain's process ended with code" in result.failure.message


def test_a_program_that_does_not_know_the_mailbox_is_stopped():
    result = run("Replaces", brain=replace(later("Replaces"), seconds=3))
    assert result.failure is not None
    assert "it took more than 3 s" in result.failure.message


@pytest.mark.parametrize("name", ["AnswersToNobody", "HighWord"])
def test_a_turn_of_nobody_ends_no_run_and_hangs_none(name):
    result = run(name)
    assert result.failure is None, result.failure
    assert {len(rows) for rows in result.records.values()} == {
        len(one) for one in in_process("Honest").records.values()
    }


def test_what_a_thread_writes_while_the_world_works_is_no_reward():
    spoilt, plain = run("WritesAllTheTime"), run("Answers", {"answer": "zero"})
    assert spoilt.failure is None
    assert plain.failure is None
    assert spoilt.record_hash == plain.record_hash


def test_a_brain_that_rounds_otherwise_rounds_for_itself():
    result = run("OtherFloats")
    assert result.failure is None
    assert result.record_hash == in_process("Honest").record_hash


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("nan", "nan"),
        ("infinite", "inf"),
        ("half", "0.5"),
        ("negative", "-1"),
        ("large", "1e+06"),
        ("endless", "too large for an action"),
        ("text", "no action"),
        ("nothing", "act returned None"),
        ("pair", "act returned 2 numbers where the body takes 1"),
        ("complex", "no action"),
        ("none", "act returned 0 numbers where the body takes 1"),
        ("object", "no action"),
    ],
)
def test_an_answer_that_is_no_action_fails_the_run_with_its_word(answer, word):
    result = run("Answers", {"answer": answer})
    assert answer in Answers.odd
    assert result.failure is not None
    assert any(part in result.failure.message for part in word.split("|")), result.failure.message


@pytest.mark.parametrize(
    "memory", [f"v1000:{'0' * 64}", f"v{'9' * 100}:{'0' * 64}", f"v{'9' * 5000}:{'0' * 64}", "0" * 63, 7, ["0" * 64]]
)
def test_a_hash_of_no_kind_fails_the_run_with_a_plain_word(memory):
    result = run("TellsOdd", {"told": {"memory": memory}})
    assert result.failure is not None
    assert "did not tell the hash of its memory" in result.failure.message


def test_what_a_brain_tells_of_its_state_has_names_and_is_numbers():
    told = {
        "": 1.0,
        " \x00": 2.0,
        "x" * 1000: 3.0,
        "plain": 4.0,
        "text": "5",
        "whole": 6,
        "\x1b[2J": 7.0,
        "many": 1e308,
    }
    result = run("TellsOdd", {"told": {"memory": None, "descriptors": told}})
    assert result.failure is None, result.failure
    assert result.descriptors == {"?": 2.0, "x" * 197 + "...": 3.0, "plain": 4.0, "?[2J": 7.0, "many": 1e308}


COMPILED = """
import ctypes

import sys

sys.path.append({examples!r})
from sarsa_lambda import SarsaLambda
from numba import types

from nematodebench.kernels.jit import F32M, F64, F32, I64, U64, kernel

call = types.ExternalFunction("syscall", types.int64(*[types.int64] * 7))


@kernel(cached=True)
def forks(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    action[0, 0] = 0.0 if call(57, 0, 0, 0, 0, 0, 0) < 0 else np.nan


@kernel(cached=True)
def reads(hyper: F64, ints: I64, mem: F32, rng: U64, obs: F32M, action: F32M, out: F64) -> None:
    action[0, 0] = mem[1 << 40]


class Brain(SarsaLambda):
    act = {name}
"""


@pytest.mark.parametrize(("name", "word"), [("forks", ""), ("reads", "the brain's process ended with code -11|139")])
def test_compiled_code_that_reaches_out_of_its_memory_or_calls_the_system(tmp_path, name, word):
    examples = Path(__file__).parents[3] / "examples"
    source = tmp_path / "reaching.py"
    text = COMPILED.format(examples=str(examples), name=name).replace(
        "import sys\n", "import sys\n\nimport numpy as np\n", 1
    )
    source.write_text(text)
    brain = host.Foreign(f"{source}:Brain", (source, examples), seconds=120, cache=tmp_path / "cache")
    result = run("Brain", brain=brain)
    if word:
        assert result.failure is not None
        assert any(part in result.failure.message for part in word.split("|")), result.failure.message
    else:
        assert result.failure is None, result.failure
