"""The JSON Schemas under ``schemas/``: ``python -m nematodebench.records.published schemas`` writes them anew."""

import json
import sys
from pathlib import Path

from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.records.schemas import ExperimentMetadata, Record
from nematodebench.records.submission_schema import NematodeBenchSubmission

__all__ = ["PUBLISHED", "schema_text", "write_schemas"]

PUBLISHED: dict[str, type[Record]] = {
    "evaluation_report.schema.json": EvaluationReport,
    "experiment_metadata.schema.json": ExperimentMetadata,
    "nematodebench_submission.schema.json": NematodeBenchSubmission,
}


def schema_text(model: type[Record]) -> str:
    """A model as a JSON Schema file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=1) + "\n"


def write_schemas(folder: Path) -> None:
    """Writes every published schema."""
    for name, model in PUBLISHED.items():
        (folder / name).write_text(schema_text(model))


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
