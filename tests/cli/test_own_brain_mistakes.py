"""Mistakes with a brain of one's own: one line that names the thing and the way out."""

import subprocess
import sys

import pytest

import nematodebench as nb
from nematodebench.cli import build
from nematodebench.errors import UsageError

FILES = {
    "my_brain.py": """
class Curious:
    def __init__(self, *given): pass
    def begin_episode(self): pass
    def act(self, observation): return 0
    def learn(self, transition): pass
""",
    "broken.py": "\nclass Any(:\n",
    "needy.py": "import no_such_library\n",
    "raising.py": "\nx = 1 / 0\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a user works; one for all, because a process imports a module of one name once."""
    place = tmp_path_factory.mktemp("work")
    for name, text in FILES.items():
        (place / name).write_text(text)
    return place


def complaint(*arguments):
    with pytest.raises(UsageError) as error:
        build()(arguments, standalone_mode=False)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "my_brain.py:Curious"], "my_brain.py:Curious is a brain. The task comes first"),
        (["run", "mlp_ppo", "foraging_small-v1"], "mlp_ppo is a brain. The task comes first"),
        (["run", "foraging_small-v1"], "Name a brain after the task"),
        (["run", "foraging_small-v1", "my_brain.py"], "Name the class in it: my_brain.py:Curious."),
        (["run", "foraging_small-v1", "my_brain.py:Curius"], "Did you mean 'Curious'?"),
        (["run", "foraging_small-v1", "my_brain.py:Curious", "--set", "lrr=1"], "'lrr' means nothing to it"),
        (["run", "foraging_small-v1", "broken.py:Any"], "broken.py, line 2: invalid syntax"),
        (["run", "foraging_small-v1", "needy.py:Any"], "No module named 'no_such_library'. Install what"),
        (["run", "foraging_small-v1", "raising.py:Any"], "raising.py, line 2: ZeroDivisionError: division by zero"),
        (["board", "show"], "has no folder benchmarks"),
        (["board", "regenerate"], "has no folder benchmarks"),
    ],
)
def test_one_line_says_what_to_do(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    assert message in complaint(*arguments)


def test_a_folder_of_sessions_is_not_a_session(tmp_path):
    for seed in (1, 2):
        nb.run("foraging_small-v1", "null_random", runs=1, episodes=2, seed=seed).save(tmp_path)
    assert f"{tmp_path} is a folder of 2 sessions" in complaint("report", str(tmp_path))


@pytest.mark.parametrize(
    ("library", "words", "message"),
    [
        ("optuna", ["search", "mlp_ppo", "--task", "pong-v1", "--trials", "1"], "pip install 'nematodebench[search]'"),
        ("torch", ["run", "foraging_small-v1", "torch_reinforce"], "pip install 'nematodebench[torch]'"),
    ],
)
def test_a_library_that_is_not_installed_is_one_line(tmp_path, library, words, message):
    code = f"import sys; sys.modules[{library!r}] = None; sys.argv = {['nematodebench', *words]!r}; "
    code += "from nematodebench.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((dict, "association-v2"), "The task comes first, by its id"),
        (("association-v2", "null_random", "many"), "runs is many: Input should be a valid integer"),
        (("association-v2", lambda *given: 0), "A policy that is a function is scored: nb.score(function, task)."),
        (("association-v2", "null_random", 1, None, "x"), "seed is x: give a whole number"),
        (("association-v2", "null_random", 1, None, 1, None, "x"), "workers is 'x': give a whole number, at least 1."),
        (("association-v2", "null_random", 1, None, 1, None, 1, True, "x"), "checkpoint is 'x': give a whole number"),
        (("association-v2", "null_random", 1, None, 1, None, 1, True, 0, nb.Callback()), "give a list of callbacks"),
        (("association-v2", "null_random", 1, None, 1, 3), "config is 3: give the parameters as a dictionary"),
    ],
)
def test_mistakes_in_python_are_one_line_too(given, message):
    with pytest.raises(UsageError) as error:
        nb.run(*given)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", 3, "a b/.."])
def test_a_brain_is_registered_under_a_word(name):
    with pytest.raises(UsageError, match="cannot be called so"):
        nb.register_brain(name, dict)
