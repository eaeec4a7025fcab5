"""Limits of memory and time within which a submission is read, so that none of them takes a machine with it."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from nematodebench.errors import UsageError

__all__ = ["MEMORY", "SECONDS", "limited"]

MEMORY = 4 << 30
SECONDS = 120.0


@contextlib.contextmanager
def limited(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Whatever happens inside may take this much time, and this much memory more than the process has already.

    Raises:
        UsageError: It takes more.
    """
    if os.name != "posix":  # other systems know no such limits
        yield
        return
    try:
        with _limited_memory(memory), _limited_time(seconds):
            yield
    except MemoryError as error:
        raise UsageError(f"It asks for more than the {memory >> 30} GiB of memory a submission may use.") from error


@contextlib.contextmanager
def _limited_memory(memory: int) -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([_in_use() + memory, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _in_use() -> int:
    """Bytes of the process's address space; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


@contextlib.contextmanager
def _limited_time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is told of signals; the board judges in a child that it watches anyway
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise UsageError(f"It takes more than the {seconds:g} s that a submission may take to be read.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again and again, however many checks are left
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
