"""Some fresh runs are executed twice: a brain that is another one the second time is not verified."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from submission_workshop import SHORT, official

from nematodebench.errors import UsageError
from nematodebench.submissions.evaluate import examine
from nematodebench.verification import verify as verifying
from nematodebench.verification.challenge import repeated
from nematodebench.verification.repeating import repeat_runs


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    work = official(tmp_path_factory.mktemp("repeated") / "repo", "null_random", SHORT)
    return list(examine(work.path, work.root)[1].records[:3])


def test_runs_that_depend_on_their_seed_come_out_the_same(records: list[Any]) -> None:
    told: list[tuple[int, int]] = []
    repeat_runs(records, [0, 7, 49], None, None, 1, lambda done, of: told.append((done, of)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("field", ["record_hash", "memory_hash"])
def test_a_run_that_came_out_otherwise_is_found(records: list[Any], field: str) -> None:
    runs = list(records[1].runs)
    found = getattr(runs[7], field)
    runs[7] = runs[7].model_copy(update={field: found[:-1] + ("0" if found[-1] != "0" else "1")})
    spoilt = [records[0], records[1].model_copy(update={"runs": runs})]
    with pytest.raises(UsageError, match="came out otherwise when it was executed again"):
        repeat_runs(spoilt, [0, 7, 49], None, None, 1, lambda _done, _of: None)


def test_only_what_was_chosen_is_repeated(records: list[Any]) -> None:
    runs = list(records[0].runs)
    runs[1] = runs[1].model_copy(update={"record_hash": "0" * 64})
    spoilt = [records[0].model_copy(update={"runs": runs})]
    repeat_runs(spoilt, [2], None, None, 1, lambda _done, _of: None)
    with pytest.raises(UsageError, match="came out otherwise"):
        repeat_runs(spoilt, [1], None, None, 1, lambda _done, _of: None)


def test_which_runs_are_repeated_follows_from_the_challenge_and_is_any_of_them() -> None:
    """A brain that counts its runs could behave in those that are always repeated."""
    drawn = [repeated(f"{k:064x}", "ab" * 32, 10, 50) for k in range(50)]
    assert drawn == [repeated(f"{k:064x}", "ab" * 32, 10, 50) for k in range(50)]
    assert {run for runs in drawn for run in runs} == set(range(50))
    assert len({tuple(runs) for runs in drawn}) == 50


def test_a_verification_repeats_the_runs_that_its_challenge_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, asked = official(tmp_path / "repo", "null_random", SHORT), list[Any]()
    monkeypatch.setattr(verifying, "repeat_runs", lambda *given: asked.append(given))
    found = verifying.verify(verifying.Job(work.path, work.root, tmp_path / "work", runs=100)).predicate
    ((records, which, *_),) = asked
    assert which == repeated(found.challenge, hashlib.sha256(work.path.read_bytes()).hexdigest(), 2, 50)
    assert [one.session_seed for one in records] == [one.session_seed for one in found.sessions]
