"""The scores of a session's runs, as comparisons need them: with seeds, and with the pseudo-values of shared parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from nematodebench.errors import UsageError
from nematodebench.measures.base import Measurement, RunMetrics
from nematodebench.records.schemas import ExperimentMetadata
from nematodebench.sessions.recording import normalised_record
from nematodebench.sessions.rerun import task_of
from nematodebench.stats import Comparison, StatValue, compare
from nematodebench.tasks.base import Task

__all__ = ["RunScores", "compare_scores", "scores_of", "scores_of_record", "with_todays_intervals"]


@dataclass(frozen=True)
class RunScores:
    """One score for each run that has one.

    Attributes:
        values: The scores.
        seeds: The runs' seeds, in the same order.
        pseudo: Jackknife pseudo-values of a score that a run does not have on its own, else None.
    """

    values: NDArray[np.float64]
    seeds: list[int]
    pseudo: NDArray[np.float64] | None = None

    @property
    def summary(self) -> StatValue | None:
        """Mean and interval; None without a run."""
        return StatValue.from_values(self.values, pseudo=self.pseudo) if self.values.size else None

    def only(self, seeds: Sequence[int]) -> "RunScores":
        """The same of some of the runs."""
        place_of = {seed: k for k, seed in reversed(list(enumerate(self.seeds)))}
        places = [place_of[seed] for seed in seeds]
        return RunScores(self.values[places], list(seeds), None if self.pseudo is None else self.pseudo[places])


def scores_of(task: Task, runs: Mapping[int, RunMetrics]) -> RunScores:
    """The scores of a task's runs.

    Args:
        task: It says which metric is the score, and which other runs the score depends on.
        runs: Metrics by run seed.
    """
    scored = {seed: metrics for seed, metrics in runs.items() if metrics.get(task.score_key) is not None}
    values = np.array([metrics[task.score_key] for metrics in scored.values()], dtype=np.float64)
    pseudo = task.scoring.pseudo_values(list(scored.values())).get(task.score_key) if scored else None
    return RunScores(values, list(scored), pseudo)


def scores_of_record(record: ExperimentMetadata) -> RunScores:
    """The scores of a stored session."""
    return scores_of(task_of(record), {run.seed: run.metrics for run in record.runs})


def with_todays_intervals(record: ExperimentMetadata) -> ExperimentMetadata:
    """A stored session with the intervals and marks that are computed today, from the metrics of its runs."""
    if not record.metrics:
        return record
    task = task_of(record)
    runs = [run.metrics for run in record.runs if run.metrics]
    wholes = {name: value.mean for name, value in record.metrics.items() if all(name not in run for run in runs)}
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers that no session has are told as such below
            session = task.scoring.summarise(runs, wholes, list(record.metrics))
            pseudo = task.scoring.pseudo_values(runs)
            measured = Measurement(runs, session, record.chemotaxis, record.notes, pseudo)
            return record.model_copy(update={"metrics": session, "normalised": normalised_record(task, measured)})
    except ValidationError as error:
        raise UsageError(f"{record.experiment_id}: its metrics are too large for a score.") from error


def compare_scores(x: RunScores, y: RunScores) -> Comparison:
    """X against y, paired by seed where seeds match."""
    return compare(x.values, y.values, x.seeds, y.seeds, x.pseudo, y.pseudo)
