"""What ``--json`` prints is JSON all the way down: no object is shown as Python shows it."""

import json
import re
import subprocess
import sys

import pytest

import nematodebench as nb
from nematodebench.cli import main

REPR = re.compile(
    r"^<.*>$|^\w*\(.*=.*\)$|^(?:array|np\.\w+|PosixPath|datetime)\b.*\)$|^\{'|^\['|^\(.*,\)$|object at 0x"
)

COMMANDS = [
    ["tasks"],
    ["tasks", "foraging_small-v2"],
    ["tasks", "continual-v1"],
    ["tasks", "predator_small-v2"],
    ["brains"],
    ["brains", "mlp_ppo"],
    ["brains", "spiking_rstdp"],
    ["brains", "torch_reinforce"],
    ["info"],
    ["run", "foraging_small-v1", "null_random", "--runs", "2", "--episodes", "2", "--seed", "1"],
    ["run", "foraging_small-v1", "null_random", "--runs", "2", "--episodes", "2", "--dry-run"],
    ["report", "{A}"],
    ["rerun", "{A}"],
    ["compare", "{A}", "{A}"],
    ["sweep", "--tasks", "foraging_small-v1", "--brains", "null_random", "--dry-run"],
    ["submit", "--draft", "--experiments", "{A}"],
    ["ablate", "q_table", "--task", "foraging_small-v1", "--runs", "2", "--episodes", "2", "--seed", "1"],
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The folder of a stored session."""
    root = tmp_path_factory.mktemp("stored")
    nb.run("foraging_small-v1", "null_random", runs=3, episodes=3, seed=1).save(root)
    (folder,) = root.iterdir()
    return folder


def strings(content):
    """Every key and every text of a document."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield key
            yield from strings(value)
    elif isinstance(content, list):
        for value in content:
            yield from strings(value)
    elif isinstance(content, str):
        yield content


@pytest.mark.parametrize("text", ["<object at 0x7f>", "ScoreAnchor(kind='null')", "np.float64(1.0)", "{'a': 1}"])
def test_what_python_shows_would_be_seen(text):
    assert REPR.search(text)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_json_holds_no_python(session, tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    words = [word.replace("{A}", str(session)) for word in words]
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words, "--json"])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr()
    if not printed.out:  # a mistake is one line beside the output, which stays empty
        assert printed.err.startswith("nematodebench: ")
        return
    assert [text for text in strings(json.loads(printed.out)) if REPR.search(text)] == []


ONE_RUN = [
    ["run", "association-v2", "q_table"],
    ["sweep", "--tasks", "association-v2", "--brains", "q_table"],
    ["continual", "q_table", "--order", "gridworld,association", "--episodes", "5", "--no-alone"],
]


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


@pytest.mark.parametrize("words", ONE_RUN, ids=lambda words: words[0])
def test_what_one_run_cannot_tell_is_null(tmp_path, monkeypatch, capsys, words):
    """One run has no interval, and JSON has no word for what is not a number."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words, "--runs", "1", "--seed", "1", "--json"])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out
    json.loads(printed, parse_constant=refuse)
    assert '"ci95": null' in printed


def test_a_continual_run_of_one_run_is_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "one.json"

    def call(*line):
        monkeypatch.setattr(sys, "argv", ["nematodebench", *line])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0, capsys.readouterr().err

    call(*ONE_RUN[2], "--runs", "1", "--seed", "1", "--test-episodes", "2", "--output", "one.json")
    content = json.loads(file.read_text(), parse_constant=refuse)
    content["transfer"]["matrix"][0][0]["ci95"] = None
    file.write_text(json.dumps(content))
    call("report", "one.json", "--html", "one.html")
    call("plot", "transfer", "one.json")
    assert "one run" in (tmp_path / "transfer.svg").read_text()


PRINTS = '''
class Chatty:
    """A brain that prints while it acts."""

    def __init__(self, observation_space, action_space, config, seed):
        """Nothing to prepare."""

    def begin_episode(self):
        """Nothing to prepare."""

    def act(self, observation):
        print("I have acted")
        return 0

    def learn(self, transition):
        """It learns nothing."""
'''


def test_what_a_brain_prints_is_beside_the_json(tmp_path):
    (tmp_path / "chatty.py").write_text(PRINTS)
    words = ["run", "foraging_small-v1", "chatty.py:Chatty", "--runs", "1", "--episodes", "1", "--seed", "1", "--json"]
    command = [sys.executable, "-m", "nematodebench", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert isinstance(json.loads(done.stdout), dict | list)
    assert "I have acted" in done.stderr
