"""One hash of everything in a folder, and a child process that computes it for many folders ahead of time.

Executed as a program, this file is that child: it reads names of folders and writes their hashes, line by line. It
imports only what comes with Python, so that it starts at once.
"""

import contextlib
import hashlib
import os
import queue
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import BinaryIO

__all__ = ["MAX_TABLE", "PLAIN", "Ahead", "folder_hash"]

MAX_TABLE = 200_000_000
PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file of somebody else is opened: no link is followed, and no pipe is waited for."""
_MOST_FILES = 100
"""A folder of a session holds three files, and that of a bundle a few more."""
_PART = 1 << 20


def folder_hash(folder: str) -> str:
    """One hash of all names and files in a folder; OSError or ValueError where it is not one of plain files."""
    place = os.open(folder, PLAIN | os.O_DIRECTORY)
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries)
        if len(names) > _MOST_FILES:
            raise ValueError(f"{folder} holds too many files.")
        digest = hashlib.sha256()
        for name in names:
            _add_file(digest, name, place)
        return digest.hexdigest()
    finally:
        os.close(place)


def _add_file(digest: "hashlib._Hash", name: str, folder: int) -> None:
    """Adds a plain file in an open folder to a hash, with its name and size; it is one file of one place."""
    handle = os.open(name, PLAIN, dir_fd=folder)
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1 or state.st_size > MAX_TABLE:
            raise ValueError(f"{name} is not a plain file of a session.")
        digest.update(os.fsencode(name) + b"\0%d\0" % state.st_size)
        left, part = state.st_size, b"-"
        while part and left >= 0:
            wanted = min(left + 1, _PART)
            part = os.read(handle, wanted)
            digest.update(part)
            left -= len(part)
            if not left and len(part) < wanted:  # that was the end of the file
                return
        raise ValueError(f"{name} changes while it is read.")
    finally:
        os.close(handle)


class Ahead:
    """Hashes of folders that a child process computes while this one does something else.

    Whoever asks for a folder that was not announced, or whose child has ended, is told nothing and computes it.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._lost = False
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._waiting: set[str] = set()
        self._found: dict[str, str] = {}

    def announce(self, folders: Sequence[str]) -> None:
        """Says which folders, given by absolute paths, will be asked for."""
        if self._lost:
            return
        try:
            child = self._child = self._child or self._start()
            assert child.stdin is not None
            child.stdin.write(b"".join(os.fsencode(folder) + b"\n" for folder in folders))
            self._waiting.update(folders)
        except OSError:  # without a child nothing is found ahead of time
            self._lost = True

    def all_announced(self) -> None:
        """Gives the child the last ones, after which it ends."""
        if self._child is not None and self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()

    def find(self, folder: str) -> str | None:
        """The hash of a folder, once; None where the child has none."""
        while folder in self._waiting:
            answer = self._answers.get()
            if not answer:
                self._waiting.clear()
                return None
            name, _, digest = answer.rstrip(b"\n").rpartition(b" ")
            self._waiting.discard(os.fsdecode(name))
            self._found[os.fsdecode(name)] = digest.decode()
        return self._found.pop(folder, None) or None

    def close(self) -> None:
        """Ends the child."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self.all_announced()
            self._child = None

    def _start(self) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-I", "-S", __file__]
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", pipesize=_PART
        )
        threading.Thread(target=_pass_on, args=(child.stdout, self._answers), daemon=True).start()
        return child


def _pass_on(answers: BinaryIO, to: "queue.SimpleQueue[bytes]") -> None:
    """Takes what the child writes, so that it never waits; an empty line says that it has ended."""
    try:
        with answers:
            for line in answers:
                to.put(line)
    finally:
        to.put(b"")


def main() -> None:
    """The child: every line names a folder; its answer is the name and the hash, or nothing instead of a hash."""
    for line in sys.stdin.buffer:
        folder = line.rstrip(b"\n")
        try:
            found = folder_hash(os.fsdecode(folder))
        except (OSError, ValueError):
            found = ""
        sys.stdout.buffer.write(folder + b" " + found.encode() + b"\n")


if __name__ == "__main__":
    main()
