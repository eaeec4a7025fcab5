"""A maintainer's key from its making to its end, in a real repository, as docs/nematodebench/VERIFICATION.md has it."""

import json
import stat

import pytest
from submission_workshop import Work, command, commit, copied, git, official_repository

from nematodebench.board.collect import collect
from nematodebench.board.gate import MAINTAINERS


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The whole way, once; each test looks at one part of it."""
    folder = tmp_path_factory.mktemp("keys")
    root = copied(official_repository(), folder / "repo")
    (root / MAINTAINERS).parent.mkdir()
    (root / MAINTAINERS).write_text("grace\n")
    (root / "README.md").write_text("<!-- leaders:begin -->\n<!-- leaders:end -->\n")
    commit(root, "maintainers")
    git(root, "branch", "-M", "main")
    work, seen = Work(root), {}
    private = folder / "private.pem"

    def propose():
        git(root, "switch", "-q", "-C", "proposed")
        commit(root, "proposed")
        git(root, "switch", "-q", "main")

    def gate(author):
        return command(root, "board", "gate", "--base", "main", "--head", "proposed", "--author", author)

    def merge():
        git(root, "merge", "-q", "--no-ff", "-m", "merge", "proposed")

    def state():
        found = collect(root)
        return len(found.listings), len(found.waiting), len(found.withdrawn), [one.reasons for one in found.rejected]

    seen["before"] = state()
    seen["new"] = command(root, "keys", "new", private, "--owner", "Grace")
    seen["mode"] = stat.S_IMODE(private.stat().st_mode)
    seen["private"] = private.read_text()
    propose()
    seen["gate stranger"], seen["gate"] = gate("mallory"), gate("grace")
    merge()
    seen["stranger's key"] = command(root, "verify", work.path, "--runs", 1, "--work", folder / "work", "--key",
                                     _other_key(folder))  # fmt: skip
    seen["verify"] = command(root, "verify", work.path, "--runs", 1, "--work", folder / "work", "--key", private)
    propose()
    seen["gate record"] = gate("grace")
    merge()
    seen["verified"] = state()
    kept = copied(root, folder / "withdrawn")
    (keyid,) = [path.stem for path in (root / "keys").iterdir()]
    seen["revoke"] = command(root, "keys", "revoke", keyid[:10], "--reason", "lost")
    propose()
    seen["gate revocation"] = gate("grace")
    merge()
    seen["revoked"] = state()
    seen["list"] = command(root, "keys", "list")
    seen["verify revoked"] = command(
        root, "verify", work.path, "--runs", 1, "--work", folder / "work", "--key", private
    )
    path = Work(kept).path
    seen["withdraw"] = command(kept, "keys", "withdraw", path, "--key", private, "--reason", "a mistake")
    root = kept
    seen["withdrawn"] = state()
    seen["file stays"] = path.is_file()
    seen["tracked"] = git(kept, "ls-files")
    return seen


def _other_key(folder):
    (folder / "other").mkdir()
    assert command(folder / "other", "keys", "new", folder / "other.pem", "--owner", "Mallory").code == 0
    return folder / "other.pem"


def test_without_a_record_the_entry_waits(story):
    assert story["before"] == (0, 1, 0, [])


def test_a_new_key_has_a_public_half_in_the_repository_and_a_private_one_outside(story):
    assert story["new"].code == 0
    assert story["mode"] == 0o600
    assert "PRIVATE KEY" in story["private"]
    assert not any(name.endswith(".pem") for name in story["tracked"].splitlines())


def test_a_maintainer_adds_it_and_nobody_else(story):
    assert story["gate"].code == 0, story["gate"].out
    assert "only a maintainer may add" in story["gate stranger"].out


def test_a_key_that_the_board_does_not_know_signs_nothing(story):
    assert story["stranger's key"].code == 2
    assert "not a trusted key" in story["stranger's key"].err


def test_what_it_signs_gets_a_rank(story):
    assert story["verify"].code == 0, story["verify"].err
    assert story["gate record"].code == 0, story["gate record"].out
    assert story["verified"] == (1, 0, 0, [])


def test_after_its_revocation_nothing_it_signed_counts(story):
    assert story["gate revocation"].code == 0, story["gate revocation"].out
    listed, waiting, _, rejected = story["revoked"]
    assert (listed, waiting) == (0, 1)
    assert "is revoked" in json.dumps(rejected)
    assert "revoked" in story["list"].out
    assert story["verify revoked"].code == 2


def test_a_withdrawn_entry_leaves_the_board_and_its_files_stay(story):
    assert story["withdraw"].code == 0, story["withdraw"].err
    assert story["withdrawn"] == (0, 0, 1, [])
    assert story["file stays"]
