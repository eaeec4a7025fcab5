"""Shows what is compiled, and how far a session is: its runs, the time left, steps a second, how current runs do.

A terminal shows it all the time. Where there is none, there is one plain line for each function that is compiled, and a
long session writes a line now and then.
"""

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from nematodebench.notices import listening

if TYPE_CHECKING:
    from rich.table import Table

    from nematodebench.sessions.execution import Progress

__all__ = ["counts", "duration", "live_view", "number", "pace", "plain_notices", "show_progress"]

_SECONDS = 30.0
"""Between two lines where there is no terminal."""
_A_SECOND = 4
"""How often a terminal is written to."""


@contextlib.contextmanager
def plain_notices() -> Iterator[None]:
    """Prints what is told, and warnings, each as one line beside the results, while the block runs."""
    with listening(_print_notice), warnings.catch_warnings():
        warnings.showwarning = lambda message, category, *where, **more: _print_warning(message, *where)
        yield


def _print_warning(message: Warning | str, file: str, line: int, *_: Any) -> None:
    from nematodebench.cli.printing import printable
    from nematodebench.imports import warned

    _print_notice(printable(warned(message, file, line)))


def _print_notice(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more
        print(f"nematodebench: {text}", file=sys.stderr)


@contextlib.contextmanager
def show_progress(progress: "Progress", label: str, quiet: bool = False) -> Iterator[None]:
    """Shows ``progress`` while the block runs."""
    if quiet:
        yield
        return
    progress.shown = True
    with _on_terminal(progress, label) if sys.stderr.isatty() else _now_and_then(progress, label):
        yield


@contextlib.contextmanager
def _now_and_then(progress: "Progress", label: str) -> Iterator[None]:
    from nematodebench.cli.show import printable

    ended = threading.Event()

    def write() -> None:
        while not ended.wait(_SECONDS):
            if not progress.total:  # every function that is compiled has a line of its own
                continue
            print(printable(f"{label}: {counts(progress)}, {pace(progress)}"), file=sys.stderr, flush=True)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def _on_terminal(progress: "Progress", label: str) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    console, told = Console(stderr=True), ["compiling"]
    shown = partial(live_view, progress, label, told)
    with (
        listening(told.append),
        Live(get_renderable=shown, console=console, refresh_per_second=_A_SECOND, transient=True),
    ):
        yield


def live_view(progress: "Progress", label: str, told: Sequence[str] = ("compiling",)) -> "Table":
    """Two lines: a bar with the runs, and the pace."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from nematodebench.cli.show import printable

    first = Table.grid(padding=(0, 1), expand=True)
    first.add_column(no_wrap=True, overflow="ellipsis", max_width=36)
    first.add_column(ratio=1)
    said = counts(progress, told)
    first.add_column(no_wrap=True, min_width=len(said))
    bar = ProgressBar(total=progress.total or None, completed=progress.done + progress.under_way())
    first.add_row(Text(printable(label)), bar, Text(said, style="red" if progress.failed else ""))
    both = Table.grid(expand=True)
    both.add_column(no_wrap=True, overflow="ellipsis")
    both.add_row(first)
    both.add_row(Text(pace(progress), style="dim"))
    return both


def counts(progress: "Progress", told: Sequence[str] = ("compiling",)) -> str:
    """Runs done, failed and left; before the first one begins, what was told last."""
    if not progress.total:
        return told[-1]
    failed = f"{progress.failed} failed, " if progress.failed else ""
    return f"{progress.done}/{progress.total} runs, {failed}{progress.total - progress.done} left"


def pace(progress: "Progress") -> str:
    """Steps a second, time left, and the last episodes of the runs that go on."""
    if not progress.total:
        return ""
    from nematodebench.sessions.execution import LAST_EPISODES

    rate, left = progress.steps_per_second(), progress.seconds_left()
    parts = [f"{number(rate)} steps/s" if rate else "starting"]
    if left is not None:
        parts.append(f"{duration(left)} left")
    current = list(progress.current.values())
    if current:
        rewards = [one.reward for one in current]
        successes = [one.success for one in current if one.success is not None]
        success = f", success {sum(successes) / len(successes):.2f}" if successes else ""
        runs = f"{len(current)} run{'s' if len(current) > 1 else ''} now"
        parts.append(f"{runs}: reward {sum(rewards) / len(rewards):.2f}{success} (last {LAST_EPISODES} episodes)")
    return " · ".join(parts)


def number(value: float) -> str:
    """Two or three digits: 850, 4.4k, 238k, 1.7M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.{1 if value < 10 * size else 0}f}{unit}"
    return f"{value:.0f}"


def duration(seconds: float) -> str:
    """As people say it: 5 s, 3 min 20 s, 2 h 15 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
