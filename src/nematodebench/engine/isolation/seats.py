"""One core for a run and its brain.

Two processes that take turns lose most of their time if they wake each other across cores.
"""

import os
import threading
from collections import Counter

__all__ = ["Seat"]

_LOCK = threading.Lock()
_TAKEN: Counter[int] = Counter()


class Seat:
    """Keeps the calling thread, and the processes that it starts, on the core that has fewest runs."""

    def __init__(self) -> None:
        self._before = os.sched_getaffinity(0)
        with _LOCK:
            # Worker processes count each for itself, so they begin at different cores.
            cores = sorted(self._before, key=lambda core: (_TAKEN[core], (core + os.getpid()) % len(self._before)))
            self._core = cores[0]
            _TAKEN[self._core] += 1
        os.sched_setaffinity(0, {self._core})

    def leave(self) -> None:
        """Lets the thread go wherever it could go before."""
        with _LOCK:
            _TAKEN[self._core] -= 1
        os.sched_setaffinity(0, self._before)
