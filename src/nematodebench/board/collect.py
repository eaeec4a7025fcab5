"""Reads every submission of a repository. Only what passes its checks, here and now, gets to the board."""

import datetime
import math
from dataclasses import dataclass, field
from pathlib import Path

from nematodebench.board.ranking import Entry, TaskBoard, rank
from nematodebench.brains.registry import canonical_name
from nematodebench.errors import UsageError
from nematodebench.records.evaluation_schema import EvaluationReport
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.stats import Z95, StatValue, t_critical
from nematodebench.submissions.evaluate import evaluate
from nematodebench.submissions.store import (
    BENCHMARKS,
    load_submission,
    load_verification,
    submission_files,
    verification_path,
)

__all__ = ["Collection", "Listing", "Rejection", "Verification", "claimed", "collect", "listing_of"]


@dataclass(frozen=True)
class Verification:
    """How many runs were executed again, how many of them came out identical, and when."""

    runs: int
    identical: int
    date: str


@dataclass(frozen=True)
class Listing:
    """A submission that passed, as the board shows it."""

    entry: Entry
    submission: NematodeBenchSubmission
    path: str
    verified: Verification | None


@dataclass(frozen=True)
class Rejection:
    """A file that does not get to the board, and why."""

    path: str
    reasons: list[str]


@dataclass(frozen=True)
class Collection:
    """Everything under benchmarks/."""

    listings: dict[str, Listing] = field(default_factory=dict)
    rejected: list[Rejection] = field(default_factory=list)

    def boards(self) -> list[TaskBoard]:
        """The ranking, task by task."""
        return rank(listing.entry for listing in self.listings.values())


def collect(root: Path) -> Collection:
    """Checks every submission below ``root`` against its data; runs are not executed again."""
    found = Collection()
    files = submission_files(root)
    for path in files:
        name = path.relative_to(root).as_posix()
        try:
            report = evaluate(path, root=root)
            if report.passed:
                listing = listing_of(_as_computed(load_submission(path), report), path, name)
                found.listings[listing.entry.id] = listing
                continue
            reasons = [f"{check.name}: {check.message}" for check in report.failures]
        except UsageError as error:
            reasons = [str(error)]
        found.rejected.append(Rejection(name, reasons))
    found.rejected.extend(_strays(root, files))
    return found


def claimed(root: Path) -> Collection:
    """What the submissions below ``root`` say, unchecked: for pages about tasks, never for the board itself."""
    found = Collection()
    for path in submission_files(root):
        try:
            listing = listing_of(load_submission(path), path, path.relative_to(root).as_posix())
        except UsageError as error:
            found.rejected.append(Rejection(path.relative_to(root).as_posix(), [str(error)]))
            continue
        found.listings[listing.entry.id] = listing
    return found


def _as_computed(submission: NematodeBenchSubmission, report: EvaluationReport) -> NematodeBenchSubmission:
    """A submission with the numbers that were computed here: older ones claim intervals of a simpler kind."""
    if report.metrics is None:
        return submission
    return submission.model_copy(update={"metrics": report.metrics, "normalised": report.normalised})


def _strays(root: Path, files: list[Path]) -> list[Rejection]:
    """JSON files that would otherwise be passed over in silence."""
    known = {*files, *(verification_path(path) for path in files)}
    reason = "it is neither a submission, benchmarks/<task>/<class>/<timestamp>.json, nor the verification of one"
    strays = sorted(path for path in (root / BENCHMARKS).rglob("*.json") if path not in known)
    return [Rejection(path.relative_to(root).as_posix(), [reason]) for path in strays]


def listing_of(submission: NematodeBenchSubmission, path: Path, name: str) -> Listing:
    """What the board shows of a submission that passed its checks."""
    score = submission.score
    if score is None or not score.has_interval:
        raise UsageError(f"{name} has no score with an interval: its task is not ranked.")
    entry = Entry(
        id=submission.submission_id,
        brain=canonical_name(submission.brain_type),
        task=submission.environment.task,
        scripted=submission.brain_class == "scripted",
        mean=score.mean,
        ci95=score.ci95,
        variance=_run_variance(score, submission.total_runs),
        biological=submission.chemotaxis.level if submission.chemotaxis else "None",
        date=submission.timestamp,
    )
    return Listing(entry, submission, name, _verification(submission, path))


def _run_variance(score: StatValue, runs: int) -> float:
    """Variance over runs, from their interval: the spread of session means would shrink with longer sessions."""
    factor = t_critical(runs - 1) if score.kind == "jackknife" else Z95
    return ((score.ci95[1] - score.ci95[0]) / 2 / factor * math.sqrt(runs)) ** 2


def _verification(submission: NematodeBenchSubmission, path: Path) -> Verification | None:
    """The stored re-execution, if it is about this submission and about runs it really has."""
    report = load_verification(path)
    if report is None or report.reproduction is None or not report.reproduction.passed:
        return None
    has = {(ref.experiment_id, run, seed) for ref in submission.sessions for run, seed in enumerate(ref.run_seeds)}
    executed = [(run.experiment_id, run.run, run.seed) for run in report.reproduction.runs]
    try:
        date = datetime.datetime.fromisoformat(report.evaluated).date().isoformat()
    except ValueError:
        return None
    if not executed or len(set(executed)) < len(executed) or not set(executed) <= has:
        return None
    return Verification(len(executed), report.reproduction.count("identical"), date)
