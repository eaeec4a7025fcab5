"""Files and folders that are there whole or not at all, also after a crash.

What a killed process leaves behind has a name that begins with a dot and ends with eight digits. Whoever writes holds a
lock on it, so that the next process can tell what nobody needs any more.
"""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import socket
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from nematodebench.errors import UsageError

__all__ = ["LOCK", "atomic_write", "clean_leftovers", "held", "new_folder", "scratch_folder", "write_file"]

LOCK = ".lock"
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}")
_ATTEMPTS = 5
_MODE = 0o666
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}
"""What the system says of a name that something else has already."""


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")


def write_file(path: Path, content: bytes, mode: int = _MODE) -> None:
    """Writes a file that a command makes, with its folder, and removes what killed processes have left of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clean_leftovers(path.parent, path.name)
    atomic_write(path, content, mode)


def atomic_write(path: Path, content: bytes, mode: int = _MODE) -> None:
    """Writes a file so that either the old or the whole new content is there.

    Args:
        path: The file.
        content: What it will hold.
        mode: Who may read and write it, as far as the umask allows.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _write(path, content, mode)
        except FileNotFoundError:  # another process took the file for a leftover before its lock was there
            if not left or not path.parent.is_dir():
                raise
    return None


def _write(path: Path, content: bytes, mode: int) -> None:
    temporary = _beside(path)
    # The kernel applies the umask; a temporary file of the library would be readable by its owner alone.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
    try:
        with os.fdopen(handle, "wb") as stream:
            _try_lock(stream)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _try_lock(stream: IO[Any]) -> bool:
    """Whether nobody else holds the file; where files cannot be locked, nobody knows, and it is taken for free."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def clean_leftovers(folder: Path, name: str | None = None) -> None:
    """Removes what killed processes have left in a folder; what a process is at just now stays.

    Args:
        folder: The folder.
        name: Of the file whose leftovers are meant, in a folder where other programs write too.
    """
    entries: list[os.DirEntry[str]] = []
    with contextlib.suppress(OSError):  # there is none, or another process has just removed it
        entries = list(os.scandir(folder))
    for entry in entries:
        if _LEFTOVER.fullmatch(entry.name) and (name is None or entry.name.startswith(f".{name}.")):
            with contextlib.suppress(OSError):
                _remove_if_free(Path(entry.path))


def _remove_if_free(path: Path) -> None:
    if not path.is_dir():
        with path.open("rb") as stream:
            if _try_lock(stream):
                path.unlink()
    elif not (path / LOCK).exists():
        # Whoever makes a folder puts the lock into it first: without one it is empty, or was being removed.
        try:
            path.rmdir()
        except OSError:  # not empty: somebody is making it, or nobody removed all of it
            if not (path / LOCK).exists():
                shutil.rmtree(path, ignore_errors=True)
    else:
        with (path / LOCK).open("rb") as stream:
            if _try_lock(stream):
                shutil.rmtree(path)


@contextlib.contextmanager
def held(folder: Path, what: str) -> Iterator[None]:
    """Keeps every other process from working in a folder; the system lets go of it if this one is killed.

    Args:
        folder: The folder.
        what: How it is called in the error that names the holder.
    """
    with (folder / LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise UsageError(f"{what} is being run already, by {lock.read() or 'another process'}.") from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}")
        lock.flush()
        yield


@contextlib.contextmanager
def new_folder(folder: Path, what: str, fill: Callable[[Path], None]) -> Iterator[None]:
    """Makes a folder that appears with all its files at once, and holds it while the block runs.

    Args:
        folder: The folder; FileExistsError where there is one with this name.
        what: As for :func:`held`.
        fill: Writes the files; it is given the place where the folder is made.
    """
    clean_leftovers(folder.parent)
    with contextlib.ExitStack() as lock:
        place = _held_beside(folder, what, lock)
        try:
            fill(place)
            place.rename(folder)
        except BaseException as error:
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in _TAKEN and os.path.lexists(folder):
                raise FileExistsError(error.errno, f"{folder} exists already") from error
            raise
        yield


def _held_beside(path: Path, what: str, lock: contextlib.ExitStack) -> Path:
    """A new folder beside a path; one more where another process took it for a leftover before its lock was there."""
    for left in reversed(range(_ATTEMPTS)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:  # a file is where the folder around it should be: no other name would help
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)) from error
        place = _beside(path)
        try:
            place.mkdir()
            lock.enter_context(held(place, what))
            (place / LOCK).stat()
            break
        except BaseException as error:
            lock.close()
            shutil.rmtree(place, ignore_errors=True)
            if not left or not isinstance(error, FileNotFoundError | UsageError):
                raise
    return place


@contextlib.contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """A folder beside a path, to make there what is then renamed to the path; it is removed at the end.

    Args:
        path: What is made; :func:`clean_leftovers` with its name removes the folder of a killed process.
    """
    with contextlib.ExitStack() as lock:
        place = _held_beside(path, f"The making of {path}", lock)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
