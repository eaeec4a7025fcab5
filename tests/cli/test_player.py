"""The player of `watch` in a real terminal: keys typed through a pseudo-terminal, and what it leaves behind."""

import os
import re
import select
import signal
import subprocess
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals here", allow_module_level=True)
import fcntl
import pty
import struct
import termios

PLAY = """
import sys
from nematodebench.cli.player import can_play, play
assert can_play()
play(lambda moment, columns, lines: f"moment {moment} on {columns} x {lines}", 40, float(sys.argv[1]))
print("ended")
"""
SLOW = "0.5"
"""So slowly nothing moves by itself while a test types."""
PATIENCE = 60


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, speed):
        self.place, program = pty.openpty()
        self.resize(80, 24)
        self.before = termios.tcgetattr(self.place)
        self.seen = ""
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "", "LINES": ""}
        words = [sys.executable, "-c", PLAY, speed]
        self.process = subprocess.Popen(
            words, stdin=program, stdout=program, stderr=program, env=environment, start_new_session=True
        )
        os.close(program)

    def resize(self, columns, lines):
        fcntl.ioctl(self.place, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, pattern):
        """Reads until the pattern was shown; forgets what came before its end."""
        while (found := re.search(pattern, self.seen)) is None:
            ready, _, _ = select.select([self.place], [], [], PATIENCE)
            assert ready, f"{pattern} was not shown: {self.seen!r}"
            try:
                self.seen += os.read(self.place, 4096).decode()
            except OSError:
                raise AssertionError(f"it ended without {pattern}: {self.seen!r}") from None
        self.seen = self.seen[found.end() :]

    def type(self, keys):
        os.write(self.place, keys.encode())

    def ended(self):
        """Waits for the end; whether the terminal is as it was, and its own screen is shown again."""
        code = self.process.wait(PATIENCE)
        return code, termios.tcgetattr(self.place) == self.before

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.place)


@pytest.fixture
def terminal():
    made = []

    def start(speed=SLOW):
        made.append(Terminal(speed))
        made[-1].read("moment 0 on 80 x 23")
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_keys_that_are_typed_at_once_all_count(terminal):
    it = terminal()
    it.type(" nnnb")
    it.read("moment 2 ")
    it.read("2 of 39   paused")
    it.type("q")
    it.read("ended")
    assert it.ended() == (0, True)


def test_arrows_step_and_do_not_end_it(terminal):
    it = terminal()
    it.type("\x1b[C\x1b[C\x1bOC\x1b[D")
    it.read("moment 2 ")
    it.type("\x1b[A")
    it.type("n")
    it.read("moment 3 ")
    it.type("\x1b")
    it.read("ended")


def test_it_plays_to_the_end_and_begins_again(terminal):
    it = terminal("240")
    it.read("39 of 39")
    it.type(" ")
    it.read("moment 0 ")
    it.type("q")
    it.read("ended")


def test_it_follows_the_size_of_the_terminal_while_it_is_paused(terminal):
    it = terminal()
    it.type(" ")
    it.read("paused")
    it.resize(60, 20)
    it.read("moment 0 on 60 x 19")


def test_an_interruption_leaves_the_terminal_as_it_was(terminal):
    it = terminal()
    it.process.send_signal(signal.SIGINT)
    it.read(r"\x1b\[\?25h\x1b\[\?1049l")
    it.read("KeyboardInterrupt")
    code, same = it.ended()
    assert code != 0 and same


def test_a_terminal_that_went_away_ends_it(terminal):
    it = terminal()
    os.close(it.place)
    try:
        assert it.process.wait(PATIENCE) != 0
    finally:
        it.place = os.open(os.devnull, os.O_RDONLY)
