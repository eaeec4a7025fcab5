"""What the callbacks for experiment trackers share: every run is a run there too, and every column a curve."""

import importlib
import math
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from nematodebench.callbacks.base import Callback, Episode, RunEnd, RunStart, SessionStart
from nematodebench.errors import UsageError

__all__ = ["Tracker", "description"]

Handle = TypeVar("Handle")


class Tracker(Callback, Generic[Handle]):
    """Base: a subclass opens a run of the tracker, writes one episode to it and closes it.

    Curves are called ``<phase>/<column>``, over the number of the episode. What is no finite number is left out.
    """

    extra = ""
    """The extra of this package that brings the tracker's library."""
    module = ""
    """What is imported of it."""

    def __init__(self) -> None:
        """Refuses at once where the library is not installed."""
        try:
            self.library: Any = importlib.import_module(self.module)
        except ImportError as error:
            hint = f"pip install 'nematodebench[{self.extra}]'"
            raise UsageError(f"{type(self).__name__} needs {self.extra} ({error}). Install it with: {hint}") from error
        self._session: SessionStart | None = None
        self._open: dict[int, Handle] = {}

    def on_start(self, session: SessionStart) -> None:
        """Remembers what runs are described with."""
        self._session = session

    def on_run_start(self, run: RunStart) -> None:
        """Opens a run."""
        assert self._session is not None
        self._open[run.run] = self.opened(self._session, run)

    def on_episode(self, episode: Episode) -> None:
        """Writes an episode."""
        values = {f"{episode.phase}/{name}": value for name, value in episode.columns.items() if math.isfinite(value)}
        self.write(self._open[episode.run], values, episode.episode)

    def on_run(self, run: RunEnd) -> None:
        """Closes the run."""
        self.closed(self._open.pop(run.run), run.failure)

    def on_end(self) -> None:
        """Closes what was interrupted."""
        while self._open:
            self.closed(self._open.popitem()[1], "the session was interrupted")

    def opened(self, session: SessionStart, run: RunStart) -> Handle:
        """Opens a run of the tracker."""
        raise NotImplementedError

    def write(self, handle: Handle, values: Mapping[str, float], episode: int) -> None:
        """Writes what is recorded of an episode."""
        raise NotImplementedError

    def closed(self, handle: Handle, failure: str | None) -> None:
        """Closes a run of the tracker."""
        raise NotImplementedError


def description(session: SessionStart, run: RunStart) -> dict[str, Any]:
    """What a run was made from, by name: the brain's parameters begin with ``config.``."""
    facts = {"task": session.task, "brain": session.brain, "session_seed": session.seed, "run": run.run}
    facts |= {"run_seed": run.seed, "experiment_id": session.experiment_id}
    return {**facts, **{f"config.{name}": value for name, value in session.config.items()}}
