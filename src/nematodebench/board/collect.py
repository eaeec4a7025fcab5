"""Reads every submission of a repository. Only what passes its checks, here and now, and was verified gets a rank."""

import contextlib
import gc
import hashlib
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nematodebench.board.ranking import Entry, TaskBoard, rank
from nematodebench.brains.registry import canonical_name
from nematodebench.errors import UsageError
from nematodebench.measures.base import Chemotaxis
from nematodebench.records.plain_text import plain
from nematodebench.records.schemas import NormalisedRecord
from nematodebench.records.submission_schema import NematodeBenchSubmission
from nematodebench.stats import Z95, StatValue, t_critical
from nematodebench.submissions.bundles import BUNDLES
from nematodebench.submissions.case import Case
from nematodebench.submissions.checks import judge as check
from nematodebench.submissions.claim_checks import NEIGHBOUR_CHECKS
from nematodebench.submissions.history import History, merge_history
from nematodebench.submissions.judging import PatientJudge
from nematodebench.submissions.known import Known, open_known
from nematodebench.submissions.neighbours import Neighbours
from nematodebench.submissions.sessions import ARTIFACTS
from nematodebench.submissions.store import BENCHMARKS, parsed_submission, submission_files
from nematodebench.submissions.untrusted import MAX_SUBMISSION, read_file
from nematodebench.verification.statement import Summary
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
        record: File of the signed record that says so.
        records: How many signed records there are of it.
        tries: How many verified entries there are of its brain on its task, or of somebody's own brains, this one with
            them, and those that were replaced or withdrawn.
    """

    entry: Entry
    submission: NematodeBenchSubmission
    path: str
    verified: Summary | None
    record: str | None = None
    records: int = 1
    tries: int = 1

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
        return self.verified.fresh_runs

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
        tries: Verified entries by task and by who tried, those that were withdrawn or replaced too.
    """

    listings: dict[str, Listing] = field(default_factory=dict)
    waiting: dict[str, Listing] = field(default_factory=dict)
    withdrawn: dict[str, str] = field(default_factory=dict)
    rejected: list[Rejection] = field(default_factory=list)
    history: History = field(default_factory=History)
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)

    def boards(self) -> list[TaskBoard]:
        """The ranking, task by task."""
        return self._boards

    @cached_property
    def _boards(self) -> list[TaskBoard]:
        return rank(listing.entry for listing in self.listings.values())


def collect(root: Path) -> Collection:
    """Checks every submission below ``root`` against its data and looks for its signed verification.

    What passed before and has not changed since is not checked again; what two submissions may not share is.
    """
    found, top = Collection(history=merge_history(root)), root.absolute()
    with _without_garbage(), open_known(top) as known, PatientJudge(top, known) as judge:
        read = []
        for one in _read_all(top, known):
            read.append(one)
            if one.submission is not None:
                judge.expect(one.submission)
        judge.all_expected()
        believed = read_all(root, known, _digests(read))
        neighbours = Neighbours(
            ((one.name, one.submission) for one in read if one.submission is not None), found.history
        )
        for one in read:
            verdict, shared = judge.judge(top / one.name, one.submission, one.digest), _shared(top, one, neighbours)
            reasons = [*verdict.reasons, *shared] or [one.why]
            try:
                if verdict.passed and not shared and one.submission is not None:
                    _sort_in(found, believed, one.submission, one)
                    continue
            except UsageError as error:
                reasons = [str(error)]
            found.rejected.append(Rejection(one.name, reasons))
    _count_tries(found)
    found.rejected.extend(_strays(root, read))
    found.rejected.extend(Rejection(name, [reason]) for name, reason in believed.refused.items())
    return found


@contextlib.contextmanager
def _without_garbage() -> Iterator[None]:
    """What is read stays until the end: looking through it for garbage again and again takes an eighth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@dataclass(frozen=True)
class _Read:
    """A file where submissions lie.

    Attributes:
        name: Its path below the repository.
        digest: Hash of its bytes.
        submission: What is in it; None where it cannot be read.
        why: Why it cannot be read.
    """

    name: str
    digest: str
    submission: NematodeBenchSubmission | None
    why: str = ""


def _read_all(root: Path, known: Known) -> Iterator[_Read]:
    return (_read(root, path.relative_to(root).as_posix(), known) for path in submission_files(root))


def _read(root: Path, name: str, known: Known) -> _Read:
    try:
        content = read_file(root, name, MAX_SUBMISSION)
        digest = hashlib.sha256(content).hexdigest()
        return _Read(name, digest, _parsed(content, digest, root / name, known))
    except UsageError as error:
        return _Read(name, "", None, str(error))


def _parsed(content: bytes, digest: str, path: Path, known: Known) -> NematodeBenchSubmission:
    """The submission in a file's bytes. Bytes that were read before need not be brought to today's version again."""
    kept = known.find("submission", digest)
    if kept is not None:
        return NematodeBenchSubmission.model_validate_json(kept, strict=True)
    made = parsed_submission(content, path)
    text = made.model_dump_json()
    if NematodeBenchSubmission.model_validate_json(text, strict=True) == made:
        known.keep(text, "submission", digest)
    return made


def _digests(read: Sequence[_Read]) -> dict[str, str]:
    return {one.name: one.digest for one in read if one.digest}


def _shared(root: Path, one: _Read, neighbours: Neighbours) -> list[str]:
    """Why a submission is rejected beside the others, whatever it is alone."""
    if one.submission is None:
        return []
    case = Case(root, [], submission=one.submission, path=root / one.name, neighbours=neighbours)
    results = check(case, NEIGHBOUR_CHECKS)
    return [plain(f"{result.name}: {result.message}") for result in results if result.outcome == "FAIL"]


def _sort_in(found: Collection, believed: Verified, submission: NematodeBenchSubmission, one: _Read) -> None:
    listing = listing_of(submission, one.name, believed.result(one.digest), found.history)
    listing = replace(listing, record=believed.record(one.digest), records=len(believed.records.get(one.digest, ())))
    found.tries[_who_tried(submission)] += listing.verified is not None
    if one.digest in believed.withdrawn:
        found.withdrawn[listing.entry.id] = believed.withdrawn[one.digest].reason
    elif listing.verified is None:
        found.waiting[listing.entry.id] = listing
    else:
        found.listings[listing.entry.id] = listing


def _count_tries(found: Collection) -> None:
    """Says of every entry of how many it is one."""
    for name, listing in found.listings.items():
        found.listings[name] = replace(listing, tries=found.tries[_who_tried(listing.submission)])


def signed(root: Path) -> Collection:
    """What signed records say of the submissions below ``root``, whose data are not read again: for pages about tasks.

    What nobody has verified has no part in it: whoever claims something could otherwise say which tasks are ranked.
    """
    found = Collection()
    with open_known(root.absolute()) as known:
        read = list(_read_all(root, known))
        believed = read_all(root, known, _digests(read))
    for one in read:
        with contextlib.suppress(UsageError):
            if one.submission is not None:
                _sort_in(found, believed, one.submission, one)
    return found


def _strays(root: Path, read: Sequence[_Read]) -> list[Rejection]:
    """Files that would otherwise be passed over in silence: beside the submissions, and beside their sessions."""
    reason, names = "it is not a submission, benchmarks/<task>/<class>/<timestamp>.json", {one.name for one in read}
    strays = [name for name in _below(root, BENCHMARKS) if name not in names]
    found = [Rejection(name, [reason]) for name in strays[:_MOST_STRAYS]]
    known, places = _referred_to(read), (ARTIFACTS, BUNDLES)
    inside = [(place, name) for place in places if (root / place).is_dir() for name in _names(root / place)]
    others = sorted(f"{place}/{name}" for place, name in inside if name not in known)
    others += _below(root, ARTIFACTS.partition("/")[0], places)
    reason = "it belongs to no submission"
    return found + [Rejection(name, [reason]) for name in others[:_MOST_STRAYS]]


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _below(root: Path, folder: str, without: Sequence[str] = ()) -> list[str]:
    """Everything in a folder that is no folder; links are named and not followed."""
    found = []
    for place, folders, names in os.walk(root / folder):
        here = Path(place).relative_to(root).as_posix()
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        folders[:] = [name for name in folders if f"{here}/{name}" not in without]
        found += [f"{here}/{name}" for name in (*names, *links)]
    return sorted(found)


def _referred_to(read: Sequence[_Read]) -> set[str]:
    """Names of all sessions and bundles that a submission refers to, also one that was rejected."""
    names = set()
    for submission in (one.submission for one in read if one.submission is not None):
        names |= {reference.experiment_id for reference in submission.sessions}
        names |= set() if submission.bundle is None else {submission.bundle.sha256}
    return names


def listing_of(
    submission: NematodeBenchSubmission, name: str, verified: Summary | None = None, history: History | None = None
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
    return name if submission.brain_class != OPEN else f"{name} of {_owner(submission)}"


def _owner(submission: NematodeBenchSubmission) -> str:
    return submission.contributor if submission.github is None else f"@{submission.github.lower()}"


def _who_tried(submission: NematodeBenchSubmission) -> tuple[str, str]:
    """The task, and who may be lucky there: a brain of this repository with any parameters, or whoever brings brains.

    Somebody can give one brain many names, and all of them count together.
    """
    own = submission.brain_class == OPEN
    return submission.environment.task, _owner(submission) if own else canonical_name(submission.brain_type)


def _compact(moment: str) -> str:
    """A moment as submissions write it, from ISO 8601 in UTC: ``20260102_030405``."""
    return moment[:19].replace("-", "").replace(":", "").replace("T", "_")


def _run_variance(score: StatValue, runs: int) -> float:
    """Variance over runs, from their interval: the spread of session means would shrink with longer sessions."""
    factor = t_critical(runs - 1) if score.kind == "jackknife" else Z95
    return ((score.ci95[1] - score.ci95[0]) / 2 / factor * math.sqrt(runs)) ** 2
