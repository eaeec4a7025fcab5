"""The process that the processes of all runs are split off from: it has imported the libraries, and runs no brain.

To import NumPy, torch or Numba takes longer than many a run. This process does it once, inside the sandbox. For every
run it splits itself: the new process gets name spaces and a temporary folder of its own, gives up every privilege, and
only then loads the brain. Nothing comes back from it but the number that it ended with, so every run begins with what
was there before the first. Between the two stands a process that waits for the end.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from nematodebench.engine.isolation import child
from nematodebench.engine.isolation.confine import die_with_parent, own_name_spaces, own_temporary_folder, shut_in
from nematodebench.engine.isolation.sandbox import TEMPORARY

__all__ = ["DESCRIPTORS", "main"]

DESCRIPTORS = ("standard input", "standard output", "errors", "shared memory", "status")
"""What comes with the word to split: what the new process has under the numbers from 0, and where its end is told."""
_ERRORS, _MEMORY, _STATUS = 2, 3, 4
_BYTES = 64 << 20
"""Bytes that a brain may keep in files, and print."""
_LAST_BYTES = 20_000
"""So much of what it has printed is passed on."""


def main() -> None:
    """Splits itself whenever it is told to, until nobody is there to tell it."""
    control, given = socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2])
    kept = None if given["kept"] is None else [Path(path) for path in given["kept"]]
    gc.disable()  # nothing that is imported is ever garbage, and looking for it takes a quarter of an import's time
    for name in given["libraries"]:
        with contextlib.suppress(Exception):  # whoever needs it will say that it cannot be imported
            importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, len(DESCRIPTORS))
        if not word:
            return
        if os.fork() == 0:
            control.close()
            _ending(partial(_hold, descriptors, kept))
        for descriptor in descriptors:
            os.close(descriptor)


def _hold(descriptors: Sequence[int], kept: Sequence[Path] | None) -> int:
    """Splits off the process of the run, waits for its end, and tells the number that it ended with.

    ``kept`` are the paths below ``/tmp`` that the brain sees; None if it is trusted, and sees everything.
    """
    os.dup2(descriptors[_ERRORS], 2)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    die_with_parent()
    errors = descriptors[_ERRORS]
    if kept is not None:
        own_name_spaces()
        own_temporary_folder(_BYTES, kept)
        # Where a file of the host's lies on its disk says what other runs have written. What the brain prints is in its
        # own folder, until it is over.
        errors = os.open(TEMPORARY, os.O_TMPFILE | os.O_RDWR, 0o600)
    inside = os.fork()
    if inside == 0:
        _ending(partial(_become_brain, (*descriptors[:_ERRORS], errors, *descriptors[_MEMORY:]), kept is not None))
    for descriptor in descriptors[:_STATUS]:
        os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(inside, 0)[1])
    if kept is not None:
        with contextlib.suppress(OSError):
            os.write(2, os.pread(errors, _LAST_BYTES, max(0, os.fstat(errors).st_size - _LAST_BYTES)))
    os.write(descriptors[_STATUS], str(code).encode())
    return 0


def _become_brain(descriptors: Sequence[int], untrusted: bool) -> int:
    """Shuts itself in, then serves the run."""
    die_with_parent()
    for number, descriptor in enumerate(descriptors[:_STATUS]):  # they were given in this order, from 3 on
        os.dup2(descriptor, number)
    os.write(descriptors[_STATUS], b"here")  # the system tells the host who it is that writes
    os.closerange(_STATUS, 1 << 16)
    if untrusted:
        shut_in()
    child.main(_MEMORY)
    return 0


def _ending(work: Callable[[], int]) -> None:
    """Does the work of a process that was split off, which never goes on as the process that it came from."""
    code = 1
    try:
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
