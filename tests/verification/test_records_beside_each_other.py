"""Several signed records of one submission: all of them stay, and which decides is nobody's choice."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from signed_workshop import KEY, STRANGER, Forge, trust

from nematodebench.engine.seeds import run_seed
from nematodebench.verification.challenge import session_seeds
from nematodebench.verification.envelope import signed
from nematodebench.verification.statement import Statement
from nematodebench.verification.store import Verified, keep, read_all
from nematodebench.verification.wording import TEST


def again(
    forge: Forge, challenge: str, number: int = 2, *, key: Any = KEY, keep_sessions: int = 10, **changes: Any
) -> str:
    """Another verification of the victim: a challenge of its own, and as many sessions as are wanted."""
    made = json.loads(json.dumps(forge.statement))
    told = made["predicate"]
    digest = made["subject"][0]["digest"]["sha256"]
    taken = {one["session_seed"] for one in json.loads(forge.submission.read_text())["sessions"]}
    told["sessions"] = told["sessions"][:keep_sessions]
    for session, seed in zip(told["sessions"], session_seeds(challenge, digest, keep_sessions, taken), strict=True):
        session["session_seed"] = seed
        for k, one in enumerate(session["runs"]):
            one["seed"] = run_seed(seed, k)
    told.update(challenge=challenge, **changes)
    path = forge.path.with_name(f"{forge.id}{f'.{number}' if number > 1 else ''}.dsse.json")
    path.write_bytes(signed(json.dumps(made).encode(), key))
    return path.name


def later(forge: Forge, seconds: int) -> str:
    """A moment after the start of the first verification."""
    started = datetime.datetime.fromisoformat(forge.predicate["started"])
    return (started + datetime.timedelta(seconds=seconds)).isoformat(timespec="seconds")


def decided(forge: Forge) -> tuple[str | None, int, list[str]]:
    found = forge.board()
    listing = found.listings[forge.id]
    return listing.record, listing.records, [reason for one in found.rejected for reason in one.reasons]


def test_a_second_record_of_the_same_size_changes_nothing(tmp_path: Path) -> None:
    """Otherwise somebody could verify again until the score is pleasant."""
    forge = Forge(tmp_path / "repo")
    first = forge.path.name
    again(forge, "cd" * 32, finished=later(forge, 60))
    assert decided(forge) == (first, 2, [])


def test_the_one_that_was_finished_first_decides_whatever_its_name_is(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    forge.predicate["finished"] = later(forge, 60)
    forge.sign()
    second = again(forge, "cd" * 32, finished=later(forge, 59))
    assert decided(forge)[0] == second


def test_a_copy_of_a_record_counts_for_nothing(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    forge.path.with_name(f"{forge.id}.2.dsse.json").write_bytes(forge.path.read_bytes())
    record, count, reasons = decided(forge)
    assert (record, count) == (forge.path.name, 1)
    assert "tells of the same verification as" in reasons[0]


@pytest.mark.parametrize("number", ["1", "0", "02", "x", "2.2", "99999"])
def test_a_record_is_numbered_in_one_way(tmp_path: Path, number: str) -> None:
    forge = Forge(tmp_path / "repo")
    name = f"{forge.id}.{number}.dsse.json"
    again(forge, "cd" * 32)
    forge.path.with_name(f"{forge.id}.2.dsse.json").rename(forge.path.with_name(name))
    record, count, reasons = decided(forge)
    assert (record, count) == (forge.path.name, 1)
    assert "it has to be named" in reasons[0]


def test_a_failed_record_of_the_same_size_decides(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    wrong = {"claimed": 500, "executed": 500, "identical": 499, "different": ["x run 0: other episodes"]}
    again(forge, "cd" * 32, reexecution=wrong, result="FAILED", failedTests=[TEST], passedTests=[])
    found = forge.board()
    assert forge.id not in found.listings
    assert forge.id in found.waiting


def test_a_record_of_a_revoked_key_leaves_the_others(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    trust(forge.root, STRANGER)
    again(forge, "cd" * 32, key=STRANGER, finished=later(forge, 60))
    assert decided(forge)[1] == 2
    trust(forge.root, STRANGER, revoked={"date": "9999-12-31", "reason": "not yet"})
    record, count, reasons = decided(forge)
    assert (record, count) == (forge.path.name, 1)
    assert "is revoked" in reasons[0], "a date in the future is no delay"


def test_a_class_may_be_assigned_in_a_further_record(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    first = Statement.model_validate_json(json.dumps(forge.statement)).predicate.summary()
    second = first.model_copy(update={"brain_class": "spiking"})
    believed = Verified({"digest": {"x.dsse.json": first, "x.2.dsse.json": second}})
    assert believed.record("digest") == "x.dsse.json"
    result = believed.result("digest")
    assert result is not None
    assert result.brain_class == "spiking"


def test_keeping_never_replaces_and_repeats_nothing(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "repo")
    before = forge.path.read_bytes()
    same = Statement.model_validate_json(json.dumps(forge.statement))
    assert keep(forge.root, same, KEY) == forge.path
    forge.statement["predicate"]["challenge"] = "ef" * 32
    other = Statement.model_validate_json(json.dumps(forge.statement))
    assert keep(forge.root, other, KEY).name == f"{forge.id}.2.dsse.json"
    assert forge.path.read_bytes() == before


def test_more_runs_decide(tmp_path: Path) -> None:
    from nematodebench.verification.deciding import decides

    forge = Forge(tmp_path / "repo")
    believed = read_all(forge.root)
    (one,) = believed.records[forge.statement["subject"][0]["digest"]["sha256"]].values()
    fewer = one.model_copy(update={"reexecution": one.reexecution.model_copy(update={"executed": 50, "identical": 50})})
    assert decides({"a": fewer, "b": one}) == "b"
    assert decides({"b": fewer, "a": one}) == "a"
