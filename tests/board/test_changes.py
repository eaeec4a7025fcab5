"""What a proposal changes is read with as few questions to git as possible."""

import json
import subprocess

from submission_workshop import commit, git, new_repository

from nematodebench.board.changes import open_proposal
from nematodebench.board.immutable import kept_configs


def proposal(root, entries):
    """A proposal that changes the config of the last of many entries."""
    new_repository(root)
    for k in range(entries):
        path = root / "benchmarks" / "task" / "kind" / f"20260101_{k:06d}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"config_file": "configs/follower.yml" if k == entries - 1 else f"configs/{k}.yml"}))
    (root / "benchmarks" / "broken.json").write_text("{")
    (root / "benchmarks" / "empty.json").write_text("")
    commit(root)
    (root / "configs" / "follower.yml").write_text("another")
    commit(root)
    return open_proposal(root, "HEAD~1", "HEAD")


def test_all_entries_are_read_with_a_few_questions(tmp_path, monkeypatch):
    made = proposal(tmp_path / "repo", 700)
    asked, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda words, **options: asked.append(words) or run(words, **options))
    (reason,) = kept_configs(made)
    assert "20260101_000699.json was made with it" in reason
    assert len(asked) <= 12
    found = dict(made.trusted_below("benchmarks", 1000))
    names = git(tmp_path / "repo", "ls-tree", "-r", "--name-only", "HEAD~1", "--", "benchmarks").split()
    assert list(found) == names
    assert all(content == (tmp_path / "repo" / name).read_bytes() for name, content in found.items())


def test_files_that_are_too_large_are_left_out(tmp_path):
    made = proposal(tmp_path / "repo", 2)
    assert list(dict(made.trusted_below("benchmarks", 1))) == ["benchmarks/broken.json", "benchmarks/empty.json"]
