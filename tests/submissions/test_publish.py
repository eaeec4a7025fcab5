"""All or nothing: killed at every step, killed at any moment, and two at once."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from submission_workshop import (
    command,
    copied,
    folders,
    new_repository,
    run_session,
    sessions_repository,
    sha256,
    submit,
)

from nematodebench.errors import UsageError
from nematodebench.submissions.build import Attribution, Draft, prepare
from nematodebench.submissions.publish import keep, recover
from nematodebench.submissions.repository import state_folder
from nematodebench.submissions.sessions import open_session
from nematodebench.submissions.store import load_submission, submission_files

_WRITES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}


def _tree(root: Path) -> dict[str, str]:
    """Everything a submission touches, hidden files included."""
    places = [root / name for name in ("experiments", "artifacts", "benchmarks", ".git/nematodebench")]
    files = [path for place in places for path in place.rglob("*") if path.is_file() and path.name != "submit.lock"]
    return {str(path.relative_to(root)): sha256(path) for path in files}


def _whole(root: Path) -> str:
    """Which of the two states a repository is in; both must be complete without any repair."""
    found = submission_files(root)
    if not found:
        assert len(folders(root)) == 2
        for folder in folders(root):
            assert len(list(folder.iterdir())) == 3
        return "old"
    for reference in load_submission(found[0]).sessions:
        session = open_session(root, reference.file_path.rpartition("/")[0])
        assert session.reference() == reference
        assert session.packed is not None
    return "new"


def _keep_and_die(root: Path, draft: Draft, step: int) -> bool:
    """Keeps a draft in a process that is killed before its step-th change of the disk; False if it ended before."""
    assert draft.files  # packed here: the libraries that read tables have threads, which a forked process lacks
    child = os.fork()
    if child == 0:
        left = step

        def hook(event: str, arguments: tuple) -> None:
            nonlocal left
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if event in _WRITES or writes:
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        sys.addaudithook(hook)
        keep(root, draft)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_at_every_step_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    before = new_repository(tmp_path / "before")
    for seed in (1, 2):
        run_session(before, seed, runs=2, episodes=20)
    root = copied(before, tmp_path / "repo")
    draft = _draft(root)
    old = _tree(root)
    keep(root, draft)
    new = _tree(root)
    states = []
    for step in range(500):
        shutil.rmtree(root)
        copied(before, root)
        killed = _keep_and_die(root, draft, step)
        states.append(_whole(root))
        recover(root)
        assert _tree(root) == (new if states[-1] == "new" else old)
        if not killed:
            break
    assert states == sorted(states, reverse=True)  # once new, never old again
    assert states.count("old") > 10
    assert states.count("new") > 10


def _draft(root: Path) -> Draft:
    draft = prepare(root, folders(root), Attribution("Ada Example"))
    if draft.submission is None:  # small sessions are not official: what is kept is not the question here
        import submission_workshop as workshop

        claims = json.loads(next((workshop.official_repository() / "benchmarks").glob("*/*/*.json")).read_text())
        from nematodebench.records.submission_schema import NematodeBenchSubmission

        claims["sessions"] = [session.reference().model_dump(mode="json") for session in draft.sessions]
        claims.update(total_sessions=2)
        model = NematodeBenchSubmission.model_validate_json(json.dumps(claims))
        return Draft(model, draft.sessions, [])
    return draft


def test_next_submission_ends_what_a_dead_one_began(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    draft = prepare(root, folders(root), Attribution("Ada Example"))
    assert _keep_and_die(root, draft, 30)
    outcome = submit(root)
    assert outcome.code == 0, outcome.err
    assert folders(root) == []
    assert len(list((root / "artifacts" / "experiments").iterdir())) == 10
    path = submission_files(root)[0]
    assert command(root, "evaluate", path).code == 0


def _start(root: Path, names: list[Path]) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "nematodebench", "submit", "--experiments", *map(str, names)]
    return subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_submissions_of_the_same_sessions_at_once_give_one(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    both = [_start(root, folders(root)) for _ in range(2)]
    ends = [(process.communicate()[1], process.returncode) for process in both]
    assert sorted(code for _, code in ends) == [0, 2], ends
    assert "There is no finished session" in next(text for text, code in ends if code == 2)
    assert len(submission_files(root)) == 1
    assert command(root, "evaluate", submission_files(root)[0]).code == 0


@pytest.mark.slow
def test_two_submissions_of_different_sessions_at_once_give_two(tmp_path: Path) -> None:
    root = copied(sessions_repository(), tmp_path / "repo")
    first = folders(root)
    second = [run_session(root, seed) for seed in range(300, 310)]
    both = [_start(root, first), _start(root, second)]
    ends = [(process.communicate()[1], process.returncode) for process in both]
    assert [code for _, code in ends] == [0, 0], ends
    assert len(submission_files(root)) == 2
    for path in submission_files(root):
        assert command(root, "evaluate", path, "--reproduce", "2").code == 0


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", "{}", '{"target": "a"}', '{"target": 3, "moves": {}}', '{"target": "a", "moves": []}',
     '{"target": "a", "moves": {"b": 3}}', '{"target": "a", "moves": {}, "bundle": 3}', '{"target": "", "moves": {}}'],
)  # fmt: skip
def test_a_damaged_journal_is_told_in_one_line_and_touches_nothing(tmp_path: Path, content: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    journal = state_folder(tmp_path) / "submit.json"
    journal.write_text(content)
    before = _tree(tmp_path)
    with pytest.raises(UsageError, match=r"submit\.json is damaged.*submit again"):
        recover(tmp_path)
    assert (_tree(tmp_path), journal.read_text()) == (before, content)


@pytest.mark.slow
def test_killed_at_any_moment_then_submitted_again(tmp_path: Path) -> None:
    for trial in range(8):
        root = copied(sessions_repository(), tmp_path / f"repo{trial}")
        process = _start(root, folders(root))
        time.sleep(random.uniform(0.5, 4.0))
        process.kill()
        process.wait()
        if not submission_files(root):
            assert submit(root).code == 0
        else:
            recover(root)
        assert folders(root) == []
        assert command(root, "evaluate", submission_files(root)[0]).code == 0
