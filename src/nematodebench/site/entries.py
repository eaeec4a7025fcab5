"""What pages show of a published entry: plain texts and numbers, made once for all pages."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.board.collect import Collection, Listing
from nematodebench.board.markdown import rank_text
from nematodebench.board.ranking import Standing
from nematodebench.errors import UsageError
from nematodebench.figures.curves_of_runs import Curves, curves_of
from nematodebench.site.cells import interval, number, stat
from nematodebench.submissions.sessions import StoredSession, open_session
from nematodebench.submissions.tables import Records, read_episodes, recorded_task
from nematodebench.tasks.base import Task
from nematodebench.tasks.registry import get_task
from nematodebench.verification.keys import load_keys
from nematodebench.verification.statement import Result
from nematodebench.verification.store import open_record

__all__ = [
    "Signers",
    "curves_of_entry",
    "day",
    "episodes_of_entry",
    "file_name",
    "normalised_text",
    "row",
    "sessions_of_entry",
]


def file_name(text: str, ending: str = ".html") -> str:
    """A name of a file that any system and any address takes; what is not plain becomes a hyphen."""
    return (re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip(".-") or "unnamed") + ending


def day(date: str) -> str:
    """The date of an entry, as people write it."""
    return f"{date[:4]}-{date[4:6]}-{date[6:8]}"


@dataclass(frozen=True)
class Signers:
    """Who signed the verifications of a repository, and what all of it says, by submission."""

    names: dict[str, tuple[str, str]]
    results: dict[str, Result]

    @classmethod
    def of(cls, root: Path, found: Collection) -> "Signers":
        """Reads the signatures of all verified entries."""
        owners = {key.keyid: key.owner for key in load_keys(root).files.values()}
        names, results = {}, {}
        for entry, listing in found.listings.items():
            try:
                statement, keyid = open_record(root, listing.record or "")
            except UsageError:
                continue
            names[entry] = (owners.get(keyid, "unknown"), keyid)
            if isinstance(statement.predicate, Result):
                results[entry] = statement.predicate
        return cls(names, results)


def normalised_text(listing: Listing) -> str:
    """The normalised score with half its interval."""
    norm = listing.normalised
    return "–" if norm is None else interval(norm.score, norm.ci95, norm.doubt)


def row(listing: Listing, standing: Standing | None, ranked: bool, order: int, band: bool) -> dict[str, Any]:
    """One line of a table of entries.

    Args:
        listing: The entry.
        standing: Its place on the board; None for one that is no more, or not yet, on it.
        ranked: Whether its task is ranked.
        order: Its place in the table as it is first shown.
        band: Whether it lies on a band of entries that are not told apart.
    """
    made, again = listing.submission, listing.verified
    score, claim = listing.score, made.score
    status = "current" if standing is not None else "waiting" if again is None else "former"
    low, high = (None, None) if score is None else map(_end, score.ci95)
    checked = "no" if again is None else f"{again.reexecution.identical} of {again.reexecution.claimed}"
    return {
        "id": made.submission_id, "file": file_name(made.submission_id), "brain": made.brain_type,
        "task": made.environment.task, "task_file": file_name(made.environment.task), "class": listing.brain_class,
        "rank": rank_text(standing.ranks) if standing and ranked else "–", "group": standing.group if standing else "",
        "order": order, "band": "band" if band else "", "status": status, "dot": number(listing.normalised),
        "score": stat(score), "value": None if score is None else round(score.mean, 6),
        "low": low, "high": high,
        "claimed": "–" if claim is None else f"{claim.mean:z.3f}",
        "claimed_value": None if claim is None else round(claim.mean, 6), "too_good": listing.too_good,
        "normalised": normalised_text(listing), "runs": listing.runs, "contributor": made.contributor,
        "verified": checked, "date": day(listing.entry.date), "replay": False,
    }  # fmt: skip


def _end(value: float) -> float | None:
    """An end of an interval; None where it is unknown."""
    return None if math.isnan(value) else round(value, 6)


def sessions_of_entry(root: Path, listing: Listing) -> list[StoredSession]:
    """The claimed sessions of an entry; none where one of them is not here."""
    try:
        return [open_session(root, one.file_path.rpartition("/")[0]) for one in listing.submission.sessions]
    except (UsageError, OSError):
        return []


def episodes_of_entry(listing: Listing, sessions: Sequence[StoredSession]) -> list[tuple[Task, Records]]:
    """The episodes of every claimed session, and the task with the columns that they have."""
    recorded = [recorded_task(stored, get_task(listing.entry.task)) for stored in sessions]
    return [(task, read_episodes(stored, task)) for task, stored in zip(recorded, sessions, strict=True)]


def curves_of_entry(episodes: Sequence[tuple[Task, Records]]) -> Curves | None:
    """How the claimed runs of an entry learned; None where there are none, or too few episodes."""
    if not episodes:
        return None
    return curves_of(episodes[-1][0], [records[run] for _, records in episodes for run in sorted(records)])
