"""Nobody prepares what a verification finds finished, and a brain that never ends costs one run."""

import hashlib
import json
import subprocess

import pytest
from submission_workshop import SHORT, command, commit, official

from nematodebench.engine.isolation.host import STOPPED
from nematodebench.errors import UsageError
from nematodebench.records.provenance import software
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.verification import finished
from nematodebench.verification import verify as verification
from nematodebench.verification.finished import Outcomes, kept_challenge, state_name
from nematodebench.verification.workplace import own_folder


def test_a_new_folder_is_closed_to_others(tmp_path):
    made = own_folder(tmp_path / "work" / "new")
    assert made.stat().st_mode & 0o077 == 0
    (made / "finished").touch()
    assert own_folder(made) == made


def committed(place):
    place.mkdir()
    (place / "challenge.json").write_text("{}")
    for words in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *words], cwd=place.parent, check=True)


def committed_as_a_repository(place):
    """What was committed has the files of a bare repository, in which git would be asked about another one."""
    for name in ("HEAD", "objects/x", "refs/x", "config", "challenge.json"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("ref: refs/heads/main\n" if name == "HEAD" else "")
    for words in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *words], cwd=place.parent, check=True)
    inside = subprocess.run(["git", "ls-files"], cwd=place, capture_output=True, check=False)
    assert not inside.stdout


def in_a_repository_that_git_does_not_read(place):
    place.mkdir()
    (place.parent / ".git").write_text("gitdir: /nowhere")


def linked(place):
    (place.parent / "elsewhere").mkdir()
    place.symlink_to("elsewhere")


def in_a_link(place):
    (place.parent.parent / "elsewhere").mkdir()
    place.parent.rmdir()
    place.parent.symlink_to("elsewhere")


def shared(place):
    place.mkdir()
    place.chmod(0o777)


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (committed, "git has files of it, from a commit"),
        (committed_as_a_repository, "git has files of it, from a commit"),
        (in_a_repository_that_git_does_not_read, "git cannot tell whether a commit of"),
        (linked, "it is a symbolic link"),
        (in_a_link, "it is a symbolic link, or in one"),
        (shared, "other users may write to it"),
        (lambda place: place.write_text(""), "it is no folder"),
    ],
)
def test_a_folder_that_somebody_else_may_have_prepared_is_refused(tmp_path, prepare, why):
    place = tmp_path / "top" / "work"
    place.parent.mkdir()
    prepare(place)
    with pytest.raises(UsageError, match=why):
        own_folder(place)


def test_a_challenge_and_outcomes_that_come_with_a_submission_are_not_believed(tmp_path):
    work = official(tmp_path / "repo", "null_random", SHORT)
    digest = hashlib.sha256(work.path.read_bytes()).hexdigest()
    place = work.root / "verification_work" / state_name(digest)
    place.mkdir(parents=True)
    (place / "challenge.json").write_text(json.dumps({"submission_sha256": digest, "challenge": "0" * 64}))
    (place / "claimed.jsonl").write_text("".join(f'[{k}, true, ""]\n' for k in range(500)))
    subprocess.run(["git", "add", "-f", "verification_work"], cwd=work.root, check=True)
    commit(work.root, "prepared")
    outcome = command(work.root, "verify", work.path, "--runs", 1)
    assert outcome.code == 2
    assert "git has files of it, from a commit" in outcome.err


def test_what_other_libraries_have_executed_is_not_gone_on_with(monkeypatch):
    """The record says with which versions its runs were executed: all of them."""
    before = state_name("ab" * 32)
    assert before == state_name("ab" * 32) != state_name("cd" * 32)
    for name in ("numpy", "numba", "torch", "Python", "nematodebench source"):
        monkeypatch.setattr(finished, "software", lambda name=name: {**software(), name: "another"})
        assert state_name("ab" * 32) != before


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"\xff", b'{"challenge": "00"}', json.dumps({"submission_sha256": "ab" * 32}).encode(),
     json.dumps({"submission_sha256": "ab" * 32, "challenge": "no"}).encode(),
     json.dumps({"submission_sha256": "ab" * 32, "challenge": 3}).encode(),
     json.dumps({"submission_sha256": "cd" * 32, "challenge": "00" * 32}).encode()],
)  # fmt: skip
def test_a_damaged_challenge_is_not_replaced_in_silence(tmp_path, content):
    """Fresh sessions beside it follow from it, and a record with another challenge would not be theirs."""
    (tmp_path / "challenge.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"challenge\.json is damaged.*verify again"):
        kept_challenge(tmp_path, "ab" * 32)
    assert (tmp_path / "challenge.json").read_bytes() == content


def test_a_challenge_is_drawn_once(tmp_path):
    assert kept_challenge(tmp_path, "ab" * 32) == kept_challenge(tmp_path, "ab" * 32)


def test_outcomes_that_are_damaged_are_found_out_again(tmp_path):
    path = tmp_path / "claimed.jsonl"
    Outcomes(path).add(1, True, "")
    good = path.read_bytes()
    bad = [
        b"5",
        b"null",
        b"[1]",
        b'["a", true, ""]',
        b'[2, 1, ""]',
        b"[3, true, 4]",
        b"[4, tr",
        b"\xff\xfe",
        b"[" * 9999,
    ]
    path.write_bytes(b"\n".join([*bad, good]))
    assert Outcomes(path).found == {1: True}


@pytest.mark.parametrize(
    ("place", "message"), [("execute_all", "a claimed run did not end"), ("_Told", "fresh run 3 of its session failed")]
)
def test_a_run_that_does_not_end_ends_the_verification(tmp_path, monkeypatch, place, message):
    """Otherwise a brain that sleeps would take an hour for each of a thousand runs."""
    work = official(tmp_path / "repo", "null_random", SHORT)
    asleep = RunResult(3, 0, failure=RunFailure(f"{STOPPED}: it took more than 3600 s"))

    def told(*_given):
        verification._Told(verification.Job(work.path, work.root, tmp_path), 0, 1).ended(asleep)

    if place == "_Told":
        monkeypatch.setattr(verification, "run_plan", lambda *_given, **_options: told())
    else:
        monkeypatch.setattr(verification, "execute_all", lambda *_given: iter([asleep]))
    outcome = command(work.root, "verify", work.path, "--runs", 1, "--work", tmp_path / "work")
    assert outcome.code == 2
    assert message in outcome.err
    assert "took more than 3600 s" in outcome.err
