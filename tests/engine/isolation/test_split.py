"""Runs are split off from one process, and share nothing with it or with each other that they could write to."""

import os
import pty
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from test_isolation import FILE, SEED, TASK, foreign, in_process

from nematodebench.engine.executors import Watch, execute_all
from nematodebench.engine.isolation import nest
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.isolation.nest import Nest
from nematodebench.engine.run import RunSpec, execute

SPLIT = Path(__file__).parent / "split_cheats.py"


def split(name):
    return replace(foreign(name), where=f"{SPLIT}:{name}", readable=(FILE, SPLIT))


def results_of(name, runs=3):
    specs = [RunSpec(TASK, name, split(name), {}, SEED, k) for k in range(runs)]
    return list(execute_all(specs, "threads", 1, Watch()))


@pytest.mark.parametrize(
    "name", ["HasPrivileges", "FindsDescriptors", "ChangesLibraries", "FindsTheStage", "TypesForTheUser"]
)
def test_a_run_shares_nothing_with_the_process_that_it_was_split_off_from(name):
    results = results_of(name)
    assert [result.failure for result in results] == [None] * 3
    assert {result.record_hash for result in results} == {in_process("Honest").record_hash}


def test_all_runs_of_a_session_are_split_off_from_one_process(monkeypatch):
    every, begin = [], Nest.__init__
    monkeypatch.setattr(Nest, "__init__", lambda self, *given: (begin(self, *given), every.append(self))[0])
    assert all(result.failure is None for result in results_of("HasPrivileges"))
    assert [one.popen.returncode for one in every] == [0], "one, and it ended when it was told to"


def test_only_listed_libraries_are_imported_for_a_brain_and_none_because_of_a_text(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text(
        '"""import torch"""\nimport numpy, os\nimport evil\n    from scipy import sparse\n# import numba\n'
    )
    libraries = nest._libraries(Foreign(f"{source}:Brain", (tmp_path,)))
    assert "scipy" in libraries
    assert not {"torch", "numba", "evil", "os"} & set(libraries)


def test_a_sandbox_that_cannot_be_started_fails_the_run_in_its_words(monkeypatch):
    monkeypatch.setattr(nest.sandbox, "command", lambda *_: ["/bin/sh", "-c", "echo bwrap: no permission >&2; exit 3"])
    result = execute(RunSpec(TASK, "Honest", foreign("Honest"), {}, SEED))
    assert result.failure is not None
    assert "ended with code 3: bwrap: no permission" in result.failure.message


def test_a_brain_cannot_reach_the_terminal_of_whoever_verifies():
    """The sandbox is part of the session of a terminal, which is not there for the brain."""
    text = (
        f"import sys; sys.path.insert(0, {str(SPLIT.parent)!r}); from test_split import *; "
        "print('seen', [result.failure for result in results_of('TypesForTheUser', 1)])"
    )
    number, terminal = pty.fork()
    if number == 0:
        os.execv(sys.executable, [sys.executable, "-c", text])
    said, deadline = b"", time.monotonic() + 120
    while b"]" not in said.partition(b"seen")[2] and time.monotonic() < deadline:
        try:
            said += os.read(terminal, 1000)
        except OSError:
            break
    os.waitpid(number, 0)
    assert b"seen [None]" in said, said.decode()
