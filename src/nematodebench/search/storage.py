"""Where a search is kept: a journal file, or a database by URL; both are Optuna's own, so its dashboard reads them."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from nematodebench.errors import StorageError, UsageError

__all__ = ["Journal", "open_storage"]


_GRACE = 10
"""Seconds after which the lock of a killed process is broken."""


class Journal(JournalFileBackend):
    """Optuna's journal file, but without waiting for the disk at each of the about 15 lines of a trial.

    A kill loses nothing, the system has the lines; only a power failure may take the last seconds.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._own_lock = path, JournalFileSymlinkLock(str(path), _GRACE)
        super().__init__(str(path), self._own_lock)

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Adds lines, all or none."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        self._own_lock.acquire()
        try:
            with self._path.open("ab") as file:
                file.write(text.encode())
        finally:
            self._own_lock.release()


def open_storage(place: str) -> Any:
    """A journal file (created with its folder), or a database such as ``postgresql://user@host/name``."""
    if "://" in place:
        return _database(place)
    path = Path(place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return JournalStorage(Journal(path))
    except OSError as error:
        raise StorageError(f"Cannot write to {path}: {error.strerror or error}.") from error


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
