"""The process of a foreign brain: how it is started, what it is given, and what it leaves behind."""

import contextlib
import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from nematodebench.brains.base import Interface
from nematodebench.engine.isolation import sandbox
from nematodebench.engine.isolation.shared import Shared, shared_size
from nematodebench.records.plain_text import plain

__all__ = ["Foreign", "IsolationError", "Process", "prepare"]

_ARCHIVE = "compiled.tar"
_START = "nematodebench.engine.isolation.child"


class IsolationError(Exception):
    """The brain's process did not answer."""


@dataclass(frozen=True)
class Foreign:
    """A brain that is not part of this installation, and how it is run.

    Attributes:
        where: ``module:Class``, or ``path/to/file.py:Class``.
        readable: Its own files and folders; nothing else of the user's is visible to it.
        limits: What it may use in one run.
        seconds: How long a run may take.
        cache: Folder for the brain's compiled code, in an archive that only the brain's processes open.
        trusted: Whether it runs in a process of its own without a sandbox.
    """

    where: str
    readable: tuple[Path, ...] = ()
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)
    seconds: float = 3600.0
    cache: Path | None = None
    trusted: bool = False


class Process:
    """A process in the sandbox with memory that it shares with the host. It waits for the run that it is to serve."""

    def __init__(self, brain: Foreign, body: Interface, agents: int, archive: IO[bytes] | None = None) -> None:
        """Starts it; with an archive it only compiles, and writes there what it has compiled."""
        size = shared_size(agents, body.inputs, body.action_width)
        descriptor = os.memfd_create("exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        _seal(descriptor)
        self.shared = Shared(mmap.mmap(descriptor, size), agents, body.inputs, body.action_width)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        prepared = _prepared(brain) if archive is None else None
        given = {"brain": brain.where, "agents": agents, "width": body.action_width, "size": size, "body": asdict(body)}
        given |= {"prepare": archive is not None, "keep": not brain.trusted, "prepared": prepared is not None}
        os.set_inheritable(descriptor, True)
        seccomp = sandbox.sealed_filter()
        inner = [sys.executable, "-P", "-s", "-m", _START, str(descriptor)]
        if brain.trusted:
            words, env = inner, sandbox.plain_environment(brain.cache)
        else:
            words, env = sandbox.command(inner, brain.readable, brain.limits, seccomp, prepared), {}
        try:
            self.popen = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=archive or subprocess.DEVNULL, stderr=self.errors, env=env,
                cwd="/", pass_fds=(descriptor, seccomp), process_group=0,
            )  # fmt: skip
        finally:
            os.close(seccomp)
            os.close(descriptor)
        self._write(given)

    def _write(self, what: dict[str, Any]) -> None:
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is gone, and whoever waits for it is told so
            self.popen.stdin.write(json.dumps(what).encode() + b"\n")
            self.popen.stdin.flush()

    def begin(self, config: dict[str, Any], seed: int) -> None:
        """Tells it the run that it serves, which is the only one."""
        self._write({"config": config, "seed": seed})
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.close()

    def kill(self) -> None:
        """Kills the brain and what holds its sandbox; a brain that is killed with nobody's help outlives its run."""
        inside = self.number()
        with contextlib.suppress(OSError):  # it is gone already
            os.kill(inside, signal.SIGKILL)
        self.popen.kill()
        self.popen.wait()

    def end(self) -> None:
        """Ends it, whatever it does."""
        self.kill()
        self.errors.close()
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.close()

    def number(self) -> int:
        """The system's number of the process that the brain is in: the innermost of those that hold the sandbox."""
        found = self.popen.pid
        while True:
            try:
                inside = Path(f"/proc/{found}/task/{found}/children").read_text().split()
            except OSError:
                return found
            if not inside:
                return found
            found = int(inside[0])

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
        self.errors.seek(0)
        last = self.errors.read(20_000).decode("utf-8", "replace").strip().splitlines()
        detail = f": {plain(last[-1])}" if last else ""
        return f"the brain's process ended with code {self.popen.returncode}{detail}"


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
            _compiled(Process(brain, body, 1, archive), brain.seconds)
            Path(archive.name).replace(brain.cache / _ARCHIVE)
        finally:
            Path(archive.name).unlink(missing_ok=True)


def _compiled(process: Process, seconds: float) -> None:
    """Waits until a process has compiled its brain."""
    try:
        process.popen.wait(seconds)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise IsolationError(f"the brain took more than {seconds:g} s to compile") from error
    if process.popen.returncode != 0:
        raise IsolationError(process.last_words())


def _prepared(brain: Foreign) -> Path | None:
    """The archive of a brain's compiled code, if there is anything in it."""
    path = None if brain.cache is None or brain.trusted else brain.cache / _ARCHIVE
    return path if path is not None and path.is_file() and path.stat().st_size > 0 else None


def _seal(descriptor: int) -> None:
    """Keeps the other side from making the memory smaller, which would kill the host where it reads."""
    import fcntl

    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
