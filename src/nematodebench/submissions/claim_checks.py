"""Checks a submission against its sessions: place, references, config, counts, metrics, category, independence."""

import contextlib
import datetime
import hashlib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from nematodebench.brains.registry import is_built_in
from nematodebench.errors import UsageError
from nematodebench.records.submission_schema import NematodeBenchSubmission, SessionReference
from nematodebench.submissions.case import Case, config_disagreement, repeated_seeds
from nematodebench.submissions.checks import Caution, check
from nematodebench.submissions.compare import differences
from nematodebench.submissions.history import merge_history
from nematodebench.submissions.neighbours import Neighbours, account_of
from nematodebench.submissions.repository import is_tracked, repository_root
from nematodebench.submissions.sessions import EPISODES, StoredSession, artifact_path
from nematodebench.submissions.store import load_submission, submission_files, submission_id, submission_path
from nematodebench.submissions.untrusted import MAX_CONFIG, parse_config, read_file
from nematodebench.vocabulary import OPEN

__all__ = ["BUILD_CHECKS", "CLAIM_CHECKS", "LAYOUT_CHECKS", "NEIGHBOUR_CHECKS", "NOBODY"]

NOBODY = "anonymous"
"""The name of contributors who give none: any number of them share it."""
_AGAIN = "Numbers are never typed in: make the submission again with `nematodebench submit`."


@check(
    "place",
    "the file lies where its category and timestamp say",
    "Move the file back; it is never renamed.",
)
def _place(case: Case) -> Iterator[str]:
    claims = case.claims
    expected = submission_path(claims.category, claims.timestamp)
    if case.path is None or case.path.resolve() != (case.root / expected).resolve():
        yield f"the file does not lie where it says: {expected}"
    if claims.submission_id != submission_id(claims.category, claims.timestamp):
        yield f"submission_id is not {submission_id(claims.category, claims.timestamp)!r}"


@check(
    "date",
    "made after its sessions ended, and not in the future",
    _AGAIN,
)
def _date(case: Case) -> Iterator[str]:
    try:
        made = datetime.datetime.strptime(case.claims.timestamp, "%Y%m%d_%H%M%S").replace(tzinfo=datetime.UTC)
        finished = [datetime.datetime.fromisoformat(record.timing.finished) for record in case.records]
        if made > datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=10):
            yield f"timestamp {case.claims.timestamp} lies in the future"
        if any(end > made + datetime.timedelta(seconds=1) for end in finished):
            yield f"timestamp {case.claims.timestamp} is earlier than the end of a session"
    except (ValueError, TypeError, OverflowError):
        yield "timestamp, or a session's time, is not a date"


@check(
    "session paths",
    "every session lies in a folder of its own in artifacts/experiments",
    _AGAIN,
)
def _paths(case: Case) -> Iterator[str]:
    names = [reference.experiment_id for reference in case.claims.sessions]
    for reference in case.claims.sessions:
        if reference.file_path != artifact_path(reference.experiment_id):
            yield f"file_path {reference.file_path!r} is not {artifact_path(reference.experiment_id)!r}"
        if names.count(reference.experiment_id) > 1:
            yield f"session {reference.experiment_id} is listed twice"


@check(
    "references",
    "the sessions' files are those that were submitted",
    "Take the files back from git, or submit again.",
)
def _references(case: Case) -> Iterator[str]:
    for reference, session in zip(case.claims.sessions, case.sessions, strict=True):
        ours = session.reference()
        for field, what in (("metadata_sha256", session.record_name), ("config_sha256", "the config")):
            if getattr(reference, field) != getattr(ours, field):
                yield f"{ours.experiment_id}: {what} is not the file that was submitted"
        if not _same_episodes(reference, session):
            yield f"{ours.experiment_id}: the episodes are not those that were submitted"
        for field in ("session_seed", "num_runs"):
            if getattr(reference, field) != getattr(ours, field):
                yield (
                    f"{ours.experiment_id}: {field} is {getattr(reference, field)}, but the session has "
                    f"{getattr(ours, field)}"
                )
        if reference.run_seeds != ours.run_seeds:
            yield f"{ours.experiment_id}: run_seeds are not the seeds of the session's runs"


def _same_episodes(reference: SessionReference, session: StoredSession) -> bool:
    """By the hash of their content; the first submissions have one of the bytes of a Parquet file.

    A packed table has other bytes. Its content is bound by the record hashes, and those by the hash of the record.
    """
    if reference.records_sha256 is not None:
        return reference.records_sha256 == session.reference().records_sha256
    if session.packed is not None:
        return reference.episodes_sha256 is not None
    return reference.episodes_sha256 == session.sha256(EPISODES)


@check(
    "identity",
    "brain, config and task are those of the sessions",
    _AGAIN,
    needs=("consistency", "task"),
)
def _identity(case: Case) -> Iterator[str]:
    claims, first = case.claims, case.first
    name = first.brain if case.bundle is None else case.bundle.entry
    kind = first.brain_class if is_built_in(first.brain) else OPEN
    pairs = (("brain_type", name), ("brain_class", kind), ("brain_config", first.brain_config))
    for field, value in pairs:
        if getattr(claims, field) != value:
            yield from differences(getattr(claims, field), value, field)
            yield f"{field} is not that of the sessions"
    yield from differences(claims.environment, case.environment, "environment")
    if claims.score_key != case.task.score_key:
        yield f"score_key is {claims.score_key!r}, but {case.task.id} is scored by {case.task.score_key!r}"


@check(
    "config file",
    "the config exists, is tracked in git and says the same as the sessions",
    "Put the sessions' config under configs/ and commit it, or take back what was changed in it since.",
    needs=("brain", "session configs"),
)
def _config_file(case: Case) -> Iterator[str]:
    name = case.claims.config_file
    if not name.startswith("configs/"):
        yield f"config_file {name!r} does not lie in configs/"
        return
    content = read_file(case.root, name, MAX_CONFIG)
    if repository_root(case.root) is None:
        yield f"{case.root} is not a git repository, so nobody can tell whether {name} is tracked"
    elif not is_tracked(case.root, name):
        yield f"{name} is not tracked in git"
    disagreement = config_disagreement(parse_config(content, name), case.first, case.imported)
    if disagreement:
        yield f"{name} does not describe the sessions: {disagreement}"
    elif hashlib.sha256(content).hexdigest() != case.claims.config_sha256:
        yield Caution(f"{name} was modified since the submission, though it still says the same")


@check(
    "counts",
    "numbers of sessions and runs are right",
    _AGAIN,
)
def _counts(case: Case) -> Iterator[str]:
    claims, records = case.claims, case.records
    runs = sum(record.num_runs for record in records)
    if claims.total_sessions != len(records):
        yield f"total_sessions is {claims.total_sessions}, but there are {len(records)}"
    if claims.total_runs != runs:
        yield f"total_runs is {claims.total_runs}, but there are {runs}"
    unique = not repeated_seeds(records)
    if claims.all_seeds_unique != unique:
        yield f"all_seeds_unique is {claims.all_seeds_unique}, but the seeds say {unique}"


@check(
    "submission metrics",
    "every metric follows from the episodes",
    _AGAIN,
    needs=("episodes",),
)
def _metrics(case: Case) -> Iterator[str]:
    if case.claims.score is None:
        yield f"metrics lack the score, {case.claims.score_key}"
    claimable = case.claimable
    for field in ("metrics", "level", "normalised", "chemotaxis"):
        yield from differences(getattr(case.claims, field), getattr(claimable, field), field)


@check(
    "category",
    "the category is that of the task and the brain",
    _AGAIN,
    needs=("task", "brain"),
)
def _category(case: Case) -> Iterator[str]:
    if case.claims.category != case.category:
        yield f"category is {case.claims.category!r}, but the task and the brain belong to {case.category!r}"


@check(
    "independence",
    "no session is part of another submission",
    "Run sessions of your own, with fresh seeds.",
)
def _independence(case: Case) -> Iterator[str]:
    own, neighbours = _own_name(case), _neighbours(case)
    for name, shared in neighbours.with_seeds(own, case.claims):
        yield f"run seeds {shared[:3]} of this brain are already in {name}, whatever its parameters are"
    for name in neighbours.with_records(own, case.claims):
        yield f"{name} holds the same episodes"


@check(
    "contributor",
    "the contributor's name cannot be taken for another contributor's",
    "Write the name as it is written in your other submissions, or in a form that is your own.",
)
def _contributor(case: Case) -> Iterator[str]:
    ours, account = case.claims.contributor, account_of(case.claims)
    for known in _neighbours(case).namesakes(_own_name(case), case.claims):
        theirs = known.contributor
        if theirs == ours and ours != NOBODY:
            yield f"contributor {ours!r} is the name of {known.account} in {known.path}, not of {account}"
            return
        if theirs != ours:
            odd = next((one for one, other in zip(ours, theirs, strict=False) if one != other), ours[-1])
            shown = f"U+{ord(odd):04X} {unicodedata.name(odd, '')}"
            yield f"contributor {ours!r} looks like {theirs!r} of {known.path} ({shown})"
            return


def _own_name(case: Case) -> str:
    """The path of the submission below the repository; empty for one that does not lie there."""
    if case.path is None:
        return ""
    if case.path.is_relative_to(case.root):
        return case.path.relative_to(case.root).as_posix()
    path, root = case.path.resolve(), case.root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


def _neighbours(case: Case) -> Neighbours:
    """All submissions beside the one that is judged: whoever judges many of them has read them already."""
    if case.neighbours is None:
        case.neighbours = Neighbours(_all_submissions(case.root), merge_history(case.root))
    return case.neighbours


def _all_submissions(root: Path) -> Iterator[tuple[str, NematodeBenchSubmission]]:
    for path in submission_files(root):
        with contextlib.suppress(UsageError, OSError):  # a broken neighbour is not this submission's fault
            yield path.relative_to(root).as_posix(), load_submission(path)


LAYOUT_CHECKS = (_place, _paths)
BUILD_CHECKS = (_config_file, _independence, _contributor)
CLAIM_CHECKS = (_references, _date, _identity, _config_file, _counts, _metrics, _category)
NEIGHBOUR_CHECKS = (_independence, _contributor)
"""What depends on other submissions."""
