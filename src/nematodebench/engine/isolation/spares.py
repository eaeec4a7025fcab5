"""Processes that are started before they are needed.

The start of a brain's process takes longer than many a run. Every run has a process of its own, which has served nobody
before; but while one run goes on, the process of the next one starts, imports its libraries and the brain, and waits.
"""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from nematodebench.brains.base import Interface
from nematodebench.engine.isolation.nest import Nest
from nematodebench.engine.isolation.process import Foreign, Process, nest_of

__all__ = ["announced", "take"]

_Key: TypeAlias = tuple[Interface, int]


class _Spares:
    """Processes of one brain that wait for a run.

    One thread starts them all: the system ends a process when the thread that started it is gone.
    """

    def __init__(self, brain: Foreign, runs: int) -> None:
        self._brain, self._left = brain, runs
        self._nest: Nest | None = None
        self._lock = threading.Lock()
        self._waiting: dict[_Key, list[Future[Process]]] = {}
        self._starter = ThreadPoolExecutor(1)
        self._starter.submit(int).result()  # the thread begins here, where it may use all cores

    def _start(self, body: Interface, agents: int) -> Future[Process]:
        return self._starter.submit(self._split, body, agents)

    def _split(self, body: Interface, agents: int) -> Process:
        if self._nest is None:
            self._nest = nest_of(self._brain)
        return Process(self._brain, body, agents, self._nest)

    def take(self, body: Interface, agents: int) -> Process:
        """The process that waits, or a new one; the next is started if another run is to come."""
        with self._lock:
            waiting = self._waiting.setdefault((body, agents), [])
            taken = waiting.pop() if waiting else self._start(body, agents)
            self._left -= 1
            if self._left > sum(map(len, self._waiting.values())):
                waiting.append(self._start(body, agents))
        return taken.result()

    def end(self) -> None:
        """Ends those that nobody took."""
        with self._lock:
            left = [process for waiting in self._waiting.values() for process in waiting]
            self._waiting, self._left = {}, 0
        for process in left:
            if process.exception() is None:
                process.result().end()
        if self._nest is not None:
            self._nest.end()  # before the thread that started it is gone
        self._starter.shutdown()


_SPARES: dict[Foreign, _Spares] = {}


@contextlib.contextmanager
def announced(brain: Foreign, runs: int) -> Iterator[None]:
    """While this lasts, processes are started ahead for as many runs; those that nobody took are ended with it."""
    before, spares = _SPARES.get(brain), _Spares(brain, runs)
    _SPARES[brain] = spares
    try:
        yield
    finally:
        if before is None:
            del _SPARES[brain]
        else:
            _SPARES[brain] = before
        spares.end()


def take(brain: Foreign, body: Interface, agents: int) -> Process:
    """A process for one run, which was started ahead if the run was announced."""
    spares = _SPARES.get(brain)
    return Process(brain, body, agents) if spares is None else spares.take(body, agents)
