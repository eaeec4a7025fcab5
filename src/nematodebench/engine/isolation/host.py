"""The host's side of an isolated run: starts the brain's process, shares memory with it and watches that it lives."""

import contextlib
import copy
import json
import math
import mmap
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from nematodebench.brains.base import Interface, nothing
from nematodebench.engine import loop
from nematodebench.engine.isolation import sandbox
from nematodebench.engine.isolation.mailbox import stubs
from nematodebench.engine.isolation.seats import Seat
from nematodebench.engine.isolation.shared import (
    BRAIN_TURN,
    COPY,
    HOST_TURN,
    MEMORY,
    RESTORE,
    WORDS,
    Bell,
    Shared,
    shared_size,
)
from nematodebench.records.memory_hash import memory_kind
from nematodebench.records.plain_text import plain

__all__ = ["STOPPED", "Foreign", "IsolatedBrains", "IsolationError", "prepare"]

_TURN, _REQUEST, _OVER = (WORDS.index(name) for name in ("turn", "request", "over"))
STOPPED = "the brain's process was stopped"
"""How the failure of a run begins that took more than its time."""
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


class _Process:
    """A process in the sandbox with memory that it shares with the host."""

    def __init__(
        self, brain: Foreign, plan: dict[str, Any], body: Interface, agents: int, archive: IO[bytes] | None = None
    ) -> None:
        """Starts it; with an archive it only compiles, and writes there what it has compiled."""
        size = shared_size(agents, body.inputs, body.action_width)
        descriptor = os.memfd_create("exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        _seal(descriptor)
        self.shared = Shared(mmap.mmap(descriptor, size), agents, body.inputs, body.action_width)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        prepared = _prepared(brain) if archive is None else None
        given = {**plan, "agents": agents, "width": body.action_width, "size": size, "body": asdict(body)}
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
                cwd="/", pass_fds=(descriptor, seccomp),
            )  # fmt: skip
        finally:
            os.close(seccomp)
            os.close(descriptor)
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.write(json.dumps(given).encode() + b"\n")
            self.popen.stdin.close()

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
    plan = {"brain": brain.where, "config": {}, "seed": 0}
    with tempfile.NamedTemporaryFile(dir=brain.cache, delete=False) as archive:
        try:
            _compiled(_Process(brain, plan, body, 1, archive), brain.seconds)
            Path(archive.name).replace(brain.cache / _ARCHIVE)
        finally:
            Path(archive.name).unlink(missing_ok=True)


def _compiled(process: _Process, seconds: float) -> None:
    """Waits until a process has compiled its brain."""
    try:
        process.popen.wait(seconds)
    except subprocess.TimeoutExpired as error:
        process.popen.kill()
        process.popen.wait()
        raise IsolationError(f"the brain took more than {seconds:g} s to compile") from error
    if process.popen.returncode != 0:
        raise IsolationError(process.last_words())


def _prepared(brain: Foreign) -> Path | None:
    """The archive of a brain's compiled code, if there is anything in it."""
    path = None if brain.cache is None or brain.trusted else brain.cache / _ARCHIVE
    return path if path is not None and path.is_file() and path.stat().st_size > 0 else None


class IsolatedBrains:
    """One run of a foreign brain in a process of its own. Its arrays are what the run loop takes for a brain's."""

    def __init__(
        self, brain: Foreign, config: dict[str, Any], body: Interface, seed: int, agents: int, learning: bool
    ) -> None:
        self._brain, self._why = brain, ""
        self._seat = Seat()  # the process starts on the same core
        plan = {"brain": brain.where, "config": config, "seed": seed}
        try:
            self._process = _Process(brain, plan, body, agents)
        except BaseException:
            self._seat.leave()
            raise
        self.shared = self._process.shared
        self.hyper, self.ints = np.zeros(1), self.shared.words
        self.mem, self.out = self.shared.values, self.shared.feedback
        begin, act, learn = stubs()
        self.functions = (begin, act, learn if learning else nothing)
        self.run_phase = loop.compiled_run_phase()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Waits for the process; when it is gone, or its time is up, the loop must not wait for it any more."""
        try:
            self._process.popen.wait(self._brain.seconds)
        except subprocess.TimeoutExpired:
            self._why = f"it took more than {self._brain.seconds:g} s"
            self._process.popen.kill()
            self._process.popen.wait()
        self.shared.words[:, _OVER] = 1

    def _ask(self, request: int) -> None:
        """Has the brain take in its last step, then do something that is no step, and waits until it is done."""
        words = self.shared.words[0]
        bell = Bell(words)
        words[_REQUEST] = request
        bell.hand_over(BRAIN_TURN)
        while words[_TURN] != HOST_TURN:
            if words[_OVER]:
                raise IsolationError(self.complaint())
            bell.sleep_while(BRAIN_TURN)

    @contextlib.contextmanager
    def copied(self) -> Iterator["IsolatedBrains"]:
        """The same process with a copy of its brains that does not learn; afterwards it goes on with the first."""
        self._ask(COPY)
        twin = copy.copy(self)
        twin.functions = (*self.functions[:2], nothing)
        try:
            yield twin
        finally:
            self._ask(RESTORE)

    def memory_hash(self) -> str | None:
        """SHA-256 of what the brains remember, as their process tells it; None if it says that there is none."""
        self._ask(MEMORY)
        memory = self._process.message().get("memory", "")
        if memory is None:
            return None
        if not isinstance(memory, str) or memory_kind(memory) is None:
            raise IsolationError("the brain's process did not tell the hash of its memory")
        return memory

    def descriptors(self) -> dict[str, float]:
        """What the brains say of their state, as their process tells it; nothing that is no finite number."""
        self._ask(MEMORY)
        told = self._process.message().get("descriptors")
        rows = told.items() if isinstance(told, dict) else ()
        return {plain(name): value for name, value in rows if isinstance(value, float) and math.isfinite(value)}

    def complaint(self) -> str:
        """Why there is no answer, in the words of the process or of the system; empty where it answers."""
        if not self.shared.words[0, _OVER]:
            return ""
        self._process.popen.wait()
        return f"{STOPPED}: {self._why}" if self._why else self._process.last_words()

    def close(self) -> None:
        """Ends the process."""
        self._process.popen.kill()
        self._process.popen.wait()
        self._process.errors.close()
        self._seat.leave()


def _seal(descriptor: int) -> None:
    """Keeps the other side from making the memory smaller, which would kill the host where it reads."""
    import fcntl

    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)


def readable_files(where: str) -> Sequence[Path]:
    """The file of ``path/to/file.py:Class``; nothing for a module that is installed."""
    place = where.rpartition(":")[0]
    return (Path(place).resolve(),) if place.endswith(".py") else ()
