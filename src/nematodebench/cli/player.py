"""Plays an episode in the terminal, with keys to pause, step, go back, change the speed and quit."""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["can_play", "play"]

_KEYS = "space pause   n next   b back   + faster   - slower   q quit"
_FAST, _SLOW = 240.0, 0.5


def can_play() -> bool:
    """Whether there is a terminal to play in."""
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "") != "dumb"


def _wait_without_keys(seconds: float) -> str:
    time.sleep(min(max(seconds, 0.0), 1.0))
    return "q" if seconds > 60.0 else ""  # nobody can press a key at the end


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Gives a function that waits for a key: what was pressed, or nothing."""
    try:
        import select
        import termios
        import tty
    except ImportError:  # not a Unix terminal: it plays without keys
        yield _wait_without_keys
        return
    before: Any = termios.tcgetattr(sys.stdin)

    def wait(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], max(seconds, 0.0))
        return sys.stdin.read(1) if ready else ""

    try:
        tty.setcbreak(sys.stdin)
        yield wait
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def play(draw: Callable[[int, int, int], str], count: int, speed: float) -> None:
    """Plays ``count`` moments; ``draw(moment, columns, lines)`` gives each as text."""
    sys.stdout.write("\x1b[?1049h\x1b[?25l")
    try:
        with _keys() as wait:
            _loop(draw, count, speed, wait)
    finally:
        sys.stdout.write("\x1b[0m\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()


def _loop(draw: Callable[[int, int, int], str], count: int, speed: float, wait: Callable[[float], str]) -> None:
    at, paused = 0, False
    while True:
        size = shutil.get_terminal_size()
        began = time.monotonic()
        status = f"{at} of {count - 1}   {'paused' if paused else f'{speed:g} steps a second'}   {_KEYS}"
        text = draw(at, size.columns, size.lines - 2)
        sys.stdout.write(f"\x1b[H\x1b[2J{text}\n{status[: size.columns - 1]}")
        sys.stdout.flush()
        ended = at == count - 1
        key = wait(3600.0 if paused or ended else 1.0 / speed - (time.monotonic() - began))
        if key in {"q", "\x1b"}:
            return
        paused = not paused if key == " " else paused or key in {"n", "b"}
        speed = min(max(speed * {"+": 1.5, "-": 1 / 1.5}.get(key, 1.0), _SLOW), _FAST)
        moves = {"n": 1, "b": -1, "": 0 if paused or ended else 1}
        at = min(max(at + moves.get(key, 0), 0), count - 1)
