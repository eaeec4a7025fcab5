"""The work behind ``nematodebench submit`` and ``nematodebench evaluate``."""

import sys
from pathlib import Path

from nematodebench.cli.show import print_json, printable, stat
from nematodebench.records.evaluation_schema import CheckResult, EvaluationReport
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.submissions.build import Attribution, Draft, OwnSource, prepare
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.evaluate import evaluate
from nematodebench.submissions.publish import RefusedError, submit
from nematodebench.submissions.repository import repository_root

__all__ = ["evaluate_file", "show_draft", "submit_sessions"]


def submit_sessions(
    folders: list[Path], who: Attribution, category: str | None, json: bool, own: OwnSource | None = None
) -> bool:
    """Makes a submission and says where it is and what to do next; returns whether it was accepted."""
    root = _root()
    try:
        path, draft = submit(root, folders, who, category, own)
    except RefusedError as refused:
        for problem in refused.problems:
            _tell(f"refused: {problem}")
        _tell("Nothing was changed.")
        return False
    for warning in draft.warnings:
        _tell(f"warning: {warning}")
    assert draft.submission is not None
    name = path.relative_to(root)
    if json:
        print_json({"path": str(name), "submission": draft.submission.model_dump(mode="json")})
        return True
    _summary(draft.submission)
    moved = len(draft.sessions)
    print(f"\nWritten to {name}; {moved} sessions moved to artifacts/experiments/.")
    print(f"Check it:   nematodebench evaluate {name} --reproduce")
    print(f'Commit it:  git add benchmarks artifacts && git commit -m "Submit {draft.submission.submission_id}"')
    return True


def _root() -> Path:
    return repository_root(Path.cwd()) or Path.cwd()


def _tell(line: str) -> None:
    print(f"nematodebench: {printable(line)}", file=sys.stderr)


def show_draft(folders: list[Path], who: Attribution, category: str | None, own: OwnSource | None = None) -> bool:
    """Prints the submission that would be made; changes nothing."""
    draft: Draft = prepare(_root(), folders, who, category=category, own=own)
    _tell("warning: this is a draft. Nothing is written, and the state of git does not stop it.")
    for problem in draft.problems:
        _tell(f"warning: would be refused: {problem}")
    for warning in draft.warnings:
        _tell(f"warning: {warning}")
    if draft.submission is None:
        _tell("There is nothing to show before these are corrected.")
        return False
    print_json(draft.submission.model_dump(mode="json"))
    return True


def _summary(submission: NematodeBenchSubmission) -> None:
    print(f"{submission.submission_id}: {submission.brain_type} on {submission.environment.task}")
    level = f" ({submission.level})" if submission.level else ""
    print(f"{submission.score_key}  {stat(submission.score)}{level}")
    print(f"category  {submission.category}, {submission.total_sessions} sessions, {submission.total_runs} runs")
    if submission.bundle is not None:
        bundle = submission.bundle
        needs = f", needs {', '.join(bundle.dependencies)}" if bundle.dependencies else ""
        print(f"bundle    {BUNDLES}/{bundle.sha256[:16]}..., {len(bundle.files)} files{needs}")


def evaluate_file(path: Path, *, reproduce: int | None, trust_code: bool, json: bool) -> bool:
    """Evaluates a submission and prints the report; returns whether it passed."""
    report = evaluate(path, reproduce=reproduce, trust_code=trust_code)
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        _print_report(report)
    return report.passed


def _print_report(report: EvaluationReport) -> None:
    print(f"{printable(report.submission)}\n")
    width = max(len(check.name) for check in report.checks)
    for check in report.checks:
        print(f"{check.outcome}  {check.name.ljust(width)}  {printable(check.message)}")
        if check.advice:
            print(f"      {' ' * width}  -> {check.advice}")
    print()
    print(f"category   {report.category or 'unknown'}")
    if report.score is not None:
        level = f" ({report.level})" if report.level else ""
        runs = report.score.n
        print(f"{report.score_key}  {stat(report.score)}{level}, computed from the episodes of {runs} sessions")
    if report.chemotaxis is not None:
        low, high = report.chemotaxis.ci95
        print(f"chemotaxis {report.chemotaxis.index:.2f} [{low:.2f}, {high:.2f}] {report.chemotaxis.level}")
    _print_reproduction(report)
    print(f"\n{'PASS' if report.passed else _failed(report.checks)}")
    if report.passed:
        print("This verifies nothing: a rank rests on `nematodebench verify FILE`, which a maintainer runs and signs.")


def _print_reproduction(report: EvaluationReport) -> None:
    if report.reproduction is None:
        if report.passed:
            print("not re-executed: records that were forged to agree with each other are found only by --reproduce")
        return
    for run in report.reproduction.runs:
        note = f": {printable(run.message)}" if run.message else ""
        print(f"re-executed {run.experiment_id} run {run.run}, seed {run.seed}: {run.outcome}{note}")


def _failed(checks: list[CheckResult]) -> str:
    failed = sum(check.outcome == "FAIL" for check in checks)
    skipped = sum(check.outcome == "SKIP" for check in checks)
    return f"FAIL ({failed} failed{f', {skipped} not made' if skipped else ''})"
