"""Finds the episode that somebody wants to see: of a stored run, or of a run that is executed for it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nematodebench.engine.run import compile_for, execute
from nematodebench.engine.tracing import Trace, TracedEpisode
from nematodebench.errors import UsageError, unknown_name
from nematodebench.records.runs import RunResult
from nematodebench.records.store import load_experiment
from nematodebench.sessions.config import session_config
from nematodebench.sessions.plan import make_plan
from nematodebench.sessions.rerun import rerun, task_of
from nematodebench.tasks.base import Phase, Task

__all__ = ["Seen", "Wanted", "see_run", "see_stored"]


@dataclass(frozen=True)
class Wanted:
    """Which episode of which run.

    Attributes:
        run: Number of the run.
        episode: Number of the episode in its phase; None for the last one.
        phase: Name of the phase; None for the one that is scored.
    """

    run: int = 0
    episode: int | None = None
    phase: str | None = None


@dataclass(frozen=True)
class Seen:
    """An episode with what is known of its run.

    Attributes:
        task: The task.
        brain: Name of the brain.
        seed: The run's seed.
        result: What the run gave when it was executed for this.
        episode: The episode.
        difference: In what the run differs from the stored one; empty where in nothing; None where none is stored.
    """

    task: Task
    brain: str
    seed: int
    result: RunResult
    episode: TracedEpisode
    difference: str | None = None


class _Catch:
    """A trace that keeps one episode: the wanted one, or the last of its phase."""

    def __init__(self, task: Task, wanted: Wanted) -> None:
        self._phase, self._number = _phase_of(task, wanted), wanted.episode
        if self._number is None and self._phase.episodes:
            self._number = self._phase.episodes - 1
        if self._phase.episodes and self._number is not None and self._number >= self._phase.episodes:
            raise self._missing(wanted, self._phase.episodes)
        self._wanted, self._kept = wanted, list[TracedEpisode]()
        self.trace = Trace(self._keep, self._wants)

    def _wants(self, phase: str, episode: int) -> bool:
        return phase == self._phase.name and self._number in {None, episode}

    def _keep(self, episode: TracedEpisode) -> None:
        self._kept[:] = [episode]

    def _missing(self, wanted: Wanted, episodes: int) -> UsageError:
        return UsageError(
            f"Phase {self._phase.name!r} of run {wanted.run} has no episode {wanted.episode}: it has episodes 0 to "
            f"{episodes - 1}."
        )

    def caught(self, result: RunResult) -> TracedEpisode:
        """The episode, when the run is over."""
        if self._kept:
            return self._kept[0]
        if result.failure is not None:
            raise UsageError(f"Run {self._wanted.run} failed before that episode: {result.failure.message}")
        raise self._missing(self._wanted, len(result.records[self._phase.name]))


def _phase_of(task: Task, wanted: Wanted) -> Phase:
    phases = {phase.name: phase for phase in task.phases}
    name = task.scored if wanted.phase is None else wanted.phase
    if name not in phases:
        raise unknown_name("phase", name, phases)
    return phases[name]


def see_stored(place: Path, wanted: Wanted, trust_code: bool = False) -> Seen:
    """Executes a stored run again and keeps one of its episodes."""
    metadata = load_experiment(place)
    task = task_of(metadata)
    catch = _Catch(task, wanted)
    again = rerun(metadata, wanted.run, trust_code, place, catch.trace)
    episode = catch.caught(again.result)
    return Seen(task, metadata.brain, again.recorded.seed, again.result, episode, again.difference)


def see_run(
    task: str,
    brain: str,
    wanted: Wanted,
    *,
    seed: int | None = None,
    episodes: int | None = None,
    config: dict[str, Any] | None = None,
) -> Seen:
    """Executes a run that nobody has stored, as ``nb.run`` with this session seed would, and keeps an episode."""
    values = {"task": task, "brain": brain, "runs": wanted.run + 1, "seed": seed, "episodes": episodes}
    given = session_config({**values, "config": config or {}})
    plan = make_plan(given, workers=1)
    spec = plan.specs()[wanted.run]
    catch = _Catch(plan.task, wanted)
    compile_for(spec.task, spec.brain)
    result = execute(spec, trace=catch.trace)
    return Seen(plan.task, plan.brain_name, spec.seed, result, catch.caught(result))
