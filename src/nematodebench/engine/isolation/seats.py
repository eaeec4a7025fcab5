"""The cores of a run and its brain, and how the two wait for each other.

Two processes that take turns either look on from a core each, which is fastest, or share one: they lose most of their
time if they sleep and wake each other across cores. So a run has two cores for as long as there are two for every run
and nobody else takes them, and one otherwise. On one core each lets the other go first while nobody else is there.
With others on that core they sleep and wake each other: whoever lets others go first loses all of it to them.
"""

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from nematodebench.engine.isolation.shared import LOOK, SLEEP, YIELD

__all__ = ["Seat"]

_CROWDED_FOR = 4.0
"""Seconds for which runs wait in a way that takes less of the cores after one has found that others need them."""


class Seat:
    """Keeps the calling thread, and the brain's process, on their cores."""

    def __init__(self, brain: int, tell: Callable[[int], None]) -> None:
        """Sits down.

        Args:
            brain: The number of the brain's process.
            tell: Told how both sides are to wait, whenever the cores are assigned.
        """
        self.cores = os.sched_getaffinity(0)
        self._thread, self._brain, self._tell = threading.get_native_id(), brain, tell
        self.way = SLEEP
        self._before: tuple[int, float, float, float] | None = None
        _ROOM.enter(self)

    def sit(self, host: int, brain: int, way: int) -> None:
        """Takes these cores; the process or the thread may be gone by now."""
        if way != self.way:
            self._before = None
        self.way = way
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._thread, {host})
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._brain, {brain})
        self._tell(way)

    def lost(self) -> float:
        """The share of the time since the last call that was taken from the sides by others.

        With a core each that is the time for which one could have worked and had to wait. Who waits for the other on
        the same core, awake, waits as well: there it is the time for which neither of them worked. It is 0 where there
        is nothing to compare: the sides waited in another way before, or one of them is gone.
        """
        before, self._before = self._before, self._spent()
        if before is None or self._before is None or before[0] != self.way:
            return 0.0
        time_, worked, waited = (now - then for now, then in zip(self._before[1:], before[1:], strict=True))
        return (time_ - worked if self.way == YIELD else waited) / max(time_, 1e-3)

    def _spent(self) -> tuple[int, float, float, float] | None:
        """The way, the time, and for how long both sides together have worked and have waited for their cores."""
        worked = waited = 0.0
        for task in (f"self/task/{self._thread}", str(self._brain)):
            try:
                at_work, in_line = Path("/proc", task, "schedstat").read_text().split()[:2]
            except (OSError, ValueError):  # it is gone, or the system does not tell
                return None
            worked, waited = worked + float(at_work) * 1e-9, waited + float(in_line) * 1e-9
        return self.way, time.monotonic(), worked, waited

    def give_up(self, *, slow: bool) -> None:
        """Goes on with one core, or asleep: somebody else needs the other, or this one, or the brain is a slow one."""
        _ROOM.crowd(SLEEP if slow or self.way == YIELD else YIELD)

    def try_again(self) -> None:
        """Waits as is best again if it is long ago that somebody else needed a core."""
        _ROOM.try_again()

    def leave(self) -> None:
        """Lets the thread go wherever it could go before."""
        _ROOM.leave(self)
        os.sched_setaffinity(self._thread, self.cores)


class _Room:
    """The seats of all runs of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seats: list[Seat] = []
        self._crowded = (0.0, LOOK)

    def enter(self, seat: Seat) -> None:
        with self._lock:
            self._seats.append(seat)
            self._assign()

    def leave(self, seat: Seat) -> None:
        """The others move when they look up, and not for a run that begins at once."""
        with self._lock:
            self._seats.remove(seat)

    def crowd(self, way: int) -> None:
        with self._lock:
            self._crowded = (time.monotonic() + _CROWDED_FOR, way)
            self._assign()

    def try_again(self) -> None:
        with self._lock:
            if any(seat.way != self._way() for seat in self._seats):
                self._assign()

    def _cores(self) -> list[int]:
        return sorted(set().union(*(seat.cores for seat in self._seats)))

    def _way(self) -> int:
        """How runs wait. Worker processes know nothing of each other, so theirs sleep."""
        until, crowded = self._crowded
        cores, runs = len(self._cores()), len(self._seats)
        if multiprocessing.parent_process() is not None or runs > cores:
            return SLEEP
        if time.monotonic() <= until:
            return crowded
        return LOOK if 2 * runs <= cores else YIELD

    def _assign(self) -> None:
        """Cores of worker processes begin at different ones."""
        cores, way = self._cores(), self._way()
        apart = way == LOOK
        for place, seat in enumerate(self._seats):
            first = os.getpid() + (2 * place if apart else place)
            seat.sit(cores[first % len(cores)], cores[(first + apart) % len(cores)], way)


_ROOM = _Room()
