"""Records carry the version of their schema, and those of older versions are read."""

import json
import lzma
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from submission_workshop import Work, official_repository

from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.records.schemas import ExperimentMetadata, Record
from nematodebench.records.store import load_experiment
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.records.versions import current_version, up_to_date
from nematodebench.stats.doubt import LATER_DOUBTS
from nematodebench.submissions.store import load_submission, submission_files
from nematodebench.submissions.untrusted import parse_record

ROOT = Path(__file__).parents[2]


def first_version(record: dict[str, Any]) -> dict[str, Any]:
    """A session's record as the first version had it."""
    return {key: value for key, value in second_version(record).items() if key != "columns"} | {"schema_version": 1}


def without_new_facts(provenance: dict[str, Any]) -> dict[str, Any]:
    """What was said of code and machine when there was one commit and no lock file."""
    new = {"brain_commit", "brain_dirty", "lock_sha256", "lock_followed"}
    return {key: value for key, value in provenance.items() if key not in new}


def without_later_marks(record: dict[str, Any], version: int) -> dict[str, Any]:
    """A record as it was before some marks were known: an interval that has one of them had none."""
    older: dict[str, Any] = json.loads(json.dumps(record)) | {"schema_version": version}
    for value in [*older["metrics"].values(), older["normalised"]]:
        if value is not None and value.get("doubt") in LATER_DOUBTS:
            value["doubt"] = ""
    return older


def fourth_version(record: dict[str, Any]) -> dict[str, Any]:
    """A session's record as the fourth version had it: one commit, and no lock file."""
    older = without_later_marks(record, 4)
    return {**older, "provenance": without_new_facts(record["provenance"])}


def third_version(record: dict[str, Any]) -> dict[str, Any]:
    """A session's record as the third version had it: every run begins with a fresh brain and has a memory hash."""
    older: dict[str, Any] = json.loads(json.dumps(fourth_version(record))) | {"schema_version": 3}
    del older["continued_from"]
    return older


def second_version(record: dict[str, Any]) -> dict[str, Any]:
    """A session's record as the second version had it: no word about intervals."""
    older = third_version(record) | {"schema_version": 2}
    del older["interval_rules"]
    for value in older["metrics"].values():
        del value["kind"], value["doubt"]
    del older["normalised"]["ci95"], older["normalised"]["doubt"]
    return older


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return Work(official_repository()).record(0)


def parsed(record: dict[str, Any]) -> ExperimentMetadata:
    return parse_record(ExperimentMetadata, json.dumps(record).encode(), "record")


@pytest.mark.parametrize("model", [ExperimentMetadata, NematodeBenchSubmission, EvaluationReport])
def test_what_is_written_today_is_the_current_version(model: type[Record]) -> None:
    assert model.model_fields["schema_version"].default == current_version(model)


def test_a_record_of_today_is_read_as_it_is(record: dict[str, Any]) -> None:
    content = json.dumps(record).encode()
    assert up_to_date(ExperimentMetadata, content, record, "record") is content
    assert parsed(record).columns["assay"] == ["reward", "steps", "terminated", "truncated", "zone", "distance", "side"]


@pytest.mark.parametrize("lacks_its_version", [False, True])
def test_a_record_of_the_first_version_is_read(record: dict[str, Any], lacks_its_version: bool) -> None:
    older = first_version(record)
    if lacks_its_version:
        del older["schema_version"]
    found = parsed(older)
    assert (found.columns, found.interval_rules) == ({}, 1)
    assert found == parsed(second_version(record)).model_copy(update={"columns": {}})
    assert found.metrics["success_rate"].mean == parsed(record).metrics["success_rate"].mean


def test_older_records_are_read_from_folders_too(record: dict[str, Any], tmp_path: Path) -> None:
    older = json.dumps(first_version(record)).encode()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "plain.json").write_bytes(older)
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "packed.json.xz").write_bytes(lzma.compress(older))
    assert load_experiment(tmp_path / "plain") == load_experiment(tmp_path / "packed") == parsed(first_version(record))
    assert load_experiment(tmp_path / "packed" / "packed.json.xz") == parsed(first_version(record))


@pytest.mark.parametrize("text", [b"[1]", b"{", b"\xff", b"3"])
def test_files_that_are_no_record_are_one_line(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(text)
    (tmp_path / "x.json.xz").write_bytes(text)
    for file in ("x.json", "x.json.xz"):
        with pytest.raises(UsageError, match="is not an experiment"):
            load_experiment(tmp_path / file)


def test_a_newer_version_says_what_to_do(record: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"schema version 8: versions up to 7 are read here. Install a newer"):
        parsed({**record, "schema_version": 8})


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_what_is_no_version_is_refused(record: dict[str, Any], version: Any) -> None:
    with pytest.raises(ValueError, match="schema_version"):
        parsed({**record, "schema_version": version})


def test_an_older_record_is_read_as_strictly_as_one_of_today(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="num_runs"):
        parsed({**first_version(record), "num_runs": "50"})
    with pytest.raises(ValueError, match="bonus"):
        parsed({**first_version(record), "bonus": 1})


def _schema(version: str, name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / version / name).read_text()))


def test_the_schema_of_the_first_version_is_kept(record: dict[str, Any]) -> None:
    schema = _schema("v1", "experiment_metadata.schema.json")
    schema.validate(first_version(record))
    assert not schema.is_valid(record)


def test_the_submission_schema_before_pretrained_policies_is_kept() -> None:
    schema, claims = _schema("v4", "nematodebench_submission.schema.json"), Work(official_repository()).claims
    older = {**claims, "schema_version": 4, "provenance": without_new_facts(claims["provenance"])}
    schema.validate(older)
    assert not schema.is_valid(claims)
    _schema("v5", "nematodebench_submission.schema.json").validate({**older, "schema_version": 5})
    again = {**claims, "provenance": older["provenance"]}
    read = [parse_record(NematodeBenchSubmission, json.dumps(one).encode(), "claims") for one in (older, again)]
    assert read[0] == read[1]


def test_the_schema_of_the_second_version_is_kept(record: dict[str, Any]) -> None:
    schema = _schema("v2", "experiment_metadata.schema.json")
    schema.validate(second_version(record))
    assert not schema.is_valid(record)


def test_the_schema_of_the_third_version_is_kept(record: dict[str, Any]) -> None:
    schema = _schema("v3", "experiment_metadata.schema.json")
    schema.validate(third_version(record))
    assert not schema.is_valid(record)
    assert parsed(third_version(record)) == parsed(fourth_version(record))
    assert parsed({**record, "brain_class": "pretrained"}).brain_class == "pretrained"


def test_the_schema_before_the_brain_had_a_commit_is_kept(record: dict[str, Any]) -> None:
    schema, older = _schema("v4", "experiment_metadata.schema.json"), fourth_version(record)
    schema.validate(older)
    assert not schema.is_valid(record)
    found, today = parsed(older), parsed(record)
    assert (found.provenance.brain_commit, found.provenance.lock_sha256) == (None, None)
    assert found.provenance.git_commit == record["provenance"]["git_commit"]
    assert today.provenance.lock_sha256 is not None


def test_the_schemas_before_tables_of_runs_are_kept(record: dict[str, Any]) -> None:
    schema, older = _schema("v5", "experiment_metadata.schema.json"), without_later_marks(record, 5)
    schema.validate(older)
    assert not schema.is_valid(record)
    assert parsed(older) == parsed(without_later_marks(record, 7))
    schema, claims = _schema("v6", "nematodebench_submission.schema.json"), Work(official_repository()).claims
    schema.validate(without_later_marks(claims, 6))
    assert not schema.is_valid(claims)


def test_the_schemas_before_some_marks_are_kept(record: dict[str, Any]) -> None:
    schema, older = _schema("v6", "experiment_metadata.schema.json"), without_later_marks(record, 6)
    schema.validate(older)
    assert parsed(older) == parsed(without_later_marks(record, 7))
    marked = json.loads(json.dumps(record))
    marked["metrics"]["stability"]["doubt"] = "all alike"
    assert parsed(marked).metrics["stability"].doubt == "all alike"
    assert not schema.is_valid({**marked, "schema_version": 6})
    claims = Work(official_repository()).claims
    _schema("v7", "nematodebench_submission.schema.json").validate(without_later_marks(claims, 7))
    assert _schema("v2", "evaluation_report.schema.json").schema["properties"]["schema_version"]["const"] == 2


def test_published_submissions_are_of_the_first_version_and_read() -> None:
    schema = _schema("v1", "nematodebench_submission.schema.json")
    for path in submission_files(ROOT):
        content = json.loads(path.read_text())
        if content["schema_version"] == 1:
            schema.validate(content)
            assert all(reference.episodes_sha256 for reference in load_submission(path).sessions)


def test_published_sessions_are_read() -> None:
    folders = sorted((ROOT / "artifacts" / "experiments").iterdir())
    assert len(folders) >= 110
    for folder in folders[::11]:
        assert load_experiment(folder).experiment_id == folder.name
