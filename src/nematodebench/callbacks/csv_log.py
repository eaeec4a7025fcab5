"""A file with a line for every episode."""

import csv
from pathlib import Path
from typing import IO, Any

from nematodebench.callbacks.base import Callback, Episode, SessionStart
from nematodebench.errors import UsageError

__all__ = ["CsvLog"]

_PLACE = ("task", "brain", "session_seed", "run", "run_seed", "phase", "episode")


class CsvLog(Callback):
    """Writes a line for every episode to a file that must not exist yet.

    A line says where the episode belongs, then what is recorded of it; what its phase does not record is empty. Several
    sessions of one task may follow each other in one file.
    """

    def __init__(self, path: str | Path) -> None:
        """Nothing is written before a session begins.

        Args:
            path: The file.
        """
        self.path = Path(path)
        self._columns: tuple[str, ...] = ()
        self._file: IO[str] | None = None
        self._lines: Any = None
        self._session: tuple[str, str, int] = ("", "", 0)

    def on_start(self, session: SessionStart) -> None:
        """Opens the file."""
        columns = tuple(dict.fromkeys(name for names in session.columns.values() for name in names))
        self._session = (session.task, session.brain, session.seed)
        if not self._columns:
            self._columns = columns
            self._open("x")
            self._lines.writerow((*_PLACE, *columns))
        elif set(columns) <= set(self._columns):
            self._open("a")
        else:
            raise UsageError(f"{self.path} has other columns than {session.task} records. Use a file for each task.")

    def _open(self, mode: str) -> None:
        try:
            self._file = self.path.open(mode, newline="", encoding="utf-8")
        except FileExistsError as error:
            raise UsageError(f"{self.path} exists. Name another file for the log, or remove it.") from error
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}.") from error
        self._lines = csv.writer(self._file)

    def on_episode(self, episode: Episode) -> None:
        """Writes a line."""
        values = (_shown(episode.columns.get(name)) for name in self._columns)
        self._lines.writerow((*self._session, episode.run, episode.seed, episode.phase, episode.episode, *values))

    def on_end(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _shown(value: float | None) -> float | int | str:
    """Whole numbers without a point; all digits of others."""
    if value is None:
        return ""
    return int(value) if value.is_integer() else value
