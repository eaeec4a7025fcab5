"""How git is asked: a repository that names programs wherever git would start one never gets one started."""

import ast
import os
import subprocess
from pathlib import Path

import pytest

import nematodebench
from nematodebench.records import git as git_module
from nematodebench.records.commits import brain_commit
from nematodebench.records.git import git, git_bytes, has_more
from nematodebench.submissions import repository

SOURCES = sorted(Path(nematodebench.__file__).parent.rglob("*.py"))


def plain_git(root, *arguments):
    words = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(words, cwd=root, check=True, capture_output=True)


@pytest.fixture
def trap(tmp_path):
    """A repository in which every kind of program leaves a mark."""
    root, mark = tmp_path / "repo", tmp_path / "mark"
    root.mkdir()
    plain_git(root, "init", "-q")
    (root / "file.txt").write_text("one\n")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    plain_git(root, "add", "-A")
    plain_git(root, "commit", "-q", "-m", "start")
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.a=b.c.process", "diff.external",
                "diff.evil.textconv", "diff.evil.command", "core.pager", "gpg.program", "core.sshCommand"):  # fmt: skip
        plain_git(root, "config", key, str(program))
    plain_git(root, "config", "filter.evil.required", "true")
    plain_git(root, "config", "log.showSignature", "true")
    plain_git(root, "config", "core.hooksPath", str(hooks))
    (root / "file.txt").write_text("two\n")
    os.utime(root / "file.txt", (1, 1))
    mark.unlink(missing_ok=True)
    return root, mark


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "--porcelain"),
        ("diff", "--name-only", "HEAD"),
        ("log", "-1", "--format=%H"),
        ("ls-files",),
        ("rev-parse", "--show-toplevel"),
        ("diff", "--no-ext-diff", "--no-textconv", "HEAD"),
        ("update-ref", "refs/heads/other", "HEAD"),
    ],
)
def test_no_program_that_a_repository_names_is_started(trap, arguments):
    root, mark = trap
    assert git(*arguments, folder=root) is not None
    assert not mark.exists(), mark.read_text()


def test_the_trap_works_with_git_as_it_is(trap):
    root, mark = trap
    subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, check=False)
    assert mark.exists()


def test_what_the_package_asks_is_answered_and_starts_nothing(trap, monkeypatch):
    root, mark = trap
    monkeypatch.chdir(root)
    assert repository.repository_root(root) == root
    assert repository.changed_files(root) == ["file.txt"]
    assert repository.is_tracked(root, "file.txt")
    assert brain_commit(root / "file.txt") == (git("rev-parse", "HEAD", folder=root), True)
    assert not mark.exists()


def test_the_environment_does_not_lead_elsewhere(trap, tmp_path, monkeypatch):
    root, _ = trap
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert repository.repository_root(root) == root


def test_git_is_never_taken_from_the_folder(tmp_path, monkeypatch):
    (tmp_path / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    git("status")
    assert not (tmp_path / "mark").exists()


def test_a_replaced_commit_is_not_believed(trap):
    root, _ = trap
    first = git("rev-parse", "HEAD", folder=root)
    plain_git(root, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "second")
    plain_git(root, "-c", "core.hooksPath=/dev/null", "replace", "HEAD", first)
    assert git("log", "-1", "--format=%s", folder=root) == "second"


def test_where_there_is_no_repository_there_is_no_answer(tmp_path):
    assert git("rev-parse", "HEAD", folder=tmp_path) is None
    assert git("rev-parse", "HEAD", folder=tmp_path / "missing") is None
    assert git_bytes("no-such-command", folder=tmp_path) is None


def starts_git(path):
    """Whether a module starts processes and says git somewhere as a word of a command."""
    tree = ast.parse(path.read_text())
    imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return "subprocess" in imports and "git" in words


def test_there_is_one_place_that_calls_git():
    assert [path.name for path in SOURCES if starts_git(path)] == ["git.py"]


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        (r"printf 'a\0b\0'", False),
        (r"printf 'a\0b\0c\0'; exec sleep 60", True),
        (r"printf 'a\0b\0'; exec sleep 60", None),
        (r"printf 'a\0b\0'; exit 1", None),
    ],
)
def test_names_are_counted_no_further_than_needed_and_who_is_too_slow_gives_no_answer(
    tmp_path, monkeypatch, script, answer
):
    program = tmp_path / "git"
    program.write_text(f'#!/bin/sh\ncase "$*" in *ls-tree*) {script};; esac\n')
    program.chmod(0o755)
    monkeypatch.setattr(git_module, "_program", lambda: str(program))
    monkeypatch.setattr(git_module, "_SECONDS", 3)
    monkeypatch.setattr(git_module, "_PART", 6)
    assert has_more(("ls-tree",), 2, tmp_path) is answer
