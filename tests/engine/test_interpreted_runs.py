"""Without compilation the interpreter runs the same source: a run leaves the same records and the same memory."""

import json
import os
import subprocess
import sys

import interpreted_runs
import pytest

from nematodebench.brains.registry import get_brain, is_compiled, list_brains


def interpreter(*arguments):
    """A process that compiles nothing and in which every warning of the package's is an error."""
    command = [sys.executable, "-W", "error::RuntimeWarning", *arguments]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "200"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def interpreted():
    return json.loads(interpreter(interpreted_runs.__file__))


def test_the_other_process_compiles_nothing(interpreted):
    assert interpreted["interpreted"]
    assert not interpreted_runs.INTERPRETED


def test_every_classical_and_scripted_brain_that_compiles_is_among_them():
    kinds = {name: get_brain(name) for name in list_brains()}
    wanted = {n for n, kind in kinds.items() if is_compiled(kind) and kind.kind in {"classical", "scripted"}}
    assert wanted == set(interpreted_runs.CONFIGS)


@pytest.mark.parametrize(("body", "name"), interpreted_runs.RUNS)
def test_records_and_memory_have_the_same_bits(interpreted, body, name):
    compiled = interpreted_runs.hashes(body, name)
    assert compiled == interpreted[f"{body} {name}"]
    assert compiled[2] >= interpreted_runs.TICKS


def test_the_command_line_lists_tasks():
    assert "foraging_small-v2" in interpreter("-m", "nematodebench", "tasks")


def test_the_command_line_runs_what_compiled_code_runs(tmp_path):
    arguments = ["run", "foraging_small-v1", "q_table", "--runs", "1", "--episodes", "1", "--seed", "3", "--json"]
    (ours,) = json.loads(interpreter("-m", "nematodebench", *arguments))
    done = subprocess.run(
        [sys.executable, "-m", "nematodebench", *arguments], capture_output=True, text=True, check=True
    )
    (theirs,) = json.loads(done.stdout)
    assert [run["record_hash"] for run in ours["runs"]] == [run["record_hash"] for run in theirs["runs"]]
    assert [run["memory_hash"] for run in ours["runs"]] == [run["memory_hash"] for run in theirs["runs"]]
    assert ours["runs"][0]["steps"] > 0
