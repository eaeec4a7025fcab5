"""The host's side of an isolated run: starts the brain's process, shares memory with it and watches that it lives."""

import contextlib
import copy
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nematodebench.brains.base import Interface, nothing
from nematodebench.engine import loop
from nematodebench.engine.isolation import sandbox
from nematodebench.engine.isolation.mailbox import stubs
from nematodebench.engine.isolation.shared import (
    BRAIN_TURN,
    COPY,
    HOST_TURN,
    MEMORY,
    RESTORE,
    WORDS,
    Shared,
    shared_size,
)
from nematodebench.records.plain_text import plain

__all__ = ["Foreign", "IsolatedBrains", "IsolationError"]

_TURN, _REQUEST, _OVER = (WORDS.index(name) for name in ("turn", "request", "over"))
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
    """

    where: str
    readable: tuple[Path, ...] = ()
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)
    seconds: float = 3600.0


class IsolatedBrains:
    """One run of a foreign brain in a process of its own. Its arrays are what the run loop takes for a brain's."""

    def __init__(
        self, brain: Foreign, config: dict[str, Any], body: Interface, seed: int, agents: int, learning: bool
    ) -> None:
        self._brain, inputs, width = brain, body.inputs, body.action_width
        size = shared_size(agents, inputs, width)
        self._descriptor = os.memfd_create("exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._descriptor, size)
        _seal(self._descriptor)
        self.shared = Shared(mmap.mmap(self._descriptor, size), agents, inputs, width)
        self.hyper, self.ints, self.mem, self.out = (
            np.zeros(1),
            self.shared.words,
            self.shared.values,
            self.shared.feedback,
        )
        begin, act, learn = stubs()
        self.functions = (begin, act, learn if learning else nothing)
        self.run_phase = loop.compiled_run_phase()
        plan = {
            "brain": brain.where, "config": config, "seed": seed, "agents": agents, "width": width, "size": size,
            "body": {
                "low": list(body.low), "high": list(body.high), "choices": body.choices, "effectors": body.effectors,
            },
        }  # fmt: skip
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._process = self._start(json.dumps(plan))
        self._why = ""
        threading.Thread(target=self._watch, daemon=True).start()

    def _start(self, plan: str) -> "subprocess.Popen[bytes]":
        os.set_inheritable(self._descriptor, True)
        seccomp = sandbox.sealed_filter()
        inner = [sys.executable, "-P", "-s", "-m", _START, str(self._descriptor)]
        words = sandbox.command(inner, self._brain.readable, self._brain.limits, seccomp)
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._errors, env={},
                pass_fds=(self._descriptor, seccomp),
            )  # fmt: skip
        finally:
            os.close(seccomp)
            os.close(self._descriptor)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(plan.encode() + b"\n")
            process.stdin.close()
        return process

    def _watch(self) -> None:
        """Waits for the process; when it is gone, or its time is up, the loop must not wait for it any more."""
        try:
            self._process.wait(self._brain.seconds)
        except subprocess.TimeoutExpired:
            self._why = f"it took more than {self._brain.seconds:g} s"
            self._process.kill()
            self._process.wait()
        self.shared.words[:, _OVER] = 1

    def _ask(self, request: int) -> None:
        """Has the brain take in its last step, then do something that is no step, and waits until it is done."""
        words = self.shared.words[0]
        words[_REQUEST] = request
        words[_TURN] = BRAIN_TURN
        while words[_TURN] != HOST_TURN:
            if words[_OVER]:
                raise IsolationError(self.complaint())
            time.sleep(0.0001)

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

    def memory_hash(self) -> str:
        """SHA-256 of what the brains remember, as their process tells it."""
        self._ask(MEMORY)
        memory = self._message().get("memory")
        if not isinstance(memory, str) or len(memory) != 64 or not set(memory) <= set("0123456789abcdef"):
            raise IsolationError("the brain's process did not tell the hash of its memory")
        return memory

    def descriptors(self) -> dict[str, float]:
        """What a foreign brain says of itself is not asked for."""
        return {}

    def complaint(self) -> str:
        """Why there is no answer, in the words of the process or of the system; empty where it answers."""
        if not self.shared.words[0, _OVER]:
            return ""
        self._process.wait()
        error = self._message().get("error")
        if self._why:
            return f"the brain's process was stopped: {self._why}"
        if isinstance(error, str):
            return plain(error)
        code = self._process.returncode
        self._errors.seek(0)
        last = self._errors.read(20_000).decode("utf-8", "replace").strip().splitlines()
        detail = f": {plain(last[-1])}" if last else ""
        return f"the brain's process ended with code {code}{detail}"

    def _message(self) -> dict[str, Any]:
        try:
            content = json.loads(self.shared.heard())
        except (ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._errors.close()


def _seal(descriptor: int) -> None:
    """Keeps the other side from making the memory smaller, which would kill the host where it reads."""
    import fcntl

    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)


def readable_files(where: str) -> Sequence[Path]:
    """The file of ``path/to/file.py:Class``; nothing for a module that is installed."""
    place = where.rpartition(":")[0]
    return (Path(place).resolve(),) if place.endswith(".py") else ()
