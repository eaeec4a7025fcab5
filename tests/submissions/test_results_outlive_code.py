"""Published results stay valid while the code is developed further: each kind of change is made in a copy of the tree.

All published entries must pass and the board must stay as it is; of two entries, runs are executed again with the
changed code. Changes that do change a task are found.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from submission_workshop import commit, git

from nematodebench.submissions.store import load_submission, submission_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src") / "nematodebench"
FORAGING = PACKAGE / "worlds" / "worm" / "foraging.py"
PPO = PACKAGE / "brains" / "classical" / "mlp_ppo.py"
PPO_CONFIG = PACKAGE / "brains" / "parts" / "ppo.py"


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository in another place, so that it can be changed."""
    tree = tmp_path_factory.mktemp("copy") / "tree"
    for name in ("src", "benchmarks", "artifacts", "configs", "docs", "keys", "verifications"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tree / "README.md")
    git(tree, "init", "-q")
    commit(tree, "start")
    _with_the_board_of_its_own_history(tree)
    return tree


def _with_the_board_of_its_own_history(tree: Path) -> None:
    """The copy lacks the merges that dates of entries come from: its board is the published one with other dates."""
    dates, board = re.compile(r"\d{4}-\d\d-\d\d"), tree / "docs" / "nematodebench" / "LEADERBOARD.md"
    published = board.read_text()
    done = call(tree, "board", "regenerate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert dates.sub("", board.read_text()) == dates.sub("", published)
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "--allow-empty", "-m", "board")


@pytest.fixture
def tree(copied_tree: Path) -> Iterator[Path]:
    """The copy, as it was, for every test."""
    yield copied_tree
    git(copied_tree, "checkout", "-q", ".")
    git(copied_tree, "clean", "-fdq")


def call(tree: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs `nematodebench` with the code of the copy."""
    line = [sys.executable, "-m", "nematodebench", *map(str, words)]
    return subprocess.run(
        line, cwd=tree, env={**os.environ, "PYTHONPATH": str(tree / "src")}, capture_output=True, text=True, check=False
    )


def replaced(path: Path, old: str, new: str) -> None:
    """Edits a file as a developer would; the place must be found, and only once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new))


def moved(tree: Path, old: Path, new: Path) -> None:
    """Moves a module, and whoever imports it follows."""
    (tree / old).rename(tree / new)
    here, there = (".".join(path.with_suffix("").parts[1:]) for path in (old, new))
    for path in (tree / "src").rglob("*.py"):
        text = path.read_text()
        package, _, name = here.rpartition(".")
        new_package, _, new_name = there.rpartition(".")
        text = text.replace(here, there)
        text = re.sub(
            rf"from {package} import {name}$", f"from {new_package} import {new_name} as {name}", text, flags=re.M
        )
        path.write_text(text)


def add_parameter(tree: Path, default: str = "0.0") -> None:
    replaced(
        tree / FORAGING,
        '    sensing: str = "gradient"\n',
        f'    sensing: str = "gradient"\n    noise: float = {default}\n',
    )


def add_metric(tree: Path) -> None:
    """Between the metrics that there were, and of the predators' world too."""
    replaced(tree / FORAGING, "    optimal = number()\n", "    hurry = number()\n    optimal = number()\n")
    replaced(
        tree / FORAGING,
        "    metrics.optimal = state.optimal\n",
        "    metrics.optimal = state.optimal\n    metrics.hurry = state.travelled / (1.0 + state.steps)\n",
    )


def add_config_field(tree: Path) -> None:
    replaced(tree / PPO_CONFIG, "    rollout: int = ", "    weight_decay: float = 0.0\n    rollout: int = ")


def move_files(tree: Path) -> None:
    moved(tree, PPO, PACKAGE / "brains" / "spiking" / "clipped_policy.py")
    moved(tree, FORAGING, PACKAGE / "worlds" / "worm" / "food_search.py")


def rename_brain(tree: Path) -> None:
    text = (tree / PPO).read_text()
    text, count = re.subn(
        r'^    name(: ClassVar\[str\])? = "mlp_ppo"$', '    name = "clipped_policy"\n    aliases = ("mlp_ppo",)', text,
        flags=re.M,
    )  # fmt: skip
    assert count == 1
    (tree / PPO).write_text(text)


CHANGES: dict[str, tuple[Callable[[Path], None], tuple[tuple[str, str], ...]]] = {
    "a world parameter added": (add_parameter, (("foraging_small", "mlp_ppo"), ("predator_small", "null_random"))),
    "a metric added": (add_metric, (("foraging_small", "mlp_ppo"), ("predator_small", "mlp_reinforce"))),
    "a config field added": (add_config_field, (("foraging_small", "mlp_ppo"), ("predator_small", "mlp_ppo"))),
    "files moved": (move_files, (("foraging_small", "mlp_ppo"), ("predator_small", "null_random"))),
    "a brain renamed": (rename_brain, (("foraging_small", "mlp_ppo"), ("predator_small", "mlp_ppo"))),
}  # fmt: skip


def entry(tree: Path, task: str, brain: str) -> Path:
    """The file of a published entry."""
    files = [path for path in submission_files(tree) if path.parts[-3] == task]
    return next(path for path in files if load_submission(path).brain_type == brain)


@pytest.mark.parametrize("name", CHANGES)
def test_published_results_outlive(name: str, tree: Path) -> None:
    change, entries = CHANGES[name]
    change(tree)
    commit(tree, name)
    try:
        board = call(tree, "board", "regenerate", "--check")
        assert board.returncode == 0, board.stdout + board.stderr
        for task, brain in entries:
            done = call(tree, "evaluate", entry(tree, task, brain), "--reproduce", "20", "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            runs = json.loads(done.stdout)["reproduction"]["runs"]
            assert [run["outcome"] for run in runs] == ["identical"] * 20
    finally:
        git(tree, "reset", "-q", "--hard", "HEAD~1")


def test_sessions_of_before_and_after_are_compared(tree: Path) -> None:
    """A session stored before a parameter and a metric came is of the same task as one stored after."""
    line = ("run", "foraging_small-v1", "null_random", "--runs", "3", "--seed", "5", "--track", "--output")
    assert call(tree, *line, "before").returncode == 0
    add_parameter(tree)
    add_metric(tree)
    assert call(tree, *line, "after").returncode == 0
    (before,), (after,) = (tree / "before").iterdir(), (tree / "after").iterdir()
    assert call(tree, "compare", before, after).returncode == 0
    again = call(tree, "rerun", before, "--run", "1")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "IDENTICAL" in again.stdout


def test_a_parameter_whose_default_does_something_is_found(tree: Path) -> None:
    """Whether it comes so or was harmless at first: nothing of the task runs, and its entries are rejected."""
    add_parameter(tree, "0.1")
    done = call(tree, "run", "foraging_small-v1", "null_random", "--runs", "2")
    assert done.returncode == 2
    assert "phases[0].noise was 0.0 and is 0.1" in done.stderr
    outcome = call(tree, "evaluate", entry(tree, "foraging_small", "null_random"), "--json")
    assert outcome.returncode == 1
    failed = {
        check["name"]: check["message"] for check in json.loads(outcome.stdout)["checks"] if check["outcome"] == "FAIL"
    }
    assert "noise was 0.0 and is 0.1" in failed["task"]
    assert call(tree, "board", "regenerate", "--check").returncode == 1


def test_physics_that_changed_are_found_by_execution(tree: Path) -> None:
    """The specification says nothing about code: only re-execution does."""
    for path in (tree / PACKAGE / "worlds" / "worm").glob("*.py"):
        path.write_text(path.read_text().replace("0.005", "0.006"))
    done = call(tree, "evaluate", entry(tree, "foraging_small", "null_random"), "--reproduce", "3", "--json")
    assert done.returncode == 1
    outcomes = {run["outcome"] for run in json.loads(done.stdout)["reproduction"]["runs"]}
    assert outcomes == {"different"}
