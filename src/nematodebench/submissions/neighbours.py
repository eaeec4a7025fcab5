"""Which submissions share what no two may share: seeds of one brain, episodes, and names that look alike.

One index answers for all submissions of a repository, so that judging one of them does not mean reading all of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import canonical_name
from nematodebench.engine.seeds import run_seed
from nematodebench.records.plain_text import looks_like
from nematodebench.records.submission_schema import NematodeBenchSubmission, SessionReference
from nematodebench.submissions.history import History

__all__ = ["Namesake", "Neighbours", "account_of"]

_Place = tuple[int, str]
_Owners = list[tuple[_Place, str]]


class _SeedIndex:
    """The run seeds of all submissions of one brain, in order of size, and whose each is.

    Attributes:
        repeated: Whether two of the submissions share any.
    """

    def __init__(self, group: list[tuple[_Place, str, NDArray[np.uint64]]]) -> None:
        self._owners = [(place, path) for place, path, _ in group]
        seeds = np.concatenate([seeds for _, _, seeds in group])
        order = np.argsort(seeds, kind="stable")
        self._seeds = seeds[order]
        self.repeated = bool((self._seeds[1:] == self._seeds[:-1]).any())
        self._whose = np.repeat(np.arange(len(group)), [len(seeds) for _, _, seeds in group])[order]

    def owners(self, seeds: NDArray[np.uint64], known: bool) -> Iterator[tuple[int, _Owners]]:
        """Those of the seeds that several have, each with all who have it; ``known`` says that the asker is one."""
        first, last = np.searchsorted(self._seeds, seeds, "left"), np.searchsorted(self._seeds, seeds, "right")
        for k in np.flatnonzero(last - first > int(known)):
            yield int(seeds[k]), [self._owners[n] for n in self._whose[first[k] : last[k]]]


@dataclass(frozen=True)
class Namesake:
    """A contributor: the name, the account, and the first submission that has both."""

    contributor: str
    account: str
    place: _Place
    path: str


class Neighbours:
    """All submissions of a repository, by what they must not share.

    Whoever was merged first is the original: a copy could claim any time. So only those count that came before the one
    that is judged, or with it.

    Args:
        submissions: Paths below the top of the repository, and what lies there; without broken ones, which are not
            their neighbours' fault.
        history: When they were merged.
    """

    def __init__(self, submissions: Iterable[tuple[str, NematodeBenchSubmission]], history: History) -> None:
        self._history = history
        self._records: dict[tuple[str, str], _Owners] = {}
        self._names: dict[str, dict[tuple[str, str], Namesake]] = {}
        groups: dict[tuple[str, str], list[tuple[_Place, str, NDArray[np.uint64]]]] = {}
        for path, one in submissions:
            place = history.place(path, one.timestamp)
            groups.setdefault(_brain(one), []).append((place, path, _seeds(one)))
            for text in _record_hashes(one):
                self._records.setdefault((one.environment.task, text), []).append((place, path))
            self._add_name(Namesake(one.contributor, account_of(one), place, path))
        self._paths = {path for group in groups.values() for _, path, _ in group}
        self._seeds = {key: _SeedIndex(group) for key, group in groups.items()}

    def _add_name(self, new: Namesake) -> None:
        known = self._names.setdefault(looks_like(new.contributor), {})
        who = new.contributor, new.account
        if who not in known or new.place < known[who].place:
            known[who] = new

    def with_seeds(self, path: str, claims: NematodeBenchSubmission) -> Iterator[tuple[str, list[int]]]:
        """Earlier submissions of the same brain on the same task, with the run seeds that both have."""
        index = self._seeds.get(_brain(claims))
        known, shared = path in self._paths, dict[str, list[int]]()
        if index is None or (known and not index.repeated):
            return
        for seed, owners in index.owners(_seeds(claims), known):
            for other in self._earlier(owners, path, claims):
                shared.setdefault(other, []).append(seed)
        yield from sorted(shared.items())

    def with_records(self, path: str, claims: NematodeBenchSubmission) -> list[str]:
        """Earlier submissions on the same task that hold the same episodes."""
        found = set()
        for text in _record_hashes(claims):
            found |= set(self._earlier(self._records.get((claims.environment.task, text), []), path, claims))
        return sorted(found)

    def namesakes(self, path: str, claims: NematodeBenchSubmission) -> list[Namesake]:
        """Earlier contributors whose name is, or looks like, that of a submission: other spellings, other accounts."""
        ours, place = (claims.contributor, account_of(claims)), self._history.place(path, claims.timestamp)
        known = self._names.get(looks_like(claims.contributor), {})
        return [one for who, one in known.items() if who != ours and one.place <= place]

    def _earlier(self, owners: _Owners, path: str, claims: NematodeBenchSubmission) -> Iterator[str]:
        place = self._history.place(path, claims.timestamp)
        return (other for theirs, other in owners if other != path and theirs <= place)


def _seeds(submission: NematodeBenchSubmission) -> NDArray[np.uint64]:
    """Its run seeds, each once."""
    seeds = [seed for reference in submission.sessions for seed in reference.run_seeds or _derived(reference)]
    return np.unique(np.array(seeds, dtype=np.uint64))


def _derived(reference: SessionReference) -> Iterator[int]:
    """The run seeds of a session that is too long to list them."""
    return (run_seed(reference.session_seed, k) for k in range(reference.num_runs))


def _brain(submission: NematodeBenchSubmission) -> tuple[str, str]:
    return submission.environment.task, canonical_name(submission.brain_type)


def account_of(submission: NematodeBenchSubmission) -> str:
    """Whose a submission is."""
    return "somebody without a GitHub account" if submission.github is None else f"@{submission.github.lower()}"


def _record_hashes(submission: NematodeBenchSubmission) -> set[str]:
    """What tells the episodes of its sessions apart from all others."""
    hashes = {reference.records_sha256 or reference.episodes_sha256 for reference in submission.sessions}
    return {text for text in hashes if text is not None}
