"""The memory that host and brain share, as arrays. It needs nothing but NumPy: the brain's side starts with it."""

import ctypes
import functools
import mmap
import os
import platform
from typing import Any

import numpy as np

__all__ = [
    "BRAIN_TURN", "COPY", "FUTEX", "HOST_TURN", "LOOK", "MEMORY", "RESTORE", "SLEEP", "WAIT", "WAKE", "WORDS", "YIELD",
    "YIELDS", "Bell", "Shared", "mapped", "shared_size",
]  # fmt: skip

HOST_TURN, BRAIN_TURN = 0, 1
MEMORY, COPY, RESTORE = 1, 2, 3
"""What the brain's process can be asked for: its memory's hash, to go on with a copy, to go back to what was copied."""
WORDS = ("turn", "learn", "begin", "episode", "request", "over", "way", "host_sleeps", "brain_sleeps")
"""The words of an agent's mailbox.

``turn`` says who works; ``learn`` and ``begin`` are notes for the brain; ``episode`` is the number of its random
stream; ``request`` asks for something that is no step; ``over`` tells the host that nobody will answer any more;
``way`` says how to wait; the last two say who sleeps, and has to be woken.
"""
SLEEP, LOOK, YIELD = 0, 1, 2
"""How a side waits for its turn. With a core of its own it looks; where both share a core that nobody else needs, it
lets the other go first, which takes half as long as to sleep and be woken; otherwise it sleeps."""
FUTEX, WAIT, WAKE = (98 if platform.machine() == "aarch64" else 202), 0, 1
"""The system call with which a process waits for a word to change, and two of its operations."""
YIELDS = 100
"""How often a side lets others go first before it sleeps; some 50 microseconds if there is nobody."""
FEEDBACK = ("terminated", "truncated", "reward")
_LINE = 64
_MESSAGE = 8192


def _padded(size: int) -> int:
    return -(-size // _LINE) * _LINE


def _places(agents: int, inputs: int, width: int) -> tuple[int, int, int]:
    """Where feedback, values and the message begin."""
    feedback = _padded(8 * agents * len(WORDS))
    values = _padded(feedback + 8 * agents * len(FEEDBACK))
    return feedback, values, _padded(values + 4 * agents * (2 * inputs + width))


def shared_size(agents: int, inputs: int, width: int) -> int:
    """Bytes that both sides need."""
    return _places(agents, inputs, width)[-1] + _MESSAGE


def mapped(descriptor: int, size: int) -> Any:
    """The memory behind a descriptor, which is not kept.

    A module of Python's would keep a copy of it, and the file behind it has a number that the whole machine counts.
    """
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    address = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "The shared memory cannot be had")
    os.close(descriptor)
    return (ctypes.c_char * size).from_address(address)


class Bell:
    """Wakes whoever waits for the turn in a mailbox, and waits for it; the kernels of the mailbox do the same."""

    def __init__(self, words: Any, sleeper: str, other: str) -> None:
        """For the side whose word is ``sleeper`` when it sleeps; ``other`` is that of the other side."""
        self._words = memoryview(words)
        self._turn, self._sleeper, self._other = (WORDS.index(name) for name in ("turn", sleeper, other))
        word = ctypes.c_void_p(words.ctypes.data)
        # To wake takes no time, so other threads need not be let in; to sleep does.
        self.wake = functools.partial(ctypes.PyDLL(None).syscall, FUTEX, word, WAKE, 1)
        self._wait = functools.partial(ctypes.CDLL(None).syscall, FUTEX, word, WAIT)
        self._at_most = ctypes.byref((ctypes.c_long * 2)(0, 20_000_000))

    def hand_over(self, turn: int) -> None:
        """Gives the turn to the other side, and wakes it if it sleeps."""
        words = self._words
        words[self._turn] = turn
        if words[self._other]:
            self.wake()

    def sleep_while(self, turn: int) -> None:
        """Sleeps for as long as the turn is this one, but not for long."""
        words = self._words
        words[self._sleeper] = 1
        self._wait(turn, self._at_most)
        words[self._sleeper] = 0


class Shared:
    """Mailboxes, feedback, observations and actions of all agents, one row each, and a place for a message.

    A row of ``values`` holds the observation, the next observation and the action.
    """

    def __init__(self, memory: Any, agents: int, inputs: int, width: int) -> None:
        feedback, values, message = _places(agents, inputs, width)
        self.words: Any = np.frombuffer(memory, np.int64, agents * len(WORDS)).reshape(agents, -1)
        self.feedback: Any = np.frombuffer(memory, np.float64, agents * len(FEEDBACK), feedback).reshape(agents, -1)
        count = agents * (2 * inputs + width)
        self.values: Any = np.frombuffer(memory, np.float32, count, values).reshape(agents, -1)
        self._message: Any = np.frombuffer(memory, np.uint8, _MESSAGE, message)

    def say(self, text: str) -> None:
        """Leaves a message for the other side."""
        content = text.encode("utf-8", "replace")[: _MESSAGE - 1]
        self._message[: len(content)] = np.frombuffer(content, np.uint8)
        self._message[len(content)] = 0

    def heard(self) -> str:
        """The message that the other side left; whatever it wrote there."""
        content: bytes = self._message.tobytes()
        return content.partition(b"\0")[0].decode("utf-8", "replace")
