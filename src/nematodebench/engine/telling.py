"""A worker process tells the process of the session from time to time what can be seen of its runs."""

import contextlib
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection

from nematodebench.engine.watching import Rows, Told, Watch

__all__ = ["tell"]

_SECONDS = 0.2


@contextlib.contextmanager
def tell(connection: Connection) -> Iterator[Watch]:
    """A watch whose episodes and steps are sent a few times a second while the block runs, and once after it."""
    watch, found = Watch(), list[Rows]()
    watch.listener = found.append
    ended = threading.Event()

    def send() -> None:
        watch.look()
        connection.send(Told(list(found), watch.steps()))
        found.clear()

    def now_and_then() -> None:
        with contextlib.suppress(OSError):  # nobody is there any more: the process is about to end
            while not ended.wait(_SECONDS):
                send()

    thread = threading.Thread(target=now_and_then, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()
        send()
