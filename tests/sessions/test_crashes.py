"""A crash, or a full disk, at any file operation of any command loses nothing and leaves nothing behind."""

import errno
import hashlib
import json
import os
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from crashes import CRASHED, Crashes

SMALL = ["--runs", "2", "--seed", "3", "--workers", "1"]
ONE = ["--runs", "1", "--seed", "3", "--workers", "1"]
SHORT = ["--episodes", "2"]
TASK = "foraging_small-v1"
LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}|\.lock|\.unfinished|session\.json|runs")
COMMANDS = {
    "run": ["run", TASK, "gradient_follower", *SMALL, *SHORT, "--track", "--json"],
    "series": ["run", TASK, "null_random", "gradient_follower", *ONE, *SHORT, "--track", "--json"],
    "sweep": ["sweep", "--tasks", TASK, "--brains", "null_random", *SMALL, "--json"],
    "continual": [
        "continual", "null_random", "--order", "navigation,gridworld", "--test-episodes", "0", "--no-alone", *SMALL,
        *SHORT, "--output", "numbers.json", "--json",
    ],
    "ablate": ["ablate", "q_table", "--task", TASK, "--only", "gamma", *SMALL, *SHORT, "--json"],
}  # fmt: skip


WARM = [[TASK, "gradient_follower"], [TASK, "null_random"], [TASK, "q_table"], ["navigation-v1", "null_random"]]
"""What is compiled once."""


@pytest.fixture(scope="module")
def crashes():
    made = Crashes(WARM)
    yield made
    made.close()


def _go_on(folder, words):
    """The command line with which a user goes on."""
    work = folder / "work" / "experiments"
    unfinished = [path.name for path in work.glob(".unfinished/*") if not path.name.startswith(".")]
    sessions = [path.parent.name for path in work.glob("[!.]*/session.json")]
    ended = [path.name for path in work.glob("*") if (path / f"{path.name}.json").is_file()]
    if unfinished:
        return [words[0], "--resume", unfinished[0], "--json"]
    if words[0] == "run" and sessions:
        return ["run", "--resume", sessions[0], "--json"]
    if words[0] == "run" and ended:
        return ["run", "--resume", ended[0], "--json"]
    return words


def _plain(value):
    """Without what differs between two executions."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if key not in {"timing", "experiment_id", "p_value"}}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _state(folder):
    """Everything in the folder, as far as it is the same in two executions."""
    found = {}
    for path in sorted(folder.joinpath("work").rglob("*")):
        if path.suffix == ".json" and path.is_file():
            kind, content = "record", json.dumps(_plain(json.loads(path.read_text())), sort_keys=True).encode()
        elif path.is_file():
            kind, content = path.name, path.read_bytes()
        else:
            continue
        digest = hashlib.sha256(content).hexdigest()
        found[digest] = kind
    return found


def _left(folder):
    return [path.name for path in folder.joinpath("work").rglob("*") if LEFTOVER.fullmatch(path.name)]


def _repaired(crashes, folder, words, wanted):
    """What is wrong after the user has gone on; empty where all is as if nothing had happened."""
    again = _go_on(folder, words)
    if again is not None:
        done = crashes.run(folder, again)
        if done.code and "is complete" not in done.errors:
            return f"{again}: exit {done.code}: {done.errors[-500:]}"
    if _left(folder) and words[0] == "run":  # the next start, whatever it is, removes what nobody needs
        crashes.run(folder, ["run", "--resume", "nothing"])
    if _state(folder) != wanted:
        return f"{again}: {sorted(_state(folder).values())} instead of {sorted(wanted.values())}"
    return f"left behind: {_left(folder)}" if _left(folder) else ""


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_crash_at_every_file_operation(crashes, tmp_path, command):
    words = COMMANDS[command]
    whole = crashes.run(tmp_path / "whole", words)
    assert whole.code == 0, whole.errors
    wanted, wrong = _state(tmp_path / "whole"), {}
    assert not _left(tmp_path / "whole")
    assert whole.operations > 5
    for at in range(1, whole.operations + 1):
        folder = tmp_path / str(at)
        crashed = crashes.run(folder, words, at)
        assert crashed.code == CRASHED, (at, crashed.errors)
        found = _repaired(crashes, folder, words, wanted)
        if found:
            wrong[at] = found
    assert not wrong, f"{len(wrong)} of {whole.operations}: {dict(list(wrong.items())[:3])}"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_full_disk_at_every_second_file_operation(crashes, tmp_path, command):
    """One line, an exit code, and nothing lost. What is only cleaning up may fail without a word."""
    words = COMMANDS[command]
    whole = crashes.run(tmp_path / "whole", words)
    assert whole.code == 0, whole.errors
    wanted, wrong = _state(tmp_path / "whole"), {}
    for at in range(1, whole.operations + 1, 2):
        folder = tmp_path / str(at)
        failed = crashes.run(folder, words, at, errno.ENOSPC)
        lines = [line for line in failed.errors.splitlines() if line]
        told = len(lines) == 1 and os.strerror(errno.ENOSPC) in lines[0]
        if failed.code and (failed.code not in {1, 2} or not told):
            wrong[at] = f"exit {failed.code}: {failed.errors[-600:]}"
        elif found := _repaired(crashes, folder, words, wanted):
            wrong[at] = found
    assert not wrong, f"{len(wrong)} of {whole.operations}: {dict(list(wrong.items())[:3])}"
