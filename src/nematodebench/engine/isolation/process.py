"""The process of a foreign brain: how it is started, what it is given, and what it leaves behind."""

import contextlib
import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from nematodebench.brains.base import Interface
from nematodebench.engine.isolation.foreign import Foreign
from nematodebench.engine.isolation.nest import Nest
from nematodebench.engine.isolation.shared import Shared, shared_size
from nematodebench.records.plain_text import plain

__all__ = ["Foreign", "IsolationError", "Process", "nest_of", "prepare"]

_ARCHIVE = "compiled.tar"
_CREDENTIALS = struct.Struct("3i")


class IsolationError(Exception):
    """The brain's process did not answer."""


class Process:
    """A process in the sandbox with memory that it shares with the host. It waits for the run that it is to serve.

    Attributes:
        number: The system's number of it; -1 if it never was there.
        returncode: What it ended with; None while it is there.
    """

    def __init__(
        self, brain: Foreign, body: Interface, agents: int, nest: Nest | None = None, archive: IO[bytes] | None = None
    ) -> None:
        """Splits it off; with an archive it only compiles, and writes there what it has compiled."""
        self._own = nest is None
        self._nest = nest_of(brain, fresh=archive is not None) if nest is None else nest
        self._lock = threading.Lock()
        self.returncode: int | None = None
        self._handle: int | None = None
        size = shared_size(agents, body.inputs, body.action_width)
        descriptor = os.memfd_create("exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        _seal(descriptor)
        self.shared = Shared(mmap.mmap(descriptor, size), agents, body.inputs, body.action_width)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        read, write = os.pipe()
        self._input = os.fdopen(write, "wb")
        with Path(os.devnull).open("wb") as nowhere:
            output = nowhere if archive is None else archive
            self._nest.split((read, output.fileno(), self.errors.fileno(), descriptor, theirs.fileno()))
        for given_away in (read, descriptor, theirs.detach()):
            os.close(given_away)
        given = {"brain": brain.where, "agents": agents, "width": body.action_width, "size": size, "body": asdict(body)}
        prepared = archive is None and _prepared(brain) is not None
        self._write(given | {"prepare": archive is not None, "keep": not brain.trusted, "prepared": prepared})
        self.number = self._began()

    def _began(self) -> int:
        """Waits until the process is there; whose word it is tells the system."""
        word, about, _, _ = self._status.recvmsg(16, socket.CMSG_SPACE(_CREDENTIALS.size))
        if word != b"here":
            return -1
        number: int = _CREDENTIALS.unpack(about[0][2])[0]
        with contextlib.suppress(OSError):  # it is gone already, or the system knows no handles
            self._handle = os.pidfd_open(number)
        return number

    def _write(self, what: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # it is gone, and whoever waits for it is told so
            self._input.write(json.dumps(what).encode() + b"\n")
            self._input.flush()

    def begin(self, config: dict[str, Any], seed: int) -> None:
        """Tells it the run that it serves, which is the only one."""
        self._write({"config": config, "seed": seed})
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def wait(self, seconds: float | None) -> bool:
        """Waits for its end, for at most so long; whether it is over."""
        with self._lock:
            if self.returncode is None and select.select([self._status], [], [], seconds)[0]:
                word = self._status.recv(16)
                self.returncode = int(word) if word else -signal.SIGKILL
            return self.returncode is not None

    def kill(self) -> None:
        """Kills it, whatever it does, and waits until it is gone."""
        if self.number > 0 and not self.wait(0.0):
            with contextlib.suppress(OSError):  # it is gone already
                if self._handle is None:
                    os.kill(self.number, signal.SIGKILL)
                else:
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        self.wait(None)

    def end(self) -> None:
        """Ends it, and the place that it came from if that was for it alone."""
        self.kill()
        for opened in (self.errors, self._status, self._input):
            with contextlib.suppress(BrokenPipeError):
                opened.close()
        if self._handle is not None:
            os.close(self._handle)
        if self._own:
            self._nest.end()

    def message(self) -> dict[str, Any]:
        """What the process left; empty where it is nothing that makes sense."""
        try:
            content = json.loads(self.shared.heard())
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def last_words(self) -> str:
        """Why it ended, in its own words or in those of the system."""
        error = self.message().get("error")
        if isinstance(error, str):
            return plain(error)
        source, code = self._nest.last_words() or (self.errors, self.returncode)
        source.seek(0)
        last = source.read(20_000).decode("utf-8", "replace").strip().splitlines()
        detail = f": {plain(last[-1])}" if last else ""
        return f"the brain's process ended with code {code}{detail}"


def nest_of(brain: Foreign, *, fresh: bool = False) -> Nest:
    """A place that a brain's processes are split off from. They see what it has compiled, unless it is fresh."""
    return Nest(brain, None if fresh else _prepared(brain))


def prepare(brain: Foreign, body: Interface) -> None:
    """Lets a brain compile what it needs, once, before any run: runs then read it and cannot change it.

    The brain has no folder of the host's to write to. It writes one archive, whose size is limited as that of every
    file is, and the host keeps it as it is.
    """
    if brain.cache is None or (brain.cache / _ARCHIVE).is_file():
        return
    brain.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=brain.cache, delete=False) as archive:
        try:
            _compiled(Process(brain, body, 1, archive=archive), brain.seconds)
            Path(archive.name).replace(brain.cache / _ARCHIVE)
        finally:
            Path(archive.name).unlink(missing_ok=True)


def _compiled(process: Process, seconds: float) -> None:
    """Waits until a process has compiled its brain."""
    try:
        if not process.wait(seconds):
            raise IsolationError(f"the brain took more than {seconds:g} s to compile")
        if process.returncode != 0:
            raise IsolationError(process.last_words())
    finally:
        process.end()


def _prepared(brain: Foreign) -> Path | None:
    """The archive of a brain's compiled code, if there is anything in it."""
    path = None if brain.cache is None or brain.trusted else brain.cache / _ARCHIVE
    return path if path is not None and path.is_file() and path.stat().st_size > 0 else None


def _seal(descriptor: int) -> None:
    """Keeps the other side from making the memory smaller, which would kill the host where it reads."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
