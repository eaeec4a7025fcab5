"""A record names the commit of the package and that of the brain, wherever the command was started."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import nematodebench as nb
from nematodebench.cli import main
from nematodebench.records import commits, locked
from nematodebench.records.git import git

ROOT = Path(__file__).resolve().parents[2]
BRAIN = """
class Mine:
    def __init__(self, observation_space, action_space, config, seed): ...
    def begin_episode(self): ...
    def act(self, observation):
        return 0
    def learn(self, transition): ...
"""


def repository(folder):
    """A repository with a brain in it; its commit."""
    folder.mkdir()
    (folder / "mine.py").write_text(BRAIN)
    (folder / ".gitignore").write_text("ignored*\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a brain"]):
        own = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words]
        subprocess.run(own, cwd=folder, check=True, capture_output=True)
    return git("rev-parse", "HEAD", folder=folder)


@pytest.fixture
def fresh():
    commits.package_commit.cache_clear()
    yield
    commits.package_commit.cache_clear()


@pytest.fixture
def made(tmp_path, monkeypatch, fresh):
    """A session of a brain that has a repository of its own, run from a third one."""
    brain, _ = repository(tmp_path / "brain"), repository(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "elsewhere")
    yield brain, nb.run("foraging_small-v1", str(tmp_path / "brain" / "mine.py:Mine"), runs=1, episodes=1, seed=1)
    sys.modules.pop("mine", None)


@pytest.mark.skipif(git("rev-parse", "HEAD", folder=ROOT) is None, reason="needs the repository's history")
def test_a_session_has_the_commits_of_package_and_brain_and_not_of_the_folder(made):
    commit, session = made
    found = session.metadata().provenance
    assert found.git_commit == git("rev-parse", "HEAD", folder=ROOT)
    assert (found.brain_commit, found.brain_dirty) == (commit, False)


def test_they_are_shown_where_a_session_is(made, capsys, monkeypatch):
    commit, session = made
    place = session.save()
    for words in (
        ["rerun", str(place), "--run", "0", "--trust-code", "--json"],
        ["report", str(place), "--html", "r.html"],
    ):
        monkeypatch.setattr("sys.argv", ["nematodebench", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
    assert f'"commit of the brain": "{commit}"' in capsys.readouterr().out
    assert commit in Path("r.html").read_text()


def test_a_brain_of_the_package_has_no_commit_of_its_own():
    found = nb.run("foraging_small-v1", "null_random", runs=1, episodes=1, seed=1).metadata().provenance
    assert (found.brain_commit, found.brain_dirty) == (None, None)


@pytest.mark.parametrize("name", ["new.py", "ignored.py"])
def test_a_brain_that_is_in_no_commit_is_a_change(tmp_path, name):
    commit = repository(tmp_path / "brain")
    assert commits.brain_commit(tmp_path / "brain" / "mine.py") == (commit, False)
    (tmp_path / "brain" / name).write_text(BRAIN)
    assert commits.brain_commit(tmp_path / "brain" / name) == (commit, True)


def test_a_brain_without_a_repository_has_no_commit(tmp_path):
    (tmp_path / "mine.py").write_text(BRAIN)
    assert commits.brain_commit(tmp_path / "mine.py") == (None, None)


def test_what_is_installed_below_a_repository_is_no_part_of_it(tmp_path, monkeypatch, fresh):
    repository(tmp_path / "somebody")
    place = tmp_path / "somebody" / "ignored" / "site-packages" / "nematodebench"
    place.mkdir(parents=True)
    (place / "__init__.py").touch()
    monkeypatch.setattr(commits, "_PACKAGE", place)
    monkeypatch.setattr(commits, "_installed", lambda: "the commit of the installer")
    assert commits.package_commit() == ("the commit of the installer", None)
    assert commits.brain_commit(place / "__init__.py") == (None, None)


@pytest.mark.parametrize(
    ("kept", "wanted"),
    [
        (json.dumps({"url": "x", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}}), "a1b2"),
        (json.dumps({"url": "x", "dir_info": {"editable": True}}), None),
        (json.dumps({"vcs_info": {"commit_id": "\x1b[2J"}}), None),
        ("[]", None),
        ("{", None),
        (None, None),
    ],
)
def test_the_commit_that_was_installed_is_what_the_installer_kept(monkeypatch, kept, wanted):
    class Distribution:
        def read_text(self, name):
            return kept if name == "direct_url.json" else None

    monkeypatch.setattr(commits.importlib.metadata, "distribution", lambda name: Distribution())
    assert commits._installed() == wanted


def test_the_lock_file_keeps_the_bounds_of_the_package():
    """A lock that was not made anew after a bound changed would be an environment that nobody can install."""
    pinned = dict(locked._PINNED.findall((ROOT / locked.LOCK).read_text()))
    for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]:
        wanted = Requirement(text)
        assert wanted.name in pinned, f"{wanted.name} is not in {locked.LOCK}: make lock"
        assert pinned[wanted.name] in wanted.specifier, f"{text}: {locked.LOCK} has {pinned[wanted.name]}: make lock"


def test_a_record_names_the_lock_file_and_whether_it_was_followed(monkeypatch):
    found = nb.run("foraging_small-v1", "null_random", runs=1, episodes=1, seed=1).metadata().provenance
    assert found.lock_sha256 == locked.lock_sha256() is not None
    assert found.lock_followed is not bool(locked.unlike_the_lock())
    monkeypatch.setattr(locked, "_content", lambda: b"numpy==1.0 \\\n    --hash=sha256:00\nno_such-thing==2\n")
    locked.unlike_the_lock.cache_clear()
    try:
        wrong = locked.unlike_the_lock()
        assert [one.partition(" ")[0] for one in wrong] == ["numpy", "no_such-thing"]
        assert locked.follows_lock() is False
    finally:
        locked.unlike_the_lock.cache_clear()
