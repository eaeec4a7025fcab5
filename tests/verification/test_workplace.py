"""Nobody prepares what a verification finds finished, and a brain that never ends costs one run."""

import hashlib
import json
import subprocess

import pytest
from submission_workshop import SHORT, command, commit, official

from nematodebench.engine.isolation.host import STOPPED
from nematodebench.errors import UsageError
from nematodebench.records.provenance import source_hash
from nematodebench.records.runs import RunFailure, RunResult
from nematodebench.verification import verify as verification
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
    place = work.root / "verification_work" / f"{digest[:16]}_{source_hash()[:8]}"
    place.mkdir(parents=True)
    (place / "challenge.json").write_text(json.dumps({"submission_sha256": digest, "challenge": "0" * 64}))
    (place / "claimed.jsonl").write_text("".join(f'[{k}, true, ""]\n' for k in range(500)))
    subprocess.run(["git", "add", "-f", "verification_work"], cwd=work.root, check=True)
    commit(work.root, "prepared")
    outcome = command(work.root, "verify", work.path, "--runs", 1)
    assert outcome.code == 2
    assert "git has files of it, from a commit" in outcome.err


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
