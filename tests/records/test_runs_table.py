"""Long sessions keep their runs as a table: nothing is lost, nothing else is believed, and every command works."""

import hashlib
import json
import shutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from submission_workshop import SHORT, command, copied, folders, sessions_repository, submit

from nematodebench.errors import UsageError
from nematodebench.records import runs_table
from nematodebench.records.runs import RunFailure
from nematodebench.records.runs_table import RUNS_FILE, apart, whole
from nematodebench.records.schemas import RunRecord
from nematodebench.records.store import ExperimentStore, load_experiment
from nematodebench.submissions import sessions as stored_sessions
from nematodebench.submissions.guarded import verdict_on

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
FAILED = {"status": "failed", "failure": RunFailure("it broke", "train", 3, 4, "a\nb")}


@pytest.fixture
def short_records(monkeypatch):
    """Every session is a long one."""
    monkeypatch.setattr(runs_table, "RUNS_IN_RECORD", 10)
    monkeypatch.setattr(stored_sessions, "RUNS_IN_RECORD", 10)


@pytest.fixture(scope="module")
def record():
    return load_experiment(folders(sessions_repository("null_random", SHORT))[0])


@pytest.fixture
def repository(tmp_path, short_records):
    """Ten sessions whose runs are tables."""
    root = copied(sessions_repository("null_random", SHORT), tmp_path / "repo")
    for folder in folders(root):
        ExperimentStore(root / "experiments", folder.name).finish(
            load_experiment(folder), (folder / "episodes.parquet").read_bytes()
        )
        assert (folder / RUNS_FILE).is_file()
    return root


@given(st.lists(st.tuples(st.booleans(), NUMBERS, st.none() | NUMBERS, st.booleans()), min_size=11, max_size=30))
def test_a_table_holds_every_value_of_every_run(record, drawn):
    runs = []
    for k, (failed, number, other, more) in enumerate(drawn):
        metrics = {} if failed else {"score": number, "late": other} if more else {"late": other, "score": number}
        told = {} if failed or more else {"size": number}
        facts = {"seed": 2**64 - 1 - k, "steps": k, "record_hash": "ab" * 32, "memory_hash": None if more else "x"}
        status = FAILED if failed else {"status": "finished"}
        runs.append(RunRecord(run=k, metrics=metrics, descriptors=told, **facts, **status))
    made = record.model_copy(update={"runs": runs, "num_runs": len(runs)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_table, "RUNS_IN_RECORD", 10)
        written, table = apart(made)
    assert written.runs == []
    again = whole(written, lambda: table)
    assert again == made
    assert [list(run.metrics) for run in again.runs] == [list(run.metrics) for run in runs]


def test_short_sessions_list_their_runs(record):
    assert apart(record) == (record, None)
    folder = folders(sessions_repository("null_random", SHORT))[0]
    content = json.loads((folder / f"{folder.name}.json").read_text())
    assert len(content["runs"]) == 50
    assert "runs_table" not in content


def test_the_record_of_a_long_session_does_not_grow(repository):
    folder = folders(repository)[0]
    content = json.loads((folder / f"{folder.name}.json").read_text())
    assert content["runs"] == []
    assert len(load_experiment(folder).runs) == 50


DAMAGES = {
    "missing": (lambda path: path.unlink(), "it holds the runs"),
    "changed": (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"), "not the file that belongs"),
    "of another session": (lambda path: shutil.copy(folders(path.parents[2])[1] / RUNS_FILE, path), "not the file"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_another_table_is_not_believed(repository, damage):
    spoil, reason = DAMAGES[damage]
    folder = folders(repository)[0]
    spoil(folder / RUNS_FILE)
    with pytest.raises(UsageError, match=reason):
        load_experiment(folder)
    done = command(repository, "report", folder)
    assert (done.code != 0, "Traceback" in done.err) == (True, False)


def test_what_is_no_table_of_runs_is_told_in_a_line(repository):
    folder = folders(repository)[0]
    path = folder / f"{folder.name}.json"
    content = json.loads(path.read_text())
    cases = {
        "one of the two": {"runs": [json.loads(load_experiment(folder).runs[0].model_dump_json())]},
        "rows for 51 runs": {"num_runs": 51},
        "its columns": {"runs_table": {**content["runs_table"], "shapes": [{"metrics": ["x"], "descriptors": []}]}},
    }
    for reason, change in cases.items():
        path.write_text(json.dumps({**content, **change}))
        with pytest.raises(UsageError, match=reason):
            load_experiment(folder)


def test_every_command_reads_it(repository):
    first, second = folders(repository)[:2]
    for words in (("report", first), ("compare", first, second), ("rerun", first, "--run", 49)):
        done = command(repository, *words)
        assert done.code == 0, done.err
    assert (
        command(repository, "report", first).out
        == command(sessions_repository("null_random", SHORT), "report", f"experiments/{first.name}").out
    )


def test_it_is_submitted_evaluated_and_verified(repository, tmp_path):
    done = submit(repository)
    assert done.code == 0, done.err
    path = next((repository / "benchmarks").glob("*/*/*.json"))
    claims = json.loads(path.read_text())
    assert {len(one["run_seeds"]) for one in claims["sessions"]} == {0}
    assert (repository / claims["sessions"][0]["file_path"]).with_name(RUNS_FILE).is_file()
    assert verdict_on(path, repository).reasons == []
    done = command(repository, "evaluate", path, "--reproduce", 3)
    assert done.code == 0, done.out + done.err
    assert command(repository, "keys", "new", tmp_path / "private.pem", "--owner", "a maintainer").code == 0
    done = command(repository, "verify", path, "--key", tmp_path / "private.pem", "--work", tmp_path / "work",
                   "--runs", 50)  # fmt: skip
    assert done.code == 0, done.out + done.err
    table = (repository / claims["sessions"][0]["file_path"]).with_name(RUNS_FILE)
    table.write_bytes(table.read_bytes() + b"x")
    assert "not the file that belongs" in verdict_on(path, repository).reasons[0]


def test_a_failure_that_is_nested_without_end_is_told_in_a_line(repository):
    folder = folders(repository)[0]
    table = pl.read_parquet(folder / RUNS_FILE).with_columns(failure=pl.lit("[" * 3_000))
    table.write_parquet(folder / RUNS_FILE)
    path = folder / f"{folder.name}.json"
    content = json.loads(path.read_text())
    content["runs_table"]["sha256"] = hashlib.sha256((folder / RUNS_FILE).read_bytes()).hexdigest()
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="is not a table of runs"):
        load_experiment(folder)
