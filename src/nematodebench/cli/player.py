"""Plays an episode in the terminal, with keys to pause, step, go back, change the speed and quit."""

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["can_play", "play"]

_KEYS = "space pause   ← → step   + - speed   q quit"
_FAST, _SLOW = 240.0, 0.5
_ARROWS = {"\x1b[C": "n", "\x1b[D": "b", "\x1bOC": "n", "\x1bOD": "b"}
"""What terminals send for the arrows to the right and to the left."""
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.S)
_LOOK = 0.25
"""Seconds after which a picture that stands still looks whether the terminal has another size."""


def can_play() -> bool:
    """Whether there is a terminal to play in."""
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "") != "dumb"


_Wait = Callable[[float, bool], list[str]]
"""Waits so many seconds for keys, and knows whether anything moves without one."""


def _wait_without_keys(seconds: float, still: bool) -> list[str]:
    time.sleep(max(seconds, 0.0))
    return ["q"] if still else []  # nobody can press a key at the end


@contextlib.contextmanager
def _keys() -> Iterator[_Wait]:
    """Gives a function that waits for keys: all that were pressed, in order, or none."""
    try:
        import select
        import termios
        import tty
    except ImportError:  # not a Unix terminal: it plays without keys
        yield _wait_without_keys
        return
    place = sys.stdin.fileno()
    before: Any = termios.tcgetattr(place)

    def wait(seconds: float, still: bool) -> list[str]:
        # The bytes are taken as they come: Python's own reader would keep what was typed quickly from select.
        ready, _, _ = select.select([place], [], [], max(seconds, 0.0))
        if not ready:
            return []
        typed = os.read(place, 1024)
        return _KEY.findall(typed.decode(errors="replace")) if typed else ["q"]

    try:
        tty.setcbreak(place)
        yield wait
    finally:
        termios.tcsetattr(place, termios.TCSADRAIN, before)


def play(draw: Callable[[int, int, int], str], count: int, speed: float) -> None:
    """Plays ``count`` moments; ``draw(moment, columns, lines)`` gives each as text."""
    sys.stdout.write("\x1b[?1049h\x1b[?25l")
    try:
        with _keys() as wait:
            _loop(draw, count, speed, wait)
    finally:
        sys.stdout.write("\x1b[0m\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()


@dataclass
class _Course:
    """Where the player is."""

    count: int
    speed: float
    at: int = 0
    paused: bool = False

    @property
    def still(self) -> bool:
        """Whether nothing moves until a key is pressed."""
        return self.paused or self.at == self.count - 1

    def press(self, key: str) -> None:
        """Does what a key asks for."""
        key = _ARROWS.get(key, key)
        if key == " ":
            ended = self.at == self.count - 1
            self.at, self.paused = (0, False) if ended else (self.at, not self.paused)
        elif key in {"n", "b"}:
            self.paused = True
            self.go(1 if key == "n" else -1)
        self.speed = min(max(self.speed * {"+": 1.5, "-": 1 / 1.5}.get(key, 1.0), _SLOW), _FAST)

    def go(self, steps: int) -> None:
        """Goes on, or back."""
        self.at = min(max(self.at + steps, 0), self.count - 1)

    def status(self, columns: int) -> str:
        """The line below the picture."""
        speed = "paused" if self.paused else f"{self.speed:.3g} steps a second"
        return f"{self.at} of {self.count - 1}   {speed}   {_KEYS}"[: columns - 1]


def _loop(draw: Callable[[int, int, int], str], count: int, speed: float, wait: _Wait) -> None:
    course, shown = _Course(count, speed), None
    while True:
        began, size = time.monotonic(), shutil.get_terminal_size()
        now = (course.at, course.paused, course.speed, size)
        if now != shown:
            text = draw(course.at, size.columns, size.lines - 1)
            # Each line erases what is left of the one before it; erasing all first would flicker.
            whole = f"{text}\n{course.status(size.columns)}".replace("\n", "\x1b[K\n")
            sys.stdout.write(f"\x1b[H{whole}\x1b[K\x1b[J")
            sys.stdout.flush()
            shown = now
        left = _LOOK if course.still else 1.0 / course.speed - (time.monotonic() - began)
        keys = wait(left, course.still)
        for key in keys:
            if key in {"q", "\x1b"}:
                return
            course.press(key)
        if not keys and not course.still:
            course.go(1)
