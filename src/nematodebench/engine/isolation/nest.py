"""The host's side of :mod:`nematodebench.engine.isolation.split`: a sandbox in which runs begin without imports."""

import contextlib
import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from nematodebench.engine.isolation import sandbox
from nematodebench.engine.isolation.foreign import Foreign
from nematodebench.records.bundle_schema import DEPENDENCIES

__all__ = ["Nest"]

_START = "nematodebench.engine.isolation.split"
_ALWAYS = ("numpy", "gymnasium.spaces", "nematodebench.engine.spaces", "nematodebench.engine.python_restore")
_WITH = {
    "torch": ("torch._dynamo",),  # the first optimizer would import it in the middle of the run
    "numba": ("nematodebench.engine.isolation.compiled", "nematodebench.brains.configs"),
    "nematodebench": ("nematodebench.engine.isolation.compiled", "nematodebench.brains.configs", "nematodebench.kit"),
}
"""What is imported with a library that a brain's source mentions."""
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_MOST_BYTES = 1 << 20
_PATIENCE, _AT_ONCE = 5.0, 0.2
"""Seconds for a process to end that was told to, and for one that may have ended already."""


class Nest:
    """A sandbox with a process of ours that has imported the libraries; the processes of runs are split off from it."""

    def __init__(self, brain: Foreign, prepared: Path | None) -> None:
        """Starts it, with an archive of compiled code if there is one."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        kept = None if brain.trusted else [str(path) for path in sandbox.below_temporary(brain.readable)]
        given = json.dumps({"libraries": _libraries(brain), "kept": kept})
        inner = [sys.executable, "-P", "-s", "-m", _START, str(theirs.fileno()), given]
        if brain.trusted:
            words, env = inner, sandbox.plain_environment(brain.cache)
        else:
            words, env = sandbox.command(inner, brain.readable, brain.limits, prepared), {}
        try:
            # A process group of its own keeps Ctrl-C from it. It stays in the session: the system shares cores out
            # among sessions, and one side could not let the other go first.
            self.popen = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, env=env, cwd="/",
                pass_fds=(theirs.fileno(),), process_group=0,
            )  # fmt: skip
        finally:
            theirs.close()

    def split(self, descriptors: Sequence[int]) -> None:
        """Has it split off a process with these descriptors; it may be gone, and whoever waits is told so."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"!"], list(descriptors))

    def last_words(self) -> tuple[IO[bytes], int] | None:
        """What it said to the end, and the number that it ended with; None if it is there."""
        try:
            return self.errors, self.popen.wait(_AT_ONCE)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Ends it, and what is left of the processes that it held."""
        self._control.close()
        try:
            self.popen.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self.errors.close()


def _libraries(brain: Foreign) -> list[str]:
    """What the brain's source imports of the libraries that a bundle may need; the text is looked at, not executed."""
    words = {word.decode() for path in _sources(brain) for word in _IMPORT.findall(_read(path))}
    named = [name for name in (*DEPENDENCIES, "nematodebench") if name in words]
    return list(dict.fromkeys([*_ALWAYS, *(one for name in named for one in (name, *_WITH.get(name, ())))]))


def _sources(brain: Foreign) -> list[Path]:
    place = brain.where.rpartition(":")[0]
    if not place.endswith(".py"):
        top = find_spec(place.partition(".")[0])  # imports nothing
        folders = [] if top is None else list(top.submodule_search_locations or [])
        return [Path(folder, *place.split(".")[1:]).with_suffix(".py") for folder in folders]
    return [
        Path(place),
        *(path for folder in brain.readable if folder.is_dir() for path in sorted(folder.glob("*.py"))),
    ]


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return b""
