"""Some fresh runs are executed twice: a brain that is another one the second time is not verified."""

from typing import Any

import pytest
from submission_workshop import SHORT, official

from nematodebench.errors import UsageError
from nematodebench.submissions.evaluate import examine
from nematodebench.verification.repeating import repeat_first_runs


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    work = official(tmp_path_factory.mktemp("repeated") / "repo", "null_random", SHORT)
    return list(examine(work.path, work.root)[1].records[:3])


def test_runs_that_depend_on_their_seed_come_out_the_same(records: list[Any]) -> None:
    told: list[tuple[int, int]] = []
    repeat_first_runs(records, None, None, 1, lambda done, of: told.append((done, of)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("field", ["record_hash", "memory_hash"])
def test_a_run_that_came_out_otherwise_is_found(records: list[Any], field: str) -> None:
    runs = list(records[1].runs)
    found = getattr(runs[0], field)
    runs[0] = runs[0].model_copy(update={field: found[:-1] + ("0" if found[-1] != "0" else "1")})
    spoilt = [records[0], records[1].model_copy(update={"runs": runs})]
    with pytest.raises(UsageError, match="came out otherwise when it was executed again"):
        repeat_first_runs(spoilt, None, None, 1, lambda _done, _of: None)


def test_what_is_repeated_is_the_first_run_of_a_session(records: list[Any]) -> None:
    runs = list(records[0].runs)
    runs[1] = runs[1].model_copy(update={"record_hash": "0" * 64})
    repeat_first_runs([records[0].model_copy(update={"runs": runs})], None, None, 1, lambda _done, _of: None)
