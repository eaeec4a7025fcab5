"""Anybody can execute a fresh run of a record again; and any executor makes the same record."""

import base64
import json

import pytest
from submission_workshop import Work, command, copied, git, verified

from nematodebench.verification.keys import read_private
from nematodebench.verification.statement import Statement
from nematodebench.verification.store import keep
from nematodebench.verification.verify import Job, verify


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return verified(tmp_path_factory.mktemp("replay") / "repo")


@pytest.fixture(scope="module")
def record(work):
    return next((work.root / "verifications").iterdir())


def payload(record):
    return json.loads(base64.b64decode(json.loads(record.read_text())["payload"]))


def test_a_fresh_run_comes_out_the_same(work, record, tmp_path):
    done = command(tmp_path, "verify", record, "--run", 3)
    assert done.code == 0, done.err
    fresh = [run for session in payload(record)["predicate"]["sessions"] for run in session["runs"]]
    assert f"seed {fresh[3]['seed']}" in done.out
    assert "identical bit for bit" in done.out


def test_a_run_that_the_record_does_not_have_is_an_error(record, tmp_path):
    done = command(tmp_path, "verify", record, "--run", 10**6)
    assert (done.code, "There is no run 1000000" in done.err) == (2, True)


def signed_anew(work, tmp_path, change):
    """The same record with something changed in it and a right signature: what only a key's owner can make."""
    root = work.root
    made = command(root, "keys", "new", tmp_path / "private.pem", "--owner", "Ada")
    assert made.code == 0
    record = next((root / "verifications").iterdir())
    content = payload(record)
    record.unlink()  # beside it, the changed record would only be taken for a copy of it
    change(content["predicate"])
    statement = Statement.model_validate_json(json.dumps(content))
    return keep(root, statement, read_private(tmp_path / "private.pem"))


@pytest.fixture
def own(work, tmp_path):
    return Work(copied(work.root, tmp_path / "own"))


def test_seeds_that_somebody_chose_are_refused_though_they_are_signed(own, tmp_path):
    path = signed_anew(own, tmp_path, lambda result: result["sessions"][0].update(session_seed=1))
    done = command(tmp_path, "verify", path, "--run", 0)
    assert (done.code, "does not follow from its challenge" in done.err) == (2, True)


def test_a_hash_that_nobody_measured_is_found(own, tmp_path):
    path = signed_anew(own, tmp_path, lambda result: result["sessions"][0]["runs"][0].update(record_hash="0" * 64))
    done = command(tmp_path, "verify", path, "--run", 0)
    assert (done.code, "DIFFERENT" in done.out) == (1, True)


def test_an_unsigned_record_is_not_executed(own, tmp_path):
    record = next((own.root / "verifications").iterdir())
    content = json.loads(record.read_text())
    content["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    record.write_text(json.dumps(content))
    done = command(tmp_path, "verify", record, "--run", 0)
    assert (done.code, "is not believed" in done.err) == (2, True)


@pytest.fixture
def stated(work, tmp_path, monkeypatch):
    """What is stated with one challenge by an executor, times left out."""
    monkeypatch.setattr("nematodebench.verification.challenge.draw", lambda: "ab" * 32)

    def state(executor):
        made = verify(Job(work.path, work.root, tmp_path / executor, runs=2, executor=executor, workers=2))
        return made.model_dump(mode="json", exclude={"predicate": {"started", "finished"}})

    return state


def test_threads_and_processes_state_the_same(stated):
    threads = stated("threads")
    assert threads["predicate"]["result"] == "PASSED"
    assert stated("processes") == threads


@pytest.mark.slow
def test_a_cluster_states_the_same(stated):
    assert stated("ray") == stated("threads")


def test_the_statement_is_written_for_machines(work, tmp_path):
    done = command(tmp_path, "verify", work.path, "--runs", 1, "--workers", 1, "--statement", tmp_path / "made.json")
    assert done.code == 0, done.err
    made = Statement.model_validate_json((tmp_path / "made.json").read_text())
    assert made.predicate.result == "PASSED"
    assert "not signed" in done.out
    assert git(work.root, "status", "--porcelain") == ""
