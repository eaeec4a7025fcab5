"""Parcels: runs that go to another process together, so that the way there and back costs each of them little.

A parcel holds about as much work as half a second can do, judged by how long the parcels before it took; the first are
as small as possible. Towards the end parcels get smaller again, so that no worker is idle while another has much to do.
"""

import time
from collections.abc import Sequence
from typing import TypeAlias

from nematodebench.engine.batch import Group, execute_batch
from nematodebench.engine.limits import ends_the_process
from nematodebench.engine.run import RunResult, RunSpec, compile_for
from nematodebench.engine.watching import Watch

__all__ = ["Parcel", "Parcels", "execute_parcel", "runs_of"]

Parcel: TypeAlias = tuple[Group, ...]
"""Groups of runs that are executed one after another."""

_SECONDS = 0.5
_SHARES = 2
"""Parcels that every worker can still get when the size of the next one is decided."""


def runs_of(parcel: Parcel) -> list[RunSpec]:
    """The runs of a parcel."""
    return [spec for group in parcel for spec in group]


def execute_parcel(parcel: Parcel, watch: Watch | None = None) -> tuple[list[RunResult], float]:
    """In a process of its own: the results, and how long they took without loading what they need."""
    first = parcel[0][0]
    compile_for(first.task, first.brain)
    started = time.perf_counter()
    results: list[RunResult] = []
    for group in parcel:
        with ends_the_process(group):
            results += execute_batch(group, watch)
    return results, time.perf_counter() - started


class Parcels:
    """The groups of runs that wait for a worker."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._waiting = list(reversed(groups))
        self._alone: list[RunSpec] = []
        self._seconds: float | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting or self._alone)

    def take(self, workers: int) -> Parcel:
        """The next parcel for one of so many workers."""
        if self._alone:
            return ((self._alone.pop(),),)
        most = max(1, len(self._waiting) // (_SHARES * workers))
        size = 1 if self._seconds is None else min(max(1, int(_SECONDS / max(self._seconds, 1e-9))), most)
        return tuple(self._waiting.pop() for _ in range(size))

    def took(self, parcel: Parcel, seconds: float) -> None:
        """Says how long a parcel took."""
        self._seconds = seconds / len(parcel)

    def lost(self, specs: Sequence[RunSpec]) -> None:
        """Runs whose worker was lost: each goes by itself, because one of them may have been the reason."""
        self._alone += specs
