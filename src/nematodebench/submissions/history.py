"""When an entry was published: the commit that gave the file its bytes on the first-parent line of the branch.

Whoever submits writes a time into the submission, and could write any. The order of merges is git's, and nobody who
only proposes something can choose it.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from nematodebench.records.git import git
from nematodebench.submissions.store import BENCHMARKS

__all__ = ["History", "merge_history"]

_SHALLOW = "the history of this clone is shallow: dates and order are the claimed ones (`git fetch --unshallow` helps)"
_MISSING = "there is no git history here: dates and order are the claimed ones"


@dataclass(frozen=True)
class History:
    """When files below benchmarks/ were merged.

    Attributes:
        merged: By path, the place of the merge in the order of all of them and its date in UTC, empty if it has none.
        doubt: Why claimed dates are used instead; empty where the history is whole.
    """

    merged: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    doubt: str = ""

    def place(self, path: str, claimed: str) -> tuple[int, str]:
        """What an entry is ordered by: place and date of its merge. A file that is not committed yet is the last.

        Args:
            path: The submission below the top of the repository.
            claimed: The time that it claims, for a file without a merge, or with one whose time is no date.
        """
        if path in self.merged:
            place, date = self.merged[path]
            return place, date or claimed
        return (0 if self.doubt else self._last + 1), claimed

    @cached_property
    def _last(self) -> int:
        """The place of the latest merge."""
        return max((place for place, _ in self.merged.values()), default=0)


def merge_history(root: Path) -> History:
    """Reads when every submission of a repository was merged, with one call of ``git log``."""
    answer = (git("rev-parse", "HEAD", "--is-shallow-repository", folder=root) or "").split()
    if len(answer) != 2:
        return History(doubt=_MISSING)
    commit, shallow = answer
    return History(doubt=_SHALLOW) if shallow != "false" else _read(root.absolute(), commit)


@lru_cache(maxsize=8)
def _read(root: Path, commit: str) -> History:
    words = ("log", "--first-parent", "-m", "--no-renames", "--diff-filter=AMT", "--name-only", "-z", "--relative",
             "--no-ext-diff", "--no-textconv", "--format=format:%x01%ct", commit, "--", BENCHMARKS)  # fmt: skip
    listing = git(*words, folder=root)
    if listing is None:
        return History(doubt=_MISSING)
    merges = [one.split("\n", 1) for one in listing.split("\x01") if "\n" in one]
    found: dict[str, tuple[int, str]] = {}
    for age, (seconds, names) in enumerate(merges):
        # The newest comes first: it gave the file the bytes that it has now.
        for name in filter(None, names.split("\0")):
            found.setdefault(name, (len(merges) - age, _text(seconds)))
    return History(found)


def _text(seconds: str) -> str:
    """A commit's time as submissions write it; empty where it is no date, which whoever commits can write."""
    try:
        return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).strftime("%Y%m%d_%H%M%S")
    except (ValueError, OverflowError, OSError):
        return ""
