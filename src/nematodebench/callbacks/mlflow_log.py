"""Curves for MLflow."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nematodebench.callbacks.base import RunStart, SessionStart
from nematodebench.callbacks.trackers import Tracker, description

__all__ = ["MLflowLog"]

_AT_ONCE = 500
_SECONDS = 5.0
"""Curves are sent after so many points, or after so many seconds: a request for every episode would take too long."""


@dataclass
class _Run:
    """A run of MLflow, and what is not yet sent of it."""

    id: str
    waiting: list[Any] = field(default_factory=list)
    sent: float = field(default_factory=time.monotonic)


class MLflowLog(Tracker[_Run]):
    """Makes every run a run of an experiment, with a curve for each column.

    Where they are stored is what MLflow is told elsewhere: ``MLFLOW_TRACKING_URI``, or its own default.
    """

    extra = "mlflow"
    module = "mlflow"

    def __init__(self, experiment: str) -> None:
        """Nothing is sent before a run begins.

        Args:
            experiment: Name of the experiment; it is made if it does not exist.
        """
        super().__init__()
        self.experiment = experiment
        self._client: Any = None

    def on_start(self, session: SessionStart) -> None:
        """Finds or makes the experiment."""
        super().on_start(session)
        self._client = self.library.MlflowClient()
        found = self._client.get_experiment_by_name(self.experiment)
        self._experiment_id = self._client.create_experiment(self.experiment) if found is None else found.experiment_id

    def opened(self, session: SessionStart, run: RunStart) -> _Run:
        """Begins a run with its parameters."""
        facts = {name: str(value) for name, value in description(session, run).items()}
        made = self._client.create_run(self._experiment_id, run_name=f"{session.brain} run {run.run}")
        parameters = [self.library.entities.Param(name, value) for name, value in facts.items()]
        self._client.log_batch(made.info.run_id, params=parameters)
        return _Run(made.info.run_id)

    def write(self, handle: _Run, values: Mapping[str, float], episode: int) -> None:
        """Adds a point to every curve, and sends what has waited long enough."""
        now = int(time.time() * 1000)
        handle.waiting += [self.library.entities.Metric(name, value, now, episode) for name, value in values.items()]
        if len(handle.waiting) >= _AT_ONCE or time.monotonic() > handle.sent + _SECONDS:
            self._send(handle)

    def _send(self, handle: _Run) -> None:
        self._client.log_batch(handle.id, metrics=handle.waiting)
        handle.waiting, handle.sent = [], time.monotonic()

    def closed(self, handle: _Run, failure: str | None) -> None:
        """Sends the rest and ends the run."""
        self._send(handle)
        if failure is not None:
            self._client.set_tag(handle.id, "failure", failure)
        self._client.set_terminated(handle.id, "FINISHED" if failure is None else "FAILED")
