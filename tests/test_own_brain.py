"""The guide for a brain of one's own does what it says: its commands, one after another, on a task of short runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from submission_workshop import command, commit, git

PAGE = Path(__file__).parents[1] / "docs" / "nematodebench" / "OWN_BRAIN.md"
TEXT = PAGE.read_text(encoding="utf-8")
TASK, SHORT = "association", "pattern_memory_easy"
"""The page's task, and one with the same number of inputs whose runs take a seventh of the time."""
MORE = {
    "run": ["--executor", "threads", "--workers", "1"],
    "verify": ["--runs", "2", "--work", "../work"],
    "evaluate": ["--reproduce", "2"],
}
SAID = {
    "run": "stored in experiments/",
    "submit": "10 sessions moved to artifacts/experiments/.",
    "evaluate": "executed again",
    "keys": "(keep it to yourself)",
    "verify": "signed: verifications/",
    "board": "| my_brain.py:TableBrain | classical |",
}
"""What a command's output holds, on the page and here."""


def files():
    """Every file that the page shows, by its name."""
    return dict(re.findall(r"`([\w/]+\.(?:py|yml))`:\n\n```\w+\n(.*?)```", TEXT, re.DOTALL))


def commands():
    """Every command with the output below it."""
    consoles = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    return [part.partition("\n")[::2] for text in consoles for part in re.split(r"^\$ ", text, flags=re.M) if part]


def test_the_page_shows_the_whole_way():
    words = [shlex.split(line)[:2] for line, _ in commands()]
    programs = [second if first == "nematodebench" else first for first, second in words]
    assert programs == ["pytest", "run", "git", "git", "run", "submit", "evaluate", "keys", "verify", "board"]
    assert list(files()) == ["my_brain.py", "test_my_brain.py", "configs/my_brain.yml"]


@pytest.mark.slow
def test_every_command_of_the_page_does_what_it_says(tmp_path):
    root = tmp_path / "clone"
    (root / "configs").mkdir(parents=True)
    (root / ".gitignore").write_text("/experiments/\n")
    git(root, "init", "-q")
    commit(root, "start")
    for name, content in files().items():
        (root / name).write_text(content.replace(f"{TASK}-v2", f"{SHORT}-v2"))
    for line, shown in commands():
        _execute(root, line, shown)


def _execute(root, line, shown):
    program, *words = shlex.split(line.replace(f"{TASK}-v2", f"{SHORT}-v2"))
    if program == "git":
        git(root, *words)
    elif program == "pytest":
        done = subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=root, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode()
    else:
        what = words[0]
        outcome = command(root, *_expanded(root, words), *MORE.get(what, []))
        assert outcome.code == 0, outcome.err
        if what != "run" or "--track" in words:
            for text in (shown, outcome.out):
                assert SAID[what] in " ".join(text.split())


def _expanded(root, words):
    """What the shell would make of a star, and the names of this submission in the place of the page's."""
    for word in words:
        if word.endswith("*"):
            yield from sorted(str(path.relative_to(root)) for path in root.glob(word))
        elif word.startswith("benchmarks/"):
            yield str(next(path.relative_to(root) for path in root.glob("benchmarks/*/open/*.json")))
        else:
            yield word
