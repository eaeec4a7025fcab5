"""Finds and reads the submissions of a repository."""

import hashlib
from pathlib import Path

from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.untrusted import MAX_JSON, parse_record, problems, read_file

__all__ = [
    "BENCHMARKS",
    "load_submission",
    "load_verification",
    "submission_files",
    "submission_id",
    "submission_path",
    "verification_path",
]

BENCHMARKS = "benchmarks"
_VERIFIED = ".verified.json"


def submission_path(category: str, timestamp: str) -> str:
    """Path of a submission in its repository."""
    return f"{BENCHMARKS}/{category}/{timestamp}.json"


def submission_id(category: str, timestamp: str) -> str:
    """Its name: no two submissions share category and second."""
    return f"{category.replace('/', '_')}_{timestamp}"


def verification_path(path: Path) -> Path:
    """Where the report of a re-execution is kept, next to the submission."""
    return path.with_name(path.name.removesuffix(".json") + _VERIFIED)


def submission_files(root: Path) -> list[Path]:
    """Every submission of a repository, in order of category and time."""
    found = (root / BENCHMARKS).glob("*/*/*.json")
    return sorted(path for path in found if not path.name.endswith(_VERIFIED) and not path.name.startswith("."))


def load_submission(path: Path) -> NematodeBenchSubmission:
    """Reads a submission without checking its claims; UsageError where it is none."""
    content = read_file(path.parent, path.name, MAX_JSON)
    try:
        return parse_record(NematodeBenchSubmission, content, path.name)
    except ValidationError as error:
        raise UsageError(f"{path} is not a submission: {'; '.join(problems(error))}.") from error


def load_verification(path: Path) -> EvaluationReport | None:
    """The report of a re-execution of a submission; None if there is none or it is about other bytes."""
    try:
        content = read_file(path.parent, verification_path(path).name, MAX_JSON)
        report = parse_record(EvaluationReport, content, verification_path(path).name)
    except (UsageError, ValidationError):
        return None
    same = report.submission_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    return report if same and report.passed and report.reproduction is not None else None
