"""Curves for Weights & Biases."""

from collections.abc import Mapping
from typing import Any

from nematodebench.callbacks.base import RunStart, SessionStart
from nematodebench.callbacks.trackers import Tracker, description

__all__ = ["WandbLog"]


class WandbLog(Tracker[Any]):
    """Makes every run a run of a project, in one group for each session, with a curve for each column.

    Without an account or a network set ``WANDB_MODE=offline``: the runs are then files under ``wandb/``.
    """

    extra = "wandb"
    module = "wandb"

    def __init__(self, project: str) -> None:
        """Nothing is sent before a run begins.

        Args:
            project: Name of the project.
        """
        super().__init__()
        self.project = project

    def opened(self, session: SessionStart, run: RunStart) -> Any:
        """Begins a run. Several are open at the same time, and none of them listens to the terminal."""
        handle = self.library.init(
            project=self.project,
            group=f"{session.task} {session.brain} seed {session.seed}",
            name=f"{session.brain} run {run.run}",
            config=description(session, run),
            reinit="create_new",
            settings=self.library.Settings(console="off", silent=True),
        )
        for phase in session.columns:  # every phase counts its episodes anew
            handle.define_metric(f"{phase}/*", step_metric=f"{phase}/episode")
        return handle

    def write(self, handle: Any, values: Mapping[str, float], episode: int) -> None:
        """Logs an episode."""
        phase = next(iter(values), "").partition("/")[0]
        handle.log({**values, f"{phase}/episode": episode})

    def closed(self, handle: Any, failure: str | None) -> None:
        """Finishes the run, with exit code 1 where it failed."""
        if failure is not None:
            handle.summary["failure"] = failure
        handle.finish(exit_code=0 if failure is None else 1)
