"""Reads every submission of a repository. Only what passes its checks, here and now, and was verified gets a rank."""

import contextlib
import hashlib
import math
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from nematodebench.board.ranking import Entry, TaskBoard, rank
from nematodebench.brains.registry import canonical_name
from nematodebench.errors import UsageError
from nematodebench.measures.base import Chemotaxis
from nematodebench.records.schemas import NormalisedRecord
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.stats import Z95, StatValue, t_critical
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.guarded import Judge
from nematodebench.submissions.history import History, merge_history
from nematodebench.submissions.sessions import ARTIFACTS
from nematodebench.submissions.store import BENCHMARKS, load_submission, submission_files
from nematodebench.verification.statement import Result
from nematodebench.verification.store import Verified, read_all
from nematodebench.vocabulary import OPEN

__all__ = ["UNCLASSIFIED", "Collection", "Listing", "Rejection", "collect", "listing_of", "signed"]

UNCLASSIFIED = "unclassified"
_MOST_STRAYS = 20
"""So many files of a kind are named that do not belong where they are."""


@dataclass(frozen=True)
class Listing:
    """A submission that passed, as the board shows it.

    Attributes:
        entry: What its order depends on: the fresh score where it was verified, the claimed one otherwise.
        submission: What was claimed.
        path: Its file.
        verified: What the verifier measured; None for an entry that waits.
    """

    entry: Entry
    submission: NematodeBenchSubmission
    path: str
    verified: Result | None

    @property
    def metrics(self) -> dict[str, StatValue]:
        """Every metric, fresh where it was verified."""
        return self.submission.metrics.by_name() if self.verified is None else dict(self.verified.metrics)

    @property
    def score(self) -> StatValue | None:
        """The headline metric, fresh where it was verified."""
        return self.metrics.get(self.submission.score_key)

    @property
    def runs(self) -> int:
        """The runs behind the score."""
        if self.verified is None:
            return self.submission.total_runs
        return sum(len(session.runs) for session in self.verified.sessions)

    @property
    def level(self) -> str | None:
        """The level of the score."""
        return self.submission.level if self.verified is None else self.verified.level

    @property
    def normalised(self) -> NormalisedRecord | None:
        """The score between its anchors."""
        return self.submission.normalised if self.verified is None else self.verified.normalised

    @property
    def chemotaxis(self) -> Chemotaxis | None:
        """The plate assay."""
        return self.submission.chemotaxis if self.verified is None else self.verified.chemotaxis

    @property
    def brain_class(self) -> str:
        """The class of a brain of this repository; of any other, the one that the verifier assigned."""
        if self.submission.brain_class != OPEN:
            return self.submission.brain_class
        assigned = None if self.verified is None else self.verified.brain_class
        return assigned or UNCLASSIFIED

    @property
    def too_good(self) -> bool:
        """Whether the fresh runs do not support the claim."""
        return self.verified is not None and self.verified.claim is not None and self.verified.claim.too_good


_NOBODY = Entry("", "", "", "", 0.0, (0.0, 0.0), 0.0, "None", "")


@dataclass(frozen=True)
class Rejection:
    """A file that does not get to the board, and why."""

    path: str
    reasons: list[str]


@dataclass(frozen=True)
class Collection:
    """Everything under benchmarks/.

    Attributes:
        listings: What was verified, by id.
        waiting: What passed its checks and was not verified yet: it has no rank.
        withdrawn: What a maintainer took off the board, by id, with the reason.
        rejected: Files that do not get to the board, and why.
        history: When entries were merged.
    """

    listings: dict[str, Listing] = field(default_factory=dict)
    waiting: dict[str, Listing] = field(default_factory=dict)
    withdrawn: dict[str, str] = field(default_factory=dict)
    rejected: list[Rejection] = field(default_factory=list)
    history: History = field(default_factory=History)

    def boards(self) -> list[TaskBoard]:
        """The ranking, task by task."""
        return rank(listing.entry for listing in self.listings.values())


def collect(root: Path) -> Collection:
    """Checks every submission below ``root`` against its data and looks for its signed verification."""
    found, believed = Collection(history=merge_history(root)), read_all(root)
    files = submission_files(root)
    with Judge(root.absolute()) as judge:
        for path in files:
            name = path.relative_to(root).as_posix()
            verdict = judge.judge(path.absolute())
            try:
                if verdict.passed:
                    _sort_in(found, believed, path, name)
                    continue
                reasons = verdict.reasons
            except UsageError as error:
                reasons = [str(error)]
            found.rejected.append(Rejection(name, reasons))
    found.rejected.extend(_strays(root, files))
    found.rejected.extend(Rejection(name, [reason]) for name, reason in believed.refused.items())
    return found


def _sort_in(found: Collection, believed: Verified, path: Path, name: str) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    listing = listing_of(load_submission(path), name, believed.results.get(digest), found.history)
    if digest in believed.withdrawn:
        found.withdrawn[listing.entry.id] = believed.withdrawn[digest].reason
    elif listing.verified is None:
        found.waiting[listing.entry.id] = listing
    else:
        found.listings[listing.entry.id] = listing


def signed(root: Path) -> Collection:
    """What signed records say of the submissions below ``root``, whose data are not read again: for pages about tasks.

    What nobody has verified has no part in it: whoever claims something could otherwise say which tasks are ranked.
    """
    found, believed = Collection(), read_all(root)
    for path in submission_files(root):
        name = path.relative_to(root).as_posix()
        with contextlib.suppress(UsageError):
            _sort_in(found, believed, path, name)
    return found


def _strays(root: Path, files: list[Path]) -> list[Rejection]:
    """Files that would otherwise be passed over in silence: beside the submissions, and beside their sessions."""
    reason = "it is not a submission, benchmarks/<task>/<class>/<timestamp>.json"
    strays = [path for path in _below(root / BENCHMARKS) if path not in files]
    found = [Rejection(path.relative_to(root).as_posix(), [reason]) for path in strays[:_MOST_STRAYS]]
    known, places = _referred_to(files), [root / ARTIFACTS, root / BUNDLES]
    others = sorted(path for place in places if place.is_dir() for path in place.iterdir() if path.name not in known)
    others += [path for path in _below(places[0].parent) if not set(places) & set(path.parents)]
    reason = "it belongs to no submission"
    return found + [Rejection(path.relative_to(root).as_posix(), [reason]) for path in others[:_MOST_STRAYS]]


def _below(folder: Path) -> list[Path]:
    """Everything in a folder that is no folder; links are named and not followed."""
    found = []
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        found += [Path(place) / name for name in (*names, *links)]
    return sorted(found)


def _referred_to(files: list[Path]) -> set[str]:
    """Names of all sessions and bundles that a submission refers to, also one that was rejected."""
    names = set()
    for path in files:
        with contextlib.suppress(UsageError):
            submission = load_submission(path)
            names |= {reference.experiment_id for reference in submission.sessions}
            names |= set() if submission.bundle is None else {submission.bundle.sha256}
    return names


def listing_of(
    submission: NematodeBenchSubmission, name: str, verified: Result | None = None, history: History | None = None
) -> Listing:
    """What the board shows of a submission that passed its checks: the fresh score, if there is one."""
    passed = verified if verified is not None and verified.result == "PASSED" else None
    shown = Listing(_NOBODY, submission, name, passed)
    score, assay = shown.score, shown.chemotaxis
    place, date = (history or History()).place(name, submission.timestamp)
    if passed is not None:  # a history that was written anew is younger than what was signed
        date = min(date, _compact(passed.started))
    if score is None or not score.has_interval:
        raise UsageError(f"{name} has no score with an interval: its task is not ranked.")
    entry = Entry(
        id=submission.submission_id,
        brain=_brain(submission),
        task=submission.environment.task,
        brain_class=shown.brain_class,
        mean=score.mean,
        ci95=score.ci95,
        variance=_run_variance(score, shown.runs),
        biological=assay.level if assay else "None",
        date=date,
        place=place,
    )
    return replace(shown, entry=entry)


def _brain(submission: NematodeBenchSubmission) -> str:
    """Whose later entries replace it: brains from outside are somebody's, and two people may choose the same name."""
    name = canonical_name(submission.brain_type)
    owner = submission.contributor if submission.github is None else f"@{submission.github.lower()}"
    return name if submission.brain_class != OPEN else f"{name} of {owner}"


def _compact(moment: str) -> str:
    """A moment as submissions write it, from ISO 8601 in UTC: ``20260102_030405``."""
    return moment[:19].replace("-", "").replace(":", "").replace("T", "_")


def _run_variance(score: StatValue, runs: int) -> float:
    """Variance over runs, from their interval: the spread of session means would shrink with longer sessions."""
    factor = t_critical(runs - 1) if score.kind == "jackknife" else Z95
    return ((score.ci95[1] - score.ci95[0]) / 2 / factor * math.sqrt(runs)) ** 2
