"""The JSON Schemas under schemas/ are those of the code, and describe what is stored."""

import json
from pathlib import Path

import jsonschema
import pytest
from submission_workshop import Work, official_repository

from nematodebench.records.published import PUBLISHED, schema_text, write_schemas
from nematodebench.submissions.evaluate import evaluate

SCHEMAS = Path(__file__).parents[2] / "schemas"


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schema_is_current(name: str) -> None:
    assert (SCHEMAS / name).read_text() == schema_text(PUBLISHED[name]), (
        "run: python -m nematodebench.records.published schemas"
    )


def test_nothing_else_is_published() -> None:
    assert {path.name for path in SCHEMAS.glob("*.json")} == set(PUBLISHED)


def test_schemas_are_written_where_asked(tmp_path: Path) -> None:
    write_schemas(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(PUBLISHED)


def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_real_submission_matches_its_schema() -> None:
    work = Work(official_repository())
    _validator("nematodebench_submission.schema.json").validate(work.claims)


def test_real_session_matches_its_schema() -> None:
    work = Work(official_repository())
    _validator("experiment_metadata.schema.json").validate(work.record(0))


def test_real_report_matches_its_schema() -> None:
    report = evaluate(Work(official_repository()).path)
    _validator("evaluation_report.schema.json").validate(report.model_dump(mode="json"))


def test_submission_without_a_field_does_not_match() -> None:
    claims = dict(Work(official_repository()).claims)
    del claims["all_seeds_unique"]
    assert not _validator("nematodebench_submission.schema.json").is_valid(claims)
