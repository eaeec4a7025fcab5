"""Shows what is compiled, and how far a session is: runs done, failed and left, time left, steps a second.

Without a terminal there is one plain line for each function that is compiled, and nothing else.
"""

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nematodebench.notices import listening

if TYPE_CHECKING:
    from nematodebench.sessions.execution import Progress

__all__ = ["plain_notices", "show_progress"]


@contextlib.contextmanager
def plain_notices() -> Iterator[None]:
    """Prints what is told, and warnings, each as one line beside the results, while the block runs."""
    with listening(_print_notice), warnings.catch_warnings():
        warnings.showwarning = lambda message, *where, **more: _print_notice(str(message))
        yield


def _print_notice(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more
        print(f"nematodebench: {text}", file=sys.stderr)


@contextlib.contextmanager
def show_progress(progress: "Progress", label: str, quiet: bool = False) -> Iterator[None]:
    """Shows ``progress`` on the terminal while the block runs."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} runs"))
    columns2 = (TextColumn("{task.fields[note]}"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Bar(*columns, *columns2, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(label, total=None, note="starting")
        ended, told = threading.Event(), ["starting"]

        def refresh() -> None:
            while not ended.wait(0.1):
                note = _note(progress) if progress.total else told[-1]
                bar.update(line, total=progress.total or None, completed=progress.done, note=note)

        thread = threading.Thread(target=refresh, daemon=True)
        thread.start()
        try:
            with listening(told.append):
                yield
        finally:
            ended.set()
            thread.join()


def _note(progress: "Progress") -> str:
    failed = f"[red]{progress.failed} failed[/red] " if progress.failed else ""
    rate = progress.steps_per_second()
    return f"{failed}{rate / 1000:.0f}k steps/s" if rate else f"{failed}starting"
