"""How long a run may take. One that takes longer has failed, and the others go on.

A run looks at its control at every step, so a timer is enough for everything that comes back from a step. What never
does, a Python brain that waits for ever, ends with its process, if it has one of its own.
"""

import contextlib
import faulthandler
import os
import threading
from collections.abc import Iterator, Sequence

from nematodebench.engine.loop import TIME_IS_UP, Control
from nematodebench.engine.spec import RunSpec

__all__ = ["GRACE", "ends_the_process", "late", "time_limit"]

GRACE = 2.0
"""Seconds that a run has for seeing that its time is up, before its process is ended."""


def late(seconds: float) -> str:
    """What is said of a run that took too long."""
    return f"the run took longer than the {seconds:g} s that it may take (--timeout)"


@contextlib.contextmanager
def time_limit(seconds: float | None, controls: Sequence[Control]) -> Iterator[None]:
    """Has runs stop when they have taken so long; None for never."""
    if seconds is None:
        yield
        return

    def expire() -> None:
        for control in controls:
            control.stop = control.stop or TIME_IS_UP

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def ends_the_process(runs: Sequence[RunSpec]) -> Iterator[None]:
    """Ends this process if it is still at these runs when they have had their time and some more.

    It need not be able to execute Python any more: the watchdog is one of the system's threads.
    """
    seconds = runs[0].limit
    if seconds is None:
        yield
        return
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123  (no path of a user's)
        faulthandler.dump_traceback_later(seconds * len(runs) + GRACE, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
