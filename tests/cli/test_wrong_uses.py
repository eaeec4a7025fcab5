"""Wrong uses of every command: one line that names the thing and the way out, exit code 1 or 2, and no traceback."""

import sys

import pytest

import nematodebench as nb
from nematodebench.cli import main

FILES = {
    "wrong_use.py": """
from abc import ABC, abstractmethod; from dataclasses import dataclass; import numpy as np

class Base:
    def __init__(self, observation_space, action_space, config, seed): pass
    def begin_episode(self): pass
    def act(self, observation): return 0
    def learn(self, transition): pass

class Mute:
    def begin_episode(self): pass
    def learn(self, transition): pass

class NoNumber(Base):
    def act(self, observation): return float("nan")

class TooLarge(Base):
    def act(self, observation): return 99

class Several(Base):
    def act(self, observation): return np.zeros(7)

class Nothing(Base):
    def act(self, observation): return None

class Refuses(Base):
    def __init__(self, observation_space, action_space, config, seed): raise RuntimeError("no licence")

class Bare(Base):
    def __init__(self, learning_rate=0.1): pass

class Odd(Base):
    kind = "fuzzy"

class Loose(Base):
    config = {"rate": 0.1}

class Talks(Base):
    def act(self, observation): return "left"

class Counts(Base):
    def memory(self): return 5

class Leaves(Base):
    def act(self, observation): raise SystemExit(3)

@dataclass
class Rates:
    rate: float = 0.1

@dataclass
class Boundless:
    clip: float = float("inf")

class Rated(Base):
    config = Rates

class Unbounded(Base):
    config = Boundless

class NoSelf(Base):
    def act(observation): return 0

class LearnsNothing(Base):
    def learn(self): pass

class Begins(Base):
    def begin_episode(self, seed): pass

class Waits(Base):
    async def act(self, observation): return 0

class Yields(Base):
    def act(self, observation): yield 0

class Abstract(ABC, Base):
    @abstractmethod
    def act(self, observation): ...

class Chooses(Base):
    def __init__(self, observation_space, action_space, config, seed): self.actions = action_space.n

def follow(observation): return 0

number = 3

class Shouts(Base):
    def act(self, observation): raise RuntimeError("\\x1b[31mred ::error::no\\n##[group]second line")

class ByName(Base):
    def __init__(self, *, observation_space, action_space, config, seed): pass

class Remembers(Base):
    def memory(self, key): return b""

class Settings:
    rate: float = 0.1

class Plain(Base):
    config = Settings

class Another(Base):
    def __new__(cls, *given): return 5

class Forgets(Base):
    def memory(self): return None

class Returns(Base):
    def __init__(self, *given): return 3

class Panics(Base):
    def act(self, observation): raise BaseException("panicked")

class Silent(Exception):
    def __str__(self): raise ValueError("no words")

class Speechless(Base):
    def act(self, observation): raise Silent

class Huge(Base):
    def act(self, observation): return 10**400

class Digit(Base):
    def act(self, observation): return "1"

class Swaps(Base):
    def __init__(self, action_space, observation_space, config, seed): self.actions = action_space.n
""",
    "wrong_exits.py": "import sys\nsys.exit(0)\n",
    "wrong_runs.py": "import nematodebench as nb\nnb.run('foraging_small-v1', 'null_random', runs=1, episodes=2)\n",
    "wrong.name.py": "",
    "wrong_upper.PY": "",
    "wrong_syntax.py": "\nclass Any(:\n",
    "wrong_needs.py": "import no_such_library\n",
    "wrong_extra.py": "raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')\n",
    "wrong_bytes.py": "\x00",
    "wrong_raises.py": "\nx = 1 / 0\n",
    "notes.txt": "no Python\n",
    "list.yml": "- a\n- b\n",
    "misspelt.yml": "task: foraging_small-v1\nbrian: null_random\n",
    "runz.yml": "task: foraging_small-v1\nbrain: null_random\nrunz: 3\n",
    "no_task.yml": "brain: null_random\n",
    "words.yml": "task: foraging_small-v1\nbrain: null_random\nruns: many\n",
    "broken.yml": "task: [unclosed\n",
    "some.json": '{"what": "this is not"}\n',
    "broken.json": "{",
    "taken_brain.py": "",
    "plain_file": "",
}

RUN = ["run", "foraging_small-v1", "null_random", "--runs", "1", "--episodes", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a user works, with two stored sessions."""
    place = tmp_path_factory.mktemp("wrong")
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "empty").mkdir()
    for task, brain in (("foraging_small-v1", "null_random"), ("foraging_small-v2", "null_random")):
        nb.run(task, brain, runs=2, episodes=3, seed=1).save(place / "sessions")
    return place


@pytest.fixture
def complaint(folder, monkeypatch, capsys):
    """Runs a command line as the program does, and returns its one line of complaint."""

    def run(words):
        first, second = sorted((folder / "sessions").iterdir())
        words = [word.replace("{A}", str(first)).replace("{B}", str(second)) for word in words]
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert end.value.code in {1, 2}, printed
        assert "Traceback" not in printed.out + printed.err
        lines = [line for line in printed.err.splitlines() if not line.startswith("nematodebench: compiling ")]
        assert len(lines) == 1, printed.err
        assert lines[0].startswith("nematodebench: ")
        return lines[0]

    return run


WRONG = [
    (["run", "foraging_small-v1", "wrong_use.py:"], "Name the class in it: wrong_use.py:Base"),
    (["run", "foraging_small-v1", "wrong_use"], "Name the class in it: wrong_use.py:Base"),
    (["run", "foraging_small-v1", ":Base"], "names no file: write path/to/file.py:Base or module:Base"),
    (["run", "foraging_small-v1", "wrong_use.py:follow"], "nematodebench score wrong_use.py:follow --task TASK"),
    (["run", "foraging_small-v1", "wrong_bytes.py:A"], "it is no Python source"),
    (["run", "foraging_small-v1", "wrong_use.Base"], "Write wrong_use.py:Base."),
    (["run", "foraging_small-v1", "wrong_use.py.Base"], "Write wrong_use.py:Base."),
    (["run", "foraging_small-v1", "wrong_use.py/Base"], "Write wrong_use.py:Base."),
    (["run", "foraging_small-v1", "./wrong_use:Base"], "write ./wrong_use.py:Base."),
    (
        ["run", "foraging_small-v1", "mlp_ppo,null_random"],
        "have spaces between them: mlp_ppo null_random.",
    ),
    (["run", "foraging_small-v1", "MLP_PPO"], "Did you mean 'mlp_ppo'?"),
    (["run", "foraging_small-v1", ""], "Brain '' does not exist. See `nematodebench brains`."),
    (["run", "foraging_small-v1", "policy.zip"], "nematodebench score policy.zip --task TASK"),
    (["run", "foraging_small-v1", "pong-v2", "null_random"], "sweep --tasks foraging_small-v1,pong-v2"),
    (["run", "runz.yml"], "nematodebench run --config runz.yml"),
    ([*RUN, "--log", "csv:"], "--log csv: say where it goes, csv:PATH."),
    ([*RUN, "--log", "episodes.csv"], "Did you mean csv:episodes.csv?"),
    (
        ["run", "foraging_small-v1", "wrong_use.py:Rated", "--set", "rate=nan"],
        "'rate' of brain 'wrong_use.py:Rated' is nan",
    ),
    (["run", "foraging_small-v1", "wrong_use.py:Unbounded"], "is inf: results are stored as JSON"),
    (["run", "foraging_small-v1", "wrong_use.py:NoSelf"], "has to take self, observation; it takes observation."),
    (
        ["run", "foraging_small-v1", "wrong_use.py:LearnsNothing"],
        "learn has to take self, transition; it takes self.",
    ),
    (["run", "foraging_small-v1", "wrong_use.py:Begins"], "its begin_episode has to take self; it takes self, seed."),
    (["run", "foraging_small-v1", "wrong_use.py:Waits"], "its act is async. It has to be a plain function."),
    (["run", "foraging_small-v1", "wrong_use.py:Yields"], "its act yields. It has to be a plain function."),
    (["run", "foraging_small-v1", "wrong_use.py:Abstract"], "its class is abstract, it lacks act."),
    (["run", "foraging_small-v1", "mlp_ppo", "--set", "hidden=64"], "Several values are written hidden=[64]"),
    (["new", "brain", "class"], "it is a word of Python. Try my_class."),
    (["run", "foraging_small-v1", "wrong_use.py::Base"], "write path/to/file.py:Base or module:Base"),
    (["run", "foraging_small-v1", "wrong_use.py:ByName"], "it takes *, observation_space, action_space, config, seed."),
    (["run", "foraging_small-v1", "wrong_use.py:Remembers"], "its memory has to take self; it takes self, key."),
    (["run", "foraging_small-v1", "wrong_use.py:Plain"], "config = Settings, which is neither a dataclass nor"),
    (["run", "foraging_small-v1", "wrong_exits.py:A"], "wrong_exits.py, line 2 ends the program. Put what"),
    (["run", "foraging_small-v1", "wrong_runs.py:A"], "wrong_runs.py:A runs a session while it is imported. Put what"),
    (["run", "foraging_small-v1", "wrong.name.py:A"], "because of its name. Rename wrong.name.py: letters,"),
    (["run", "foraging_small-v1", "wrong_upper.PY:A"], "because of its name. Rename wrong_upper.PY: letters,"),
    (["run", "foraging_small-v1", "plain_file:X"], "write path/to/file.py:X or module:X"),
    (["run", "foraging_small-v1", "null_random", "--episodes", "9" * 20], "less than or equal to 10000000"),
    (["sweep", "--tasks", "wall-v1", "--brains", "null_random", "--runs", "2000000", "--dry-run"], "runs is 2000000"),
    (["calibrate", "wall-v1", "--runs", "2000000"], "runs is 2000000"),
    # words that are no command, option or value
    (["rnu"], "No such command 'rnu'. Did you mean 'run'?"),
    (["board", "shwo"], "Did you mean 'show'?"),
    (["run", "--rnus", "3"], "--runs"),
    ([*RUN, "--runs", "many"], "'--runs'"),
    ([*RUN, "--seed"], "'--seed' requires an argument"),
    (["report"], "Missing argument"),
    (["tasks", "wall-v1", "pong-v1"], "unexpected extra argument"),
    (["sweep", "--tasks", "wall-v1"], "Missing option '--brains'"),
    (["calibrate", "wall-v1", "--runs", "3"], "'--runs'"),
    # names
    (["run", "foragin_small", "null_random"], "Did you mean 'foraging_small-v2'"),
    (["run", "foraging_small-v1", "mlp_pp"], "Did you mean 'mlp_ppo'"),
    (["run", "mlp_ppo", "foraging_small-v1"], "The task comes first"),
    (["run", "foraging_small-v1"], "Name a brain after the task"),
    (["run"], "Say what to run"),
    (["tasks", "pong_"], "Did you mean 'pong-v2'"),
    (["brains", "mlp_"], "Did you mean"),
    (["check", "mlp_pp"], "Did you mean 'mlp_ppo'"),
    (["continual", "mlp_pp"], "Did you mean 'mlp_ppo'"),
    (["ablate", "mlp_pp"], "Did you mean 'mlp_ppo'"),
    (["search", "mlp_pp", "--task", "wall-v1"], "Did you mean 'mlp_ppo'"),
    (["search", "null_random", "--task", "wall-v1"], "null_random"),
    (["search", "mlp_ppo", "--task", "wal-v1"], "Did you mean 'wall-v1'"),
    (["search", "mlp_ppo", "--task", "wall-v1", "--sampler", "magic"], "tpe"),
    (["sweep", "--tasks", "wall-v1", "--brains", "null_random,mlp_pp"], "Did you mean 'mlp_ppo'"),
    (["sweep", "--tasks", "wal-v1", "--brains", "null_random"], "Did you mean 'wall-v1'"),
    (["calibrate", "wal-v1"], "Did you mean 'wall-v1'"),
    (["calibrate", "torus-v1", "--motionless"], "torus-v1 has no score, so doing nothing has none there"),
    ([*RUN, "--executor", "gpu"], "Choose threads, processes or ray"),
    # values
    ([*RUN, "--runs", "-3"], "runs is -3"),
    ([*RUN, "--episodes", "0"], "episodes is 0"),
    ([*RUN, "--workers", "0"], "workers is 0"),
    ([*RUN, "--seed", str(2**53)], f"seed is {2**53}"),
    (["run", "foraging_small-v1", "null_random", "--until", "noon"], "decided"),
    (
        [*RUN, "--until", "decided"],
        "--until decided finds the number of runs itself, and keeps no brains: leave out --runs",
    ),
    ([*RUN, "--max-runs", "20"], "--max-runs is the most runs of --until decided: leave it out"),
    ([*RUN, "--debug", "--json"], "--debug executes one run and stores nothing: leave out --json."),
    ([*RUN, "--debug", "--dry-run"], "leave out --dry-run."),
    ([*RUN, "--debug", "--checkpoint", "1"], "leave out --checkpoint."),
    ([*RUN, "--dry-run", "--log", "csv:x.csv"], "--dry-run runs nothing: leave out --log."),
    ([*RUN, "--resume", "x"], "as it was begun: leave out TASK, BRAIN, --runs, --episodes."),
    (["run", "--resume", "x", "--seed", "0", "--set", "a=1"], "as it was begun: leave out --seed, --set."),
    (["run", "foraging_small-v1", "null_random", "--sessions", "1000000000"], "less than or equal to 10000"),
    (["run", "foraging_small-v1", "mine.safetensors"], "nematodebench run TASK --from mine.safetensors."),
    (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma"], "key=value"),
    (["run", "foraging_small-v1", "mlp_ppo", "--set", "gama=0.9"], "'gama'"),
    (["run", "foraging_small-v1", "mlp_ppo", "--set", "gamma=fast"], "gamma"),
    (["sweep", "--tasks", "wall-v1", "--brains", "mlp_ppo", "--grid", "gamma"], "gamma"),
    (["sweep", "--tasks", "wall-v1", "--brains", "mlp_ppo", "--grid", "gama=1,2"], "gama"),
    (["compare", "{A}", "{A}", "--smallest-effect", "-1"], "give a number above 0"),
    (["search", "mlp_ppo", "--task", "wall-v1", "--trials", "0"], "trials"),
    # configs
    ([*RUN[:3], "--set", f"n={'9' * 5000}"], "The value of 'n' is not YAML"),
    (["watch", "wall-v1", "--brain", "null_random", "--episodes", "0"], "episodes is 0"),
    (["watch", "wall-v1", "--brain", "null_random", "--seed", "-1"], "seed is -1"),
    (["sweep", "--tasks", "wall-v1", "--brains", "null_random", "--runs", "9999999"], "runs is 9999999"),
    (["run", "--config", "misspelt.yml"], "Did you mean 'brain'?"),
    (["run", "--config", "runz.yml"], "no key 'runz'"),
    (["run", "--config", "no_task.yml"], "'task' is missing"),
    (["run", "--config", "words.yml"], "runs"),
    (["run", "--config", "broken.yml"], "is not YAML"),
    (["run", "--config", "list.yml"], "must be a mapping"),
    (["run", "--config", "none.yml"], "There is no file none.yml"),
    (["run", "--config", "empty"], "Cannot read empty"),
    (["run", "foraging_small-v1", "null_random", "--config", "runz.yml"], "not both"),
    # brains of one's own
    (["run", "foraging_small-v1", "wrong_use.py"], "Name the class in it: wrong_use.py:Base"),
    (["run", "foraging_small-v1", "wrong_use.py:Bas"], "Did you mean 'Base'"),
    (["run", "foraging_small-v1", "nowhere.py:Base"], "there is no file nowhere.py"),
    (["run", "foraging_small-v1", "wrong_syntax.py:Any"], "wrong_syntax.py, line 2"),
    (["run", "foraging_small-v1", "wrong_needs.py:Any"], "Install what it needs"),
    (["run", "foraging_small-v1", "wrong_extra.py:Any"], "pip install 'nematodebench[ray]'"),
    (["run", "foraging_small-v1", "wrong_raises.py:Any"], "ZeroDivisionError"),
    (["run", "foraging_small-v1", "wrong_use.py:Mute"], "act"),
    (["run", "foraging_small-v1", "wrong_use.py:Bare"], "has to take observation_space, action_space, config, seed"),
    (["run", "foraging_small-v1", "wrong_use.py:number"], "number"),
    (["run", "foraging_small-v1", "wrong_use.py:Odd"], "one of classical"),
    (["run", "foraging_small-v1", "wrong_use.py:Loose"], "config = MyConfig, a dataclass or a pydantic model"),
    (["run", "foraging_small-v1", "wrong_use.py:Base", "--set", "lrr=1"], "'lrr' means nothing to it"),
    (["run", "wrong_use.py:Base", "null_random"], "The task comes first"),
    (["check", "notes.txt"], "notes.txt"),
    (["check", "wrong_use.py:Mute"], "act"),
    # files that are something else
    (["run", "--resume", "nothing"], "no session to resume"),
    (["rerun", "nothing"], "no experiment at nothing"),
    (["rerun", "{A}", "--run", "99"], "99"),
    (["rerun", "sessions"], "is a folder of 2 sessions"),
    (["report", "sessions"], "is a folder of 2 sessions"),
    (["report", "empty"], "empty"),
    (["report", "some.json"], "some.json"),
    (["report", "{A}", "{B}"], "foraging_small-v2"),
    (["compare", "{A}", "{B}"], "foraging_small-v2"),
    (["compare", "{A}", "nothing"], "nothing"),
    (["evaluate", "none.json"], "none.json"),
    (["evaluate", "broken.json"], "broken.json"),
    (["verify", "none.json"], "none.json"),
    (["verify", "some.json"], "some.json"),
    (["submit", "--draft"], "--experiments"),
    (["submit", "--draft", "--experiments", "nothing"], "no finished session in nothing"),
    (["submit", "--experiments", "{A}"], "is not a git repository"),
    (["board", "show"], "has no folder benchmarks"),
    (["keys", "revoke", "nobody", "--reason", "lost"], "nobody"),
    (["keys", "new", "mine"], "Missing option '--owner'"),
    (["new", "brain", "2fast"], "2fast"),
    (["new", "brain", "taken_brain"], "taken_brain.py"),
    (["new", "world", "my-world"], "my-world"),
    ([*RUN, "--track", "--output", "plain_file/below"], "plain_file"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[" ".join(words)[:60] for words, _ in WRONG])
def test_one_line_names_the_thing_and_the_way_out(complaint, words, message):
    assert message in complaint(words)


FAILING = [
    ("NoNumber", "nan"),
    ("TooLarge", "99"),
    ("Several", "act returned 7 numbers where the body takes 1, a whole number from 0 to 3"),
    ("Nothing", "act returned None: it has to return the action"),
    ("Talks", "act returned str 'left', which is no action"),
    ("Leaves", "SystemExit: 3 (wrong_use.py, line 45, in act) at episode 0, step 0"),
    ("Counts", "memory returned int: it has to return bytes"),
    ("Another", "Another(...) gave a int, which is no brain: see its __new__ while the brain was built"),
    ("Forgets", "memory returned NoneType: it has to return bytes"),
    ("Panics", "BaseException: panicked (wrong_use.py, line "),
    ("Speechless", "Silent: <exception str() failed> (wrong_use.py, line "),
    ("Huge", "act returned a number that is too large for an action"),
    ("Digit", "act returned str '1', which is no action"),
    ("Swaps", "observation_space has no n: it has shape[0] sensors"),
    ("Returns", "__init__() should return None, not 'int' while the brain was built"),
    ("Refuses", "no licence (wrong_use.py, line 27, in __init__) while the brain was built"),
]


@pytest.mark.parametrize(("brain", "message"), FAILING)
def test_a_brain_that_fails_is_told_with_what_it_did(folder, monkeypatch, capsys, brain, message):
    """The documented form: a line for the run with what is wrong, below it the brain's own lines."""
    monkeypatch.chdir(folder)
    words = [*RUN[:2], f"wrong_use.py:{brain}", *RUN[3:], "--workers", "1", "--executor", "threads"]
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr().err
    (line,) = [line for line in printed.splitlines() if "FAILED" in line]
    assert end.value.code == 1
    assert "nematodebench/engine" not in printed
    assert line.startswith("run 0 (seed ")
    assert message in line


def test_a_brain_that_takes_effectors_for_choices_is_told_of_them(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    words = ["run", "cartpole-v2", "wrong_use.py:Chooses", "--runs", "1", "--workers", "1", "--executor", "threads"]
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
    with pytest.raises(SystemExit):
        main()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "FAILED" in line]
    assert "action_space has no n: this task moves 2 effectors" in line
    assert "raise a ValueError to refuse such tasks (wrong_use.py, line 81, in __init__)" in line


def test_a_wrong_answer_is_told_once(folder, monkeypatch, capsys):
    """There are no lines of the brain to be shown below it."""
    monkeypatch.chdir(folder)
    words = [*RUN[:2], "wrong_use.py:Nothing", *RUN[3:], "--workers", "1", "--executor", "threads"]
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.count("act returned None") == 1


def test_a_file_that_is_no_submission_fails_its_checks(folder, monkeypatch, capsys):
    """The documented form of evaluate: one line for each check that failed, with the way out below it."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["nematodebench", "evaluate", "some.json"])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 1
    assert "FAIL  schema  submission_id: Field required" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("start", [RUN[:2], ["continual"]], ids=["run", "continual"])
def test_what_a_failing_brain_says_moves_no_terminal(folder, monkeypatch, capsys, start):
    """Nor does a workflow's log take it for a command."""
    monkeypatch.chdir(folder)
    more = ["--episodes", "2", "--order", "gridworld,association", "--no-alone"] if start == ["continual"] else RUN[5:]
    words = [*start, "wrong_use.py:Shouts", *more, "--runs", "1", "--workers", "1", "--executor", "threads"]
    monkeypatch.setattr(sys, "argv", ["nematodebench", *words])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr().err
    assert end.value.code in {1, 2}
    assert "failed: runtimeerror: " in printed.lower()
    assert not any(one in printed for one in ("\x1b", "::error", "##["))


LIBRARIES = [
    ("optuna", ["search", "mlp_ppo", "--task", "wall-v1", "--trials", "1"], "nematodebench[search]"),
    ("torch", ["run", "foraging_small-v1", "torch_reinforce"], "nematodebench[torch]"),
    ("ray", [*RUN, "--executor", "ray"], "nematodebench[ray]"),
    ("markupsafe", ["report", "{A}", "--html", "page.html"], "nematodebench[report]"),
    ("altair", ["report", "{A}", "--format", "md"], "nematodebench[report]"),
    ("jinja2", ["board", "site", "--experiments", "sessions", "--output", "pages"], "nematodebench[report]"),
    ("vl_convert", ["board", "site", "--output", "pages"], "nematodebench[report]"),
    ("jinja2", ["serve", "sessions", "--port", "0"], "nematodebench[report]"),
]


@pytest.mark.parametrize(("library", "words", "message"), LIBRARIES)
def test_a_library_that_is_not_installed_is_named(complaint, monkeypatch, library, words, message):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith(("nematodebench.search", _TORCH_BRAIN))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    assert f"pip install '{message}'" in complaint(words)


_TORCH_BRAIN = "nematodebench.brains.classical.torch_reinforce"
