"""Shows how far a session is: runs done, failed and left, time left, steps a second. Silent without a terminal."""

import contextlib
import sys
import threading
from collections.abc import Iterator

from nematodebench.sessions.execution import Progress

__all__ = ["show_progress"]


@contextlib.contextmanager
def show_progress(progress: Progress, label: str, quiet: bool = False) -> Iterator[None]:
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
        line = bar.add_task(label, total=None, note="compiling")
        ended = threading.Event()

        def refresh() -> None:
            while not ended.wait(0.1):
                bar.update(line, total=progress.total or None, completed=progress.done, note=_note(progress))

        thread = threading.Thread(target=refresh, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _note(progress: Progress) -> str:
    failed = f"[red]{progress.failed} failed[/red] " if progress.failed else ""
    rate = progress.steps_per_second()
    return f"{failed}{rate / 1000:.0f}k steps/s" if rate else f"{failed}starting"
