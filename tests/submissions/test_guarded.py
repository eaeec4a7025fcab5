"""Submissions are judged in a child with limits: whatever one does there, the next one is still judged."""

import json
import resource
import signal
import time
from pathlib import Path

import pytest
from submission_workshop import SHORT, official

from nematodebench.errors import UsageError
from nematodebench.submissions import evaluate
from nematodebench.submissions.guarded import Judge, verdict_on
from nematodebench.submissions.limits import limited


def test_a_child_judges_one_after_another_and_is_replaced_when_it_ends(tmp_path: Path) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    with Judge(work.root) as judge:
        assert judge.judge(work.path).passed
        first = judge._child
        assert first is not None
        first.kill()
        first.wait()
        assert "ended" in judge.judge(work.path).reasons[0]
        assert judge.judge(work.path).passed
        assert judge._child is not first


def test_a_child_that_takes_too_long_is_a_rejection(tmp_path: Path) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    with Judge(work.root, seconds=0.01) as judge:
        verdict = judge.judge(work.path)
    assert not verdict.passed
    assert "took more than 0.01 s" in verdict.reasons[0]


def test_memory_has_a_limit(tmp_path: Path) -> None:
    work = official(tmp_path / "repo", "null_random", SHORT)
    with Judge(work.root, memory=256 << 20) as judge:
        verdict = judge.judge(work.path)
    assert not verdict.passed


def test_an_error_nobody_thought_of_is_a_rejection(tmp_path: Path) -> None:
    found = verdict_on(tmp_path / ("x" * 5000), tmp_path)
    assert not found.passed


def test_what_the_child_says_is_shown_as_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"\x1b[31m\n::error::x": 1}))
    (reason,) = verdict_on(path, tmp_path).reasons
    assert reason.isprintable()
    assert "::" not in reason


def limits() -> tuple[object, ...]:
    return resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM), signal.getitimer(0)


def test_whoever_reads_a_submission_by_himself_has_the_same_limits() -> None:
    before = limits()
    with pytest.raises(UsageError, match="more than the 1 GiB of memory"), limited(memory=1 << 30):
        bytearray(3 << 30)
    with pytest.raises(UsageError, match=r"more than the 0\.05 s"), limited(seconds=0.05):
        time.sleep(60)
    assert limits() == before


def test_a_check_that_takes_too_long_fails_and_so_do_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`evaluate` and `verify` read in their own process; each check is stopped there."""
    work = official(tmp_path / "repo", "null_random", SHORT)
    monkeypatch.setattr(evaluate, "limited", lambda: limited(seconds=0.001))
    with pytest.raises(UsageError, match=r"more than the 0\.001 s"):
        evaluate.examine(work.path, work.root)
