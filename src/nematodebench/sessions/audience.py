"""Those who are told what happens in a session while it runs: callbacks, and whoever shows its progress."""

import contextlib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.brains.registry import is_compiled
from nematodebench.callbacks.base import Callback, Episode, RunEnd, RunStart, SessionStart, Step
from nematodebench.engine.isolation.host import Foreign
from nematodebench.engine.python_brain import global_generators_kept
from nematodebench.engine.watching import Rows, Watch
from nematodebench.errors import CallbackError, UsageError, said
from nematodebench.records.runs import RunResult
from nematodebench.sessions.plan import Plan, dump_config

__all__ = ["LAST_EPISODES", "Audience", "Recent", "wants_steps"]

LAST_EPISODES = 20
"""Of a run that goes on, the reward and the success of so many episodes are shown."""


@dataclass(frozen=True)
class Recent:
    """A run that goes on: the means of its last episodes, ``success`` where it is recorded, and how much is done."""

    reward: float
    success: float | None
    share: float


def wants_steps(callbacks: Sequence[Callback]) -> bool:
    """Whether a callback asks for every step; what is no callback is refused."""
    _check(callbacks)
    return any(_overrides(callback, "on_step") for callback in callbacks)


def _check(callbacks: Any) -> None:
    if not isinstance(callbacks, Iterable):
        raise UsageError(f"callbacks is {callbacks!r}: give a list of callbacks.")
    for given in callbacks:
        if not isinstance(given, Callback):
            what = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            raise UsageError(f"callbacks holds {what}: give objects whose class is derived from nb.Callback.")


def _overrides(callback: Callback, name: str) -> bool:
    return getattr(type(callback), name) is not getattr(Callback, name)


class Audience:
    """Passes on what is seen of the runs of a plan. Every episode is told once, and in order within its run."""

    def __init__(self, plan: Plan, callbacks: Sequence[Callback], current: dict[int, Recent]) -> None:
        """Checks the callbacks.

        Args:
            plan: The session.
            callbacks: Who is told.
            current: Is kept up to date with the last episodes of the runs that go on.
        """
        if wants_steps(callbacks) and (plan.executor != "threads" or plan.workers > 1):
            raise UsageError("on_step is told in this process, one run after another: leave out workers and executor.")
        self._plan, self._callbacks, self._current = plan, callbacks, current
        self._columns = {phase.name: phase.columns for phase in plan.task.phases}
        self._told: dict[int, dict[str, int]] = {}
        self._last: dict[int, tuple[str, NDArray[np.float64], int]] = {}
        self._started: list[Callback] = []
        self._listeners = [callback for callback in callbacks if _overrides(callback, "on_episode")]
        in_python = not isinstance(plan.brain, Foreign) and not is_compiled(plan.brain)
        self._shares_generators = plan.executor == "threads" and in_python

    def watch(self, watch: Watch, shown: bool) -> None:
        """Listens to the runs, if there is anybody to tell; ``shown`` says whether progress is shown."""
        if self._callbacks or shown:
            watch.listener = self.rows
            # A brain that shares the global generators with the callbacks must not run at the same time.
            watch.here = self._shares_generators or wants_steps(self._callbacks)
        if wants_steps(self._callbacks):
            watch.on_step = self.step

    def start(self, experiment_id: str) -> None:
        """The session begins."""
        plan = self._plan
        event = SessionStart(
            plan.task.id, plan.brain_name, dump_config(plan.config), plan.seed, plan.runs, self._columns, experiment_id
        )
        for callback in self._callbacks:
            self._started.append(callback)
            self._tell([callback], "on_start", event)

    def rows(self, rows: Rows) -> None:
        """Episodes have ended; those that were told before are left out."""
        told = self._told_of(rows.index, rows.seed)
        done = told.get(rows.phase, 0)
        new = rows.values[max(0, done - rows.first) :]
        if not len(new):
            return
        columns = self._columns[rows.phase]
        told[rows.phase] = rows.first + len(rows.values)
        self._remember(rows.index, rows.phase, new)
        if self._listeners:
            for number, values in enumerate(new.tolist(), told[rows.phase] - len(new)):
                named = dict(zip(columns, values, strict=True))
                self._tell(self._listeners, "on_episode", Episode(rows.index, rows.seed, rows.phase, number, named))

    def _remember(self, index: int, phase: str, new: NDArray[np.float64]) -> None:
        """Keeps the last episodes of a run; those of another phase are not mixed with them."""
        columns = self._columns[phase]
        before, kept, steps = self._last.get(index, (phase, new[:0], 0))
        kept = new[-LAST_EPISODES:] if before != phase else np.concatenate([kept, new])[-LAST_EPISODES:]
        steps += int(new[:, columns.index("steps")].sum())
        self._last[index] = (phase, kept, steps)
        success = float(kept[:, columns.index("success")].mean()) if "success" in columns else None
        share = self._share(self._told[index], steps)
        self._current[index] = Recent(float(kept[:, columns.index("reward")].mean()), success, share)

    def _share(self, episodes: Mapping[str, int], steps: int) -> float:
        """How much of a run is done, in steps as far as they are given, else in episodes of the longest duration."""
        done = total = 0
        for phase in self._plan.task.phases:
            most = phase.ticks or phase.episodes * phase.world.horizon
            made = steps if phase.ticks else episodes.get(phase.name, 0) * phase.world.horizon
            done, total = done + min(most, made), total + most
            steps = max(0, steps - most)
        return done / max(1, total)

    def step(self, step: Step) -> None:
        """A step was made."""
        self._told_of(step.run, step.seed)
        self._tell(self._callbacks, "on_step", step)

    def ended(self, result: RunResult) -> None:
        """A run has ended; what was not seen of it before is told now."""
        self._told_of(result.index, result.seed)
        for phase, values in result.records.items():
            self.rows(Rows(result.index, result.seed, phase, 0, values))
        self._current.pop(result.index, None)
        self._last.pop(result.index, None)
        failure = None if result.failure is None else result.failure.message
        facts = (result.steps, result.seconds, result.record_hash, result.memory_hash, result.descriptors)
        self._tell(self._callbacks, "on_run", RunEnd(result.index, result.seed, *facts, failure))

    @contextlib.contextmanager
    def until_the_end(self) -> Iterator[None]:
        """Ends what was started, whatever happens in the block; its own error is worth more than one at the end."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(CallbackError, UsageError):
                self._end()
            raise
        self._end()

    def _end(self) -> None:
        while self._started:
            self._tell([self._started.pop(0)], "on_end")

    def _told_of(self, index: int, seed: int) -> dict[str, int]:
        if index not in self._told:
            self._told[index] = {}
            self._tell(self._callbacks, "on_run_start", RunStart(index, seed))
        return self._told[index]

    def _tell(self, callbacks: Sequence[Callback], name: str, *event: Any) -> None:
        for callback in callbacks:
            function: Callable[..., None] = getattr(callback, name)
            try:
                with global_generators_kept() if self._shares_generators else contextlib.nullcontext():
                    function(*event)
            except UsageError:
                raise
            except Exception as error:
                raise CallbackError(_complaint(callback, name, error)) from error


def _complaint(callback: Callback, name: str, error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
    what = f"{type(callback).__name__}.{name} raised {type(error).__name__}: {said(error)}"
    return f"{what} ({place}). The session has stopped."
