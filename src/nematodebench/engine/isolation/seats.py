"""The cores of a run and its brain.

Two processes that take turns either look on from a core each, which is fastest, or share one: they lose most of their
time if they sleep and wake each other across cores. So a run has two cores for as long as there are two for every run
and nobody else takes them, and one otherwise.
"""

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Seat"]

_CROWDED_FOR = 2.0
"""Seconds for which runs share cores after one has found that somebody else needs them."""


class Seat:
    """Keeps the calling thread, and the brain's process, on their cores."""

    def __init__(self, brain: Callable[[], int], apart: Callable[[bool], None]) -> None:
        """Sits down.

        Args:
            brain: Tells the number of the brain's process.
            apart: Told whether both sides have a core of their own, whenever the cores are assigned.
        """
        self.cores = os.sched_getaffinity(0)
        self._thread, self._brain, self._tell = threading.get_native_id(), brain, apart
        self.apart = False
        self._waited = (0.0, 0.0)
        _ROOM.enter(self)
        self.delayed()  # what was before does not count

    def sit(self, host: int, brain: int) -> None:
        """Takes these cores; the process or the thread may be gone by now."""
        self.apart = host != brain
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._thread, {host})
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self._brain(), {brain})
        self._tell(self.apart)

    def delayed(self) -> float:
        """The share of the time since the last call for which the sides could have worked and had no core."""
        now, waited, before = time.monotonic(), 0.0, self._waited
        for task in (f"self/task/{self._thread}", str(self._brain())):
            with contextlib.suppress(OSError, ValueError, IndexError):  # it is gone, or the system does not tell
                waited += float(Path("/proc", task, "schedstat").read_text().split()[1]) * 1e-9
        self._waited = (now, waited)
        return (waited - before[1]) / max(now - before[0], 1e-3)

    def give_up(self) -> None:
        """Goes on with one core: somebody else needs the other."""
        _ROOM.crowd()

    def try_again(self) -> None:
        """Takes two cores again if there are two, and it is long ago that somebody else needed one."""
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
        self._crowded_until = 0.0

    def enter(self, seat: Seat) -> None:
        with self._lock:
            self._seats.append(seat)
            self._assign()

    def leave(self, seat: Seat) -> None:
        with self._lock:
            self._seats.remove(seat)
            self._assign()

    def crowd(self) -> None:
        with self._lock:
            self._crowded_until = time.monotonic() + _CROWDED_FOR
            self._assign()

    def try_again(self) -> None:
        with self._lock:
            if self._two_each():
                self._assign()

    def _cores(self) -> list[int]:
        return sorted(set().union(*(seat.cores for seat in self._seats)))

    def _two_each(self) -> bool:
        known = multiprocessing.parent_process() is None and time.monotonic() > self._crowded_until
        return known and 2 * len(self._seats) <= len(self._cores())

    def _assign(self) -> None:
        """Worker processes know nothing of each other: their runs share cores, and begin at different ones."""
        cores, apart = self._cores(), self._two_each()
        for place, seat in enumerate(self._seats):
            first = os.getpid() + (2 * place if apart else place)
            seat.sit(cores[first % len(cores)], cores[(first + apart) % len(cores)])


_ROOM = _Room()
