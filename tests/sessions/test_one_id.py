"""A command of several sessions, and one that stores none, go on under one id to what they would have printed."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from nematodebench.cli import build
from nematodebench.errors import Interrupted, UsageError
from nematodebench.records.run_files import RunFiles

SEVERAL = ["run", "foraging_small-v1", "gradient_follower", "null_random", "--runs", "3", "--episodes", "2", "--track",
           "--sessions", "2", "--seed", "3", "--workers", "1"]  # fmt: skip
CONTINUAL = ["continual", "null_random", "--order", "navigation,gridworld", "--episodes", "3", "--runs", "3",
             "--test-episodes", "2", "--seed", "4", "--twin", "--workers", "1"]  # fmt: skip
ABLATE = ["ablate", "mlp_reinforce", "--task", "foraging_small-v1", "--runs", "3", "--episodes", "4", "--seed", "5",
          "--workers", "1"]  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nematodebench.continual.runs.NULL_RUNS", 5)


def printed(words):
    """What a command prints for machines, without what differs between two executions."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        build()([*words, "--json"], standalone_mode=False)
    content = json.loads(out.getvalue())
    for record in content if isinstance(content, list) else []:
        record.pop("timing"), record.pop("experiment_id")
    return content


def stopped(words, after):
    """The id of a command that was stopped after so many runs."""
    original, count = RunFiles.write, 0

    def write(self, run):
        nonlocal count
        if count == after:
            raise KeyboardInterrupt
        count += 1
        original(self, run)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted) as told:
        patch.setattr(RunFiles, "write", write)
        printed(words)
    line = told.value.way_on.split()
    assert line[:3] == ["nematodebench", words[0], "--resume"]
    return line[3]


@pytest.mark.parametrize(("words", "after"), [
    (SEVERAL, 0), (SEVERAL, 5), (SEVERAL, 11), (CONTINUAL, 2), (CONTINUAL, 8), (ABLATE, 1), (ABLATE, 7),
])  # fmt: skip
def test_a_stopped_command_goes_on_to_the_same_result_and_leaves_nothing(words, after):
    wanted = printed(words)
    before = {path.name for path in Path().glob("experiments/*")}
    assert printed([words[0], "--resume", stopped(words, after)]) == wanted
    assert not Path("experiments/.unfinished").exists()
    assert len({path.name for path in Path().glob("experiments/*")} - before) == (4 if words is SEVERAL else 0)


def test_stopped_twice(monkeypatch):
    name, calls = stopped(SEVERAL, 4), []
    assert stopped(["run", "--resume", name], 3) == name
    monkeypatch.setattr(RunFiles, "write", _counted(RunFiles.write, calls))
    printed(["run", "--resume", name])
    assert len(calls) == 12 - 7


def _counted(original, calls):
    def write(self, run):
        calls.append(run)
        original(self, run)

    return write


def test_an_id_that_is_none_names_those_there_are():
    name = stopped(CONTINUAL, 1)
    with pytest.raises(UsageError, match=rf"nothing to resume with the id 'x' in experiments. There is: {name}"):
        printed(["continual", "--resume", "x"])
    with pytest.raises(UsageError, match=rf"{name} is not a `ablate`: nematodebench continual --resume {name}$"):
        printed(["ablate", "--resume", name])


@pytest.mark.parametrize("words", [SEVERAL, CONTINUAL, ABLATE])
def test_other_code_cannot_go_on(words):
    name = stopped(words, 2)
    path = Path("experiments/.unfinished", name, "command.json")
    content = path.read_text()
    record = json.loads(content)["begun_with"]["source"]
    path.write_text(content.replace(record, "0" * 64))
    with pytest.raises(UsageError, match="the code of this package changed since"):
        printed([words[0], "--resume", name])


@pytest.mark.parametrize("words", [SEVERAL, CONTINUAL, ABLATE])
@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"command": "run"}', '{"command": 3, "asked": 4, "begun_with": 5}']
)
def test_a_damaged_record_is_one_line(words, content):
    name = stopped(words, 1)
    Path("experiments/.unfinished", name, "command.json").write_text(content)
    with pytest.raises(UsageError, match=r"damaged|is not a"):
        printed([words[0], "--resume", name])


def test_a_folder_that_cannot_be_written_is_told_and_does_not_stop_an_ablation(monkeypatch):
    told = []
    Path("experiments").write_text("no folder")
    monkeypatch.setattr("nematodebench.cli.resuming.tell", told.append)
    printed([*ABLATE, "--only", "entropy"])
    assert told == ["experiments cannot be written: this command cannot be resumed if it is stopped."]
