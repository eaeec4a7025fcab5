"""Making submissions: what is refused and why, and what is written where."""

import datetime
import json
import shutil
from pathlib import Path

import pytest
from submission_workshop import (
    CONFIG,
    command,
    commit,
    copied,
    folders,
    git,
    new_repository,
    run_session,
    sessions_repository,
    sha256,
    submit,
    unpacked_repository,
)

from nematodebench.submissions.sessions import open_session
from nematodebench.submissions.tables import read_episodes
from nematodebench.tasks.registry import get_task


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Ten finished sessions in a clean repository."""
    return copied(sessions_repository(), tmp_path / "repo")


def _tree(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts]
    return {str(path.relative_to(root)): sha256(path) for path in files}


def _refused(repo: Path, *more: object) -> str:
    before = _tree(repo)
    outcome = submit(repo, *more)
    assert outcome.code == 1
    assert _tree(repo) == before
    return outcome.err


def test_sessions_are_moved_and_the_submission_is_written(repo: Path) -> None:
    before = {path.name: open_session(path.parent, path.name) for path in folders(repo)}
    outcome = submit(repo, "--github", "ada-example", "--notes", "first try", "--json")
    assert outcome.code == 0, outcome.err
    made = json.loads(outcome.out)
    assert folders(repo) == []
    moved = repo / "artifacts" / "experiments"
    assert {path.name for path in moved.iterdir()} == set(before)
    for name, session in before.items():
        after, task = open_session(moved, name), get_task(session.metadata.task)
        assert (after.metadata, after.reference()) == (session.metadata, session.reference())
        assert after.packed is not None
        old, new = (read_episodes(one, task) for one in (session, after))
        assert all(old[run][phase].tobytes() == new[run][phase].tobytes() for run in old for phase in old[run])
    claims = json.loads((repo / made["path"]).read_text())
    assert claims == made["submission"]
    assert made["path"] == f"benchmarks/foraging_small/scripted/{claims['timestamp']}.json"
    assert (claims["contributor"], claims["github"], claims["notes"]) == ("Ada Example", "ada-example", "first try")


def test_nothing_is_left_beside_the_submission(repo: Path) -> None:
    assert submit(repo).code == 0
    assert {line[3:] for line in git(repo, "status", "--porcelain").splitlines()} == {"artifacts/", "benchmarks/"}
    assert not [path for path in repo.rglob(".*") if path.parent != repo and ".git" not in path.parts]


def test_timestamp_is_made_at_submission(repo: Path) -> None:
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    made = json.loads(submit(repo, "--json").out)["submission"]
    when = datetime.datetime.strptime(made["timestamp"], "%Y%m%d_%H%M%S").replace(tzinfo=datetime.UTC)
    assert before <= when <= datetime.datetime.now(datetime.UTC)


def test_draft_prints_the_submission_and_writes_nothing(repo: Path) -> None:
    (repo / "configs" / "follower.yml").write_text(CONFIG + "# changed\n")
    before = _tree(repo)
    outcome = submit(repo, "--draft")
    assert outcome.code == 0
    assert json.loads(outcome.out)["total_runs"] == 500
    assert "would be refused: git: tracked files differ" in outcome.err
    assert _tree(repo) == before


def test_draft_works_outside_of_git(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    outcome = submit(repo, "--draft")
    assert outcome.code == 0
    assert "not in a git repository" in outcome.err


def test_outside_of_git_is_refused(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    outcome = submit(repo)
    assert outcome.code == 2
    assert "is not a git repository" in outcome.err


def test_changed_code_is_refused(repo: Path) -> None:
    (repo / ".gitignore").write_text("/experiments/\nother\n")
    assert "git: tracked files differ from the last commit: .gitignore" in _refused(repo)


def test_changed_results_are_not_changed_code(repo: Path) -> None:
    for folder in ("benchmarks", "artifacts"):
        (repo / folder).mkdir()
        (repo / folder / "old.txt").write_text("old")
    commit(repo)
    for folder in ("benchmarks", "artifacts"):
        (repo / folder / "old.txt").write_text("new")
    assert submit(repo).code == 0


def test_repository_without_a_commit_is_refused(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    git(repo, "init", "-q")
    assert "git: there is no commit yet" in _refused(repo)


def test_ignored_artifacts_are_refused(repo: Path) -> None:
    (repo / ".gitignore").write_text("experiments/\n")
    commit(repo)
    assert "git: .gitignore hides artifacts/experiments/" in _refused(repo)


def test_untracked_config_is_refused(repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", "configs/follower.yml")
    commit_without_config = ("commit", "-q", "-m", "untrack")
    git(repo, *commit_without_config)
    assert "config file: configs/follower.yml is not tracked in git" in _refused(repo)


def test_config_of_another_name_and_words_will_do(repo: Path) -> None:
    (repo / "configs" / "follower.yml").unlink()
    (repo / "configs" / "same.yml").write_text("# says the same\nbrain: gradient_follower\ntask: foraging_small-v1\n")
    commit(repo)
    outcome = submit(repo, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["submission"]["config_file"] == "configs/same.yml"


def test_nine_sessions_are_refused(repo: Path) -> None:
    shutil.rmtree(folders(repo)[0])
    assert "sessions: 9 sessions: at least 10 are required" in _refused(repo)


def test_other_category_is_refused(repo: Path) -> None:
    assert "category: the sessions belong to 'foraging_small/scripted'" in _refused(repo, "--category", "pong/quantum")


def test_expected_category_is_accepted(repo: Path) -> None:
    assert submit(repo, "--category", "foraging_small/scripted").code == 0


def test_edited_session_is_refused(repo: Path) -> None:
    path = next(folders(repo)[0].glob("2*.json"))
    record = json.loads(path.read_text())
    record["runs"][0]["metrics"]["success_rate"] = 1.5
    path.write_text(json.dumps(record))
    assert "session metrics" in _refused(repo)


def test_session_given_twice_is_refused(repo: Path) -> None:
    names = [*folders(repo), folders(repo)[0]]
    outcome = command(repo, "submit", "--experiments", *names)
    assert (outcome.code, "is given twice" in outcome.err) == (2, True)


def test_unfinished_session_says_how_to_resume(repo: Path) -> None:
    folder = folders(repo)[0]
    next(folder.glob("2*.json")).unlink()
    outcome = submit(repo)
    assert outcome.code == 2
    assert f"nematodebench run --resume {folder.name}" in outcome.err


def test_session_already_submitted_is_refused(repo: Path) -> None:
    shutil.copytree(folders(repo)[0], repo / "artifacts" / "experiments" / folders(repo)[0].name)
    assert "is already in artifacts/experiments" in _refused(repo)


def test_sessions_of_an_earlier_submission_are_refused_under_other_names(tmp_path: Path) -> None:
    repo = copied(unpacked_repository(), tmp_path / "repo")
    for folder in (repo / "artifacts" / "experiments").iterdir():
        record = json.loads((folder / f"{folder.name}.json").read_text())
        name = f"copy_{folder.name}"
        target = repo / "experiments" / name
        shutil.copytree(folder, target)
        (target / f"{folder.name}.json").unlink()
        (target / f"{name}.json").write_text(json.dumps({**record, "experiment_id": name}))
    assert "independence: run seeds" in _refused(repo)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--notes", "<b>", "notes: may not contain < or >"),
        ("--contributor", "\x07", "contributor: may not contain control"),
        ("--contributor", "", "contributor: String should have at least 1"),
        ("--github", "not a handle", "github: String should match pattern"),
    ],
)
def test_words_that_cannot_be_shown_are_one_clear_line(repo: Path, option: str, value: str, message: str) -> None:
    outcome = submit(repo, option, value)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_nothing_to_submit_is_one_clear_line(repo: Path) -> None:
    outcome = command(repo, "submit")
    assert (outcome.code, outcome.err) == (
        2,
        "nematodebench: Name the sessions to submit: --experiments experiments/ID ...\n",
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two tiny sessions, for what does not need official ones."""
    root = new_repository(tmp_path / "small")
    for seed in (1, 2):
        run_session(root, seed, runs=3, episodes=30)
    return root


def test_small_unofficial_sessions_are_refused_for_every_reason(small: Path) -> None:
    text = _refused(small)
    assert "sessions: 2 sessions" in text
    assert "has 3 runs: at least 50" in text
    assert "is not official" in text


def test_sessions_of_two_brains_are_refused(small: Path) -> None:
    run_session(small, 3, runs=3, episodes=30, brain="null_random")
    assert "differ in brain: null_random and gradient_follower" in _refused(small)


def test_failed_run_is_refused(small: Path) -> None:
    path = next(folders(small)[0].glob("2*.json"))
    record = json.loads(path.read_text())
    record["runs"][1].update(status="failed", failure={"message": "it broke"})
    path.write_text(json.dumps(record))
    assert "complete: " in _refused(small)


def test_submission_from_a_subfolder_finds_the_repository(repo: Path) -> None:
    outcome = command(repo / "configs", "submit", "--experiments", *folders(repo))
    assert outcome.code == 0, outcome.err
    assert len(list((repo / "benchmarks").glob("*/*/*.json"))) == 1


def test_a_brain_that_was_trained_before_its_runs_began_is_refused(repo: Path) -> None:
    folder = folders(repo)[3]
    path = folder / f"{folder.name}.json"
    record = json.loads(path.read_text())
    record["continued_from"] = {"sha256": "a" * 64, "task": record["task"], "seed": 1, "episode": 9}
    path.write_text(json.dumps(record))
    assert f"the brain of {folder.name} was trained before its runs began" in _refused(repo)


def test_checkpoints_are_not_published_and_stay_where_they_are(repo: Path) -> None:
    folder = folders(repo)[3]
    kept = folder / "checkpoints" / "run_00000" / "final.safetensors"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"a brain")
    outcome = submit(repo)
    assert outcome.code == 0, outcome.err
    assert folders(repo) == [folder]
    assert [path.name for path in folder.iterdir()] == ["checkpoints"]
    assert kept.read_bytes() == b"a brain"
    assert not list((repo / "artifacts").rglob("*.safetensors"))
