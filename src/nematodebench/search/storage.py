"""Where a search is kept: a journal file, or a database by URL; both are Optuna's own, so its dashboard reads them."""

import contextlib
import errno
import fcntl
import json
import os
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.storages.journal._storage import JournalOperation as Operation
from optuna.trial import TrialState

from nematodebench.errors import StorageError, UsageError

__all__ = ["Journal", "opened_storage"]


_GRACE = 10
"""Seconds after which the lock of a killed process is broken."""
_BEGUN = f'"op_code":{int(Operation.CREATE_TRIAL)},'.encode()
"""What a line says that makes a trial."""
_CHECK = "crc32"
"""Each line has a checksum, which Optuna passes over."""
_NUMBERS = {
    Operation.SET_TRIAL_PARAM, Operation.SET_TRIAL_STATE_VALUES, Operation.SET_TRIAL_INTERMEDIATE_VALUE,
}  # fmt: skip
"""Lines that only a search writes, and always with a checksum."""
_OF_A_TRIAL = {
    Operation.CREATE_TRIAL, Operation.SET_TRIAL_PARAM, Operation.SET_TRIAL_STATE_VALUES,
    Operation.SET_TRIAL_INTERMEDIATE_VALUE, Operation.SET_TRIAL_USER_ATTR, Operation.SET_TRIAL_SYSTEM_ATTR,
}  # fmt: skip


class Journal(JournalFileBackend):
    """Optuna's journal file, but without waiting for the disk at each of the about 15 lines of a trial.

    A kill loses nothing, the system has the lines; only a power failure may take the last seconds. Processes that work
    on a journal hold it together. Whoever opens it alone takes back what a killed process has begun and not ended, so
    that the search goes on as if that had never been.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._own_lock = path, JournalFileSymlinkLock(str(path), _GRACE)
        self._held, self._checked = path.open("ab"), False
        if self._alone():
            _remove_locks(path)
            _take_back(path)
        super().__init__(str(path), self._own_lock)

    def _alone(self) -> bool:
        """Whether no other process works on the journal; then none can open it before :meth:`share`."""
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(self._held, fcntl.LOCK_SH)  # waits for one that is making the search
            return False
        except OSError:  # files cannot be locked there: nobody knows
            return False
        return True

    def share(self) -> None:
        """Others may work on the journal from now on."""
        with contextlib.suppress(OSError):
            fcntl.flock(self._held, fcntl.LOCK_SH)

    def close(self) -> None:
        """This process works on the journal no more."""
        self._held.close()

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Adds lines, all or none."""
        text = "".join(_line({**log, _CHECK: _sum(log)}) for log in logs).encode()
        self._own_lock.acquire()
        try:
            with self._path.open("ab", buffering=0) as file:
                before = file.tell()
                if file.write(text) < len(text):  # the disk took only a part
                    file.truncate(before)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            self._release()

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """The lines from a number on; one that is not what was written is an error."""
        try:
            for log in super().read_logs(log_number_from):
                if not _is_whole(log) or (self._checked and _CHECK not in log and log["op_code"] in _NUMBERS):
                    raise ValueError("a line is not what was written")
                self._checked = self._checked or _CHECK in log  # lines of older versions come first, and have none
                yield log
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self._path} is damaged: its trials cannot be believed. Search anew with another --output."
            ) from error

    def _release(self) -> None:
        try:
            self._own_lock.release()
        except RuntimeError:  # it could not be renamed; another process would wait for it
            Path(f"{self._path}.lock").unlink(missing_ok=True)


def _line(log: dict[str, Any]) -> str:
    return json.dumps(log, separators=(",", ":")) + "\n"


def _sum(log: dict[str, Any]) -> int:
    """A checksum: one wrong digit in a journal is a wrong value and no error."""
    return zlib.crc32(_line(log).encode())


def _is_whole(log: dict[str, Any]) -> bool:
    """Whether a line is what was written, as far as it says."""
    return _CHECK not in log or log[_CHECK] == _sum({key: value for key, value in log.items() if key != _CHECK})


def _remove_locks(path: Path) -> None:
    """Removes the locks of killed processes: nobody works on the journal."""
    for lock in path.parent.glob(f"{path.name}.lock*"):
        with contextlib.suppress(OSError):
            lock.unlink()


def _take_back(path: Path) -> None:
    """Removes the lines at the end of a journal that belong to a trial which was killed, and a line that was cut.

    Where no trial is left, not even the default that waits in every search, nothing was begun, and nothing stays.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    keep = len(lines)
    while keep and _is_unfinished(lines[keep - 1]):
        keep -= 1
    if not any(_BEGUN in line for line in lines[:keep]):
        keep = 0
    if keep < len(lines):
        with path.open("rb+") as file:
            file.truncate(sum(len(line) for line in lines[:keep]))


def _is_unfinished(line: bytes) -> bool:
    """Whether a line at the end of a journal says something about a trial that had not ended when it was written."""
    try:
        log = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return True
    if log is None or (isinstance(log, dict) and not _is_whole(log)):
        return True
    kind = log.get("op_code") if isinstance(log, dict) else None
    if kind not in _OF_A_TRIAL:
        return False
    if kind == Operation.CREATE_TRIAL:
        return bool(log.get("state", TrialState.RUNNING) != TrialState.WAITING)  # the default waits in every search
    return bool(kind != Operation.SET_TRIAL_STATE_VALUES or log.get("state") == TrialState.RUNNING)


@contextlib.contextmanager
def opened_storage(place: str) -> Iterator[tuple[Any, Callable[[], None]]]:
    """The storage of a search, and what is called when the search is made: before, no other process opens a journal.

    Args:
        place: A journal file (created with its folder), or a database such as ``postgresql://user@host/name``.
    """
    if "://" in place:
        yield _database(place), lambda: None
        return
    path = Path(place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        journal = Journal(path)
    except OSError as error:
        raise StorageError(f"Cannot write to {path}: {error.strerror or error}.") from error
    with contextlib.closing(journal):
        yield JournalStorage(journal), journal.share


def _database(url: str) -> Any:
    """Never prints the URL: it may hold a password."""
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    kind = url.partition("://")[0]
    try:
        return RDBStorage(_with_driver(url))
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(
            f"{kind}://... is not the URL of a database that can be used: give postgresql://user@host/name."
        ) from error
    except ImportError as error:
        raise UsageError(f"A {kind} database needs its driver, like psycopg2-binary for postgresql.") from error
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise StorageError(f"Cannot use the {kind} database: {reason}") from error


def _with_driver(url: str) -> str:
    """SQLAlchemy's own choice of a PostgreSQL driver changes with its version; take the one that is installed."""
    kind, separator, rest = url.partition("://")
    if kind in {"postgresql", "postgres"} and find_spec("psycopg2") is not None:
        kind = "postgresql+psycopg2"
    return f"{kind}{separator}{rest}"
