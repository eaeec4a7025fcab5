"""Evaluates a submission: makes every check and, on request, executes a sample of the runs again."""

import datetime
import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from nematodebench import __version__
from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import CheckResult, EvaluationReport, Reproduction
from nematodebench.records.memory_hash import NO_HASH, OLDER_KIND
from nematodebench.records.provenance import source_hash
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.records.versions import NewerVersionError
from nematodebench.submissions.case import Case
from nematodebench.submissions.checks import judge
from nematodebench.submissions.claim_checks import CLAIM_CHECKS, LAYOUT_CHECKS, NEIGHBOUR_CHECKS
from nematodebench.submissions.data_checks import DATA_CHECKS
from nematodebench.submissions.limits import limited
from nematodebench.submissions.reproduce import reproduce as execute_again
from nematodebench.submissions.sessions import open_session
from nematodebench.submissions.untrusted import MAX_SUBMISSION, parse_record, problems, read_file, strict_json

__all__ = ["evaluate", "examine", "root_of"]

_REPRODUCTION = "re-execution"
_DIFFERENT = (
    "The claimed brain, config and seeds do not give these episodes, though the records agree with each other: only "
    "re-execution finds that. Run the sessions again with the brain that is named."
)


def evaluate(
    path: Path,
    *,
    root: Path | None = None,
    reproduce: int | None = None,
    trust_code: bool = False,
    workers: int | None = None,
    alone: bool = False,
) -> EvaluationReport:
    """Checks a submission.

    Args:
        path: The submission's JSON file.
        root: Top of the repository; found from the file's place if not given.
        reproduce: How many runs to execute again, chosen at random; None for none.
        trust_code: Whether a brain that is not registered here may be imported and executed.
        workers: Runs to execute at a time; all cores if not given.
        alone: Whether to leave out what depends on other submissions, which somebody else checks.

    Raises:
        UsageError: The file cannot be read, or is not JSON.
    """
    place = root or root_of(path)
    content = _content(path, place)
    strict_json(content, path.name)
    case = Case(place, [], trust_code, path=path.absolute())
    with limited():
        results = _checked(case, content, alone=alone)
    again: Reproduction | None = None
    if reproduce is not None and case.sessions:
        again, verdict = _reproduce(case, reproduce, workers, results)
        results.append(verdict)
    return _report(case, content, results, again)


def examine(path: Path, root: Path, *, trust_code: bool = False) -> tuple[bytes, Case]:
    """Makes every check that needs no execution; returns the submission's bytes and what was read with it.

    Raises:
        UsageError: A check failed; the error says which and why.
    """
    content = _content(path, root)
    case = Case(root, [], trust_code, path=path.absolute())
    with limited():
        results = _checked(case, content)
    failed = [f"{result.name}: {result.message}" for result in results if result.outcome in {"FAIL", "SKIP"}]
    if failed:
        raise UsageError(f"{path} does not pass: {'; '.join(failed[:5])}.")
    return content, case


def _content(path: Path, root: Path) -> bytes:
    """The submission's bytes; below the repository no folder on the way may be a link either."""
    file, top = path.absolute(), root.absolute()
    if file.is_relative_to(top):
        return read_file(top, file.relative_to(top).as_posix(), MAX_SUBMISSION)
    return read_file(file.parent, file.name, MAX_SUBMISSION)


def _checked(case: Case, content: bytes, *, alone: bool = False) -> list[CheckResult]:
    """The checks of structure, layout, files, data and claims, as far as one lets the next be made."""
    results = _structure(case, content)
    if case.submission is not None:
        results = judge(case, LAYOUT_CHECKS, results)
        results.append(_open_files(case, results))
    if results[-1].outcome == "PASS":
        results = judge(case, (*DATA_CHECKS, *CLAIM_CHECKS, *(() if alone else NEIGHBOUR_CHECKS)), results)
    return results


def root_of(path: Path) -> Path:
    """The repository a submission lies in: above benchmarks/<task>/<class>/, else the current folder."""
    parents = path.absolute().parents
    return parents[3] if len(parents) > 3 and parents[2].name == "benchmarks" else Path.cwd()


def _structure(case: Case, content: bytes) -> list[CheckResult]:
    try:
        case.submission = parse_record(NematodeBenchSubmission, content, "submission")
    except (NewerVersionError, ValidationError) as error:
        found = problems(error) if isinstance(error, ValidationError) else [f"schema_version: {error}".rstrip(".")]
        advice = "The fields are described in schemas/nematodebench_submission.schema.json."
        return [CheckResult(name="schema", outcome="FAIL", message="; ".join(found), advice=advice)]
    return [CheckResult(name="schema", outcome="PASS", message="all fields are there, with the right types and ranges")]


def _open_files(case: Case, results: Sequence[CheckResult]) -> CheckResult:
    if any(result.name == "session paths" and result.outcome == "FAIL" for result in results):
        return CheckResult(name="files", outcome="SKIP", message="not checked, because of: session paths")
    found = []
    for reference in case.claims.sessions:
        try:
            case.sessions.append(open_session(case.root, reference.file_path.rpartition("/")[0]))
        except UsageError as error:
            found.append(str(error).rstrip("."))
    if found:
        advice = "Commit the whole folder of every session, unchanged, under artifacts/experiments/."
        return CheckResult(name="files", outcome="FAIL", message="; ".join(found[:5]), advice=advice)
    return CheckResult(name="files", outcome="PASS", message="every session's record, config and episodes are there")


def _reproduce(
    case: Case, count: int, workers: int | None, results: Sequence[CheckResult]
) -> tuple[Reproduction | None, CheckResult]:
    needed = {"complete", "fresh", "consistency", "task", "brain"}
    bad = [result.name for result in results if result.name in needed and result.outcome not in {"PASS", "WARN"}]
    if bad:
        message = f"not executed, because of: {', '.join(bad)}"
        return None, CheckResult(name=_REPRODUCTION, outcome="FAIL", message=message, advice="Correct these first.")
    again = execute_again(case, count, workers)
    same, close, off = (again.count(outcome) for outcome in ("identical", "within", "different"))
    message = f"{len(again.runs)} of {again.total_runs} runs executed again: {same} identical bit for bit"
    for note, words in ((OLDER_KIND, f"with a {OLDER_KIND}"), (NO_HASH, f"with {NO_HASH}")):
        some = sum(run.outcome == "identical" and run.message == note for run in again.runs)
        message += f" ({some} {words})" if some else ""
    message += f", {close} within 10 %" if close else ""
    if off:
        flagged = [
            f"{run.experiment_id} run {run.run} ({run.message})" for run in again.runs if run.outcome == "different"
        ]
        message += f", {off} different: {'; '.join(flagged[:5])}{'; and more' if off > 5 else ''}"
    if not again.passed:
        return again, CheckResult(name=_REPRODUCTION, outcome="FAIL", message=message, advice=_DIFFERENT)
    return again, CheckResult(name=_REPRODUCTION, outcome="WARN" if off else "PASS", message=message)


def _report(case: Case, content: bytes, results: Sequence[CheckResult], again: Reproduction | None) -> EvaluationReport:
    good = {result.name for result in results if result.outcome in {"PASS", "WARN"}}
    findings = case.findings if "episodes" in good else None
    known = {"task", "brain"} <= good
    return EvaluationReport(
        submission=_relative_path(case),
        submission_sha256=hashlib.sha256(content).hexdigest(),
        submission_id=case.submission.submission_id if case.submission else None,
        evaluated=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        package_version=__version__,
        source_hash=source_hash(),
        passed=all(result.outcome in {"PASS", "WARN"} for result in results),
        checks=list(results),
        category=case.category if known else None,
        score_key=case.task.score_key if findings else None,
        score=findings.metrics.by_name().get(case.task.score_key) if findings else None,
        metrics=findings.metrics if findings else None,
        level=findings.level if findings else None,
        normalised=findings.normalised if findings else None,
        chemotaxis=findings.chemotaxis if findings else None,
        reproduction=again,
    )


def _relative_path(case: Case) -> str:
    """The submission's path below the repository, so that a stored report says nothing about the machine."""
    assert case.path is not None
    root = case.root.absolute()
    return str(case.path.relative_to(root)) if case.path.is_relative_to(root) else case.path.name
