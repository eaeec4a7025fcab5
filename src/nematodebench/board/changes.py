"""What a proposal changes: the difference between two commits, read from git's trees.

Only names, modes and hashes of objects are compared, so attributes, filters and programs that show a difference in
another way have no say. Nothing is checked out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nematodebench.errors import UsageError
from nematodebench.records.git import git, git_bytes, has_more

__all__ = ["MOST_FILES", "Change", "Proposal", "open_proposal"]

MOST_FILES = 3000
"""GitHub lists no more files of a pull request: nobody could read the rest there."""
_RAW = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*")
_LISTED = re.compile(rb"100[0-9]{3} blob ([0-9a-f]+) +([0-9]+)\t(.*)", re.DOTALL)
_AT_ONCE = 500


@dataclass(frozen=True)
class Change:
    """A path that differs.

    Attributes:
        path: Its name; bytes that are no UTF-8 are kept as surrogates.
        status: A for added, M for changed, D for removed, T for another type.
        modes: Before and after, as git writes them; 000000 where there is nothing.
        blobs: Names of the contents before and after.
    """

    path: str
    status: str
    modes: tuple[str, str]
    blobs: tuple[str, str]

    @property
    def added(self) -> bool:
        """Whether there was nothing at its place."""
        return self.status == "A"


@dataclass(frozen=True)
class Proposal:
    """Two commits of a repository and what the later one changes.

    Attributes:
        root: Top of the repository.
        base: The commit that is trusted.
        start: The commit of the base's history from which the proposal starts.
        head: The commit that is proposed.
        changes: Every path that differs, in order of names.
        endless: Whether there are more than anybody lists; then ``changes`` is empty.
    """

    root: Path
    base: str
    start: str
    head: str
    changes: tuple[Change, ...]
    endless: bool = False

    @cached_property
    def published(self) -> frozenset[str]:
        """Every path of the trusted commit."""
        return frozenset(_names(self.root, self.base))

    def content(self, change: Change, limit: int, *, before: bool = False) -> bytes:
        """The bytes of a changed file, after the change or before it."""
        return self._blob(change.blobs[0 if before else 1], change.path, limit)

    def trusted(self, path: str, limit: int) -> bytes | None:
        """The bytes of a file of the trusted commit; None where it has no such file."""
        return self._blob(f"{self.base}:{path}", path, limit) if path in self.published else None

    def trusted_below(self, folder: str, limit: int) -> Iterator[tuple[str, bytes]]:
        """The files of a folder of the trusted commit of at most ``limit`` bytes; git is asked for many at once."""
        listing = git_bytes("ls-tree", "-r", "-z", "--long", self.base, "--", f"{folder}/", folder=self.root) or b""
        found = [_LISTED.fullmatch(line) for line in listing.split(b"\0") if line]
        blobs = [(one[3], one[1]) for one in found if one is not None and int(one[2]) <= limit]
        for first in range(0, len(blobs), _AT_ONCE):
            some = blobs[first : first + _AT_ONCE]
            asked = b"".join(blob + b"\n" for _, blob in some)
            answer = git_bytes("cat-file", "--batch", folder=self.root, asked=asked)
            if answer is None:
                raise UsageError(f"git cannot read the files in {folder}.")
            place = 0
            for path, _ in some:
                head, _, _ = answer[place : place + 200].partition(b"\n")
                start = place + len(head) + 1
                place = start + int(head.split()[2]) + 1
                yield path.decode("utf-8", "surrogateescape"), answer[start : place - 1]

    def _blob(self, name: str, path: str, limit: int) -> bytes:
        size = git("cat-file", "-s", name, folder=self.root)
        if size is None or not size.isdigit() or int(size) > limit:
            raise UsageError(f"{path} has {size or 'an unknown number of'} bytes: at most {limit:,} are read.")
        found = git_bytes("cat-file", "blob", name, folder=self.root)
        if found is None:
            raise UsageError(f"git cannot read {path}.")
        return found


def open_proposal(root: Path, base: str, head: str) -> Proposal:
    """Compares two commits. What the base got since the proposal began is not part of the difference.

    Raises:
        UsageError: There is no such repository or commit, or the two have not one common history.
    """
    top = git("rev-parse", "--show-toplevel", folder=root)
    if not top:
        raise UsageError(f"{root} is not a git repository.")
    place = Path(top)
    old, new = _commit(place, base), _commit(place, head)
    starts = (git("merge-base", "--all", old, new, folder=place) or "").split()
    if len(starts) != 1:
        how = "share no history (is the clone shallow?)" if not starts else "share several beginnings: merge them first"
        raise UsageError(f"{base} and {head} {how}.")
    most = len(_names(place, starts[0])) + MOST_FILES
    more = has_more(("ls-tree", "-r", "-z", "--name-only", new), most, place)
    if more is None:
        raise UsageError(f"git cannot list the files of {new[:12]}.")
    if more:
        return Proposal(place, old, starts[0], new, (), endless=True)
    return Proposal(place, old, starts[0], new, tuple(_changes(place, starts[0], new)))


def _commit(root: Path, name: str) -> str:
    found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", folder=root)
    if not found:
        raise UsageError(f"There is no commit {name!r} in {root}.")
    return found


def _changes(root: Path, old: str, new: str) -> Iterator[Change]:
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv",
             "--ignore-submodules=none", old, new)  # fmt: skip
    listing = git_bytes(*words, folder=root)
    if listing is None:
        raise UsageError(f"git cannot compare {old[:12]} and {new[:12]}.")
    parts = listing.split(b"\0")[:-1]
    for about, path in zip(parts[::2], parts[1::2], strict=True):
        found = _RAW.fullmatch(about)
        if found is None:
            raise UsageError(f"git describes a difference in a way that is not known: {about[:80]!r}.")
        mode, mode_after, blob, blob_after, status = (part.decode() for part in found.groups())
        yield Change(path.decode("utf-8", "surrogateescape"), status, (mode, mode_after), (blob, blob_after))


def _names(root: Path, commit: str) -> list[str]:
    listing = git_bytes("ls-tree", "-r", "-z", "--name-only", commit, folder=root)
    if listing is None:
        raise UsageError(f"git cannot list the files of {commit[:12]}.")
    return [name.decode("utf-8", "surrogateescape") for name in listing.split(b"\0") if name]
