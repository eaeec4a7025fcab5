"""Finds and reads the submissions of a repository."""

from pathlib import Path

from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.untrusted import MAX_SUBMISSION, parse_record, problems, read_file

__all__ = [
    "BENCHMARKS",
    "load_submission",
    "parsed_submission",
    "submission_files",
    "submission_id",
    "submission_path",
]

BENCHMARKS = "benchmarks"


def submission_path(category: str, timestamp: str) -> str:
    """Path of a submission in its repository."""
    return f"{BENCHMARKS}/{category}/{timestamp}.json"


def submission_id(category: str, timestamp: str) -> str:
    """Its name: no two submissions share category and second."""
    return f"{category.replace('/', '_')}_{timestamp}"


def submission_files(root: Path, task: str = "*") -> list[Path]:
    """Every submission of a repository, or of one task's folder, in order of category and time."""
    found = (root / BENCHMARKS).glob(f"{task}/*/*.json")
    return sorted(path for path in found if not path.name.startswith("."))


def load_submission(path: Path) -> NematodeBenchSubmission:
    """Reads a submission without checking its claims; UsageError where it is none."""
    return parsed_submission(read_file(path.parent, path.name, MAX_SUBMISSION), path)


def parsed_submission(content: bytes, path: Path) -> NematodeBenchSubmission:
    """The submission in a file's bytes; UsageError where it is none."""
    try:
        return parse_record(NematodeBenchSubmission, content, path.name)
    except ValidationError as error:
        raise UsageError(f"{path} is not a submission: {'; '.join(problems(error))}.") from error
