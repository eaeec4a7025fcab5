"""What can be seen of runs while they go on, and the way to stop them.

Nothing is sent while a run goes on: its records are there anyway, and its plan counts the rows that are complete.
Whoever watches looks there from time to time, in another thread if there is one. A run that nobody watches is executed
by the same calls, and no run can tell whether it is watched.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.callbacks.base import Step
from nematodebench.engine.loop import Control, Plan
from nematodebench.engine.segments import Pause
from nematodebench.kernels.jit import I64

__all__ = ["LOOK_SECONDS", "Rows", "Told", "View", "Watch"]

LOOK_SECONDS = 0.1
"""How long whoever watches waits between two looks."""

_EPISODE = Plan.singles["episode"]


@dataclass(frozen=True)
class Rows:
    """Episodes of a run that have ended since the last look; without any when a run is seen for the first time."""

    index: int
    seed: int
    phase: str
    first: int
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Told:
    """What another process tells of its runs: new episodes, and the steps since it was given them."""

    rows: list[Rows]
    steps: int


class View:
    """One run as others see it.

    The run loop writes a row and counts it afterwards. Processors that this package promises bits for make both visible
    in this order, so that a row that is counted can be read while the run goes on.
    """

    def __init__(self, index: int, seed: int, control: Control) -> None:
        self.index, self.seed, self.control, self.over = index, seed, control, False
        self._phases: list[tuple[str, NDArray[np.float64], I64]] = []
        self._at, self._seen = 0, -1

    def show(self, phase: str, records: NDArray[np.float64], count: I64) -> None:
        """Called by the run when a phase begins; ``count`` is where the number of its complete rows is kept."""
        self._phases.append((phase, records, count))

    def show_plan(self, phase: str, records: NDArray[np.float64], plan_words: I64) -> None:
        """As :meth:`show`, for a phase whose plan counts."""
        self.show(phase, records, plan_words[_EPISODE : _EPISODE + 1])

    def new_rows(self) -> Iterator[Rows]:
        """The episodes since the last look, in order."""
        known = len(self._phases)  # a phase that another one follows is complete, so this comes before the counts
        while self._at < known:
            phase, records, count = self._phases[self._at]
            first, end = max(0, self._seen), int(count[0])
            if end > self._seen:
                yield Rows(self.index, self.seed, phase, first, records[first:end])
            self._seen = end
            if self._at == known - 1:
                return
            self._at, self._seen = self._at + 1, 0


class Watch:
    """All runs of a session: steps so far, the way to stop them, and who listens to them.

    Attributes:
        listener: Is given the new episodes; None where nobody listens.
        on_step: Is given every step; None where nobody wants them, which is far faster.
        stopped: Whether all runs were asked to stop.
        here: Whether runs go on in the thread of whoever listens, so that the runs themselves have it look.
    """

    def __init__(self) -> None:
        self.listener: Callable[[Rows], None] | None = None
        self.on_step: Callable[[Step], None] | None = None
        self.here = False
        self._controls: list[Control] = []
        self._views: list[View] = []
        self._told: dict[int, int] = {}
        self.stopped = False

    def view(self, index: int, seed: int, control: Control) -> View:
        """Called by a run that starts: what it shows itself in."""
        made = View(index, seed, control)
        self._controls.append(control)
        if self.listener is not None:
            self._views.append(made)
        if self.stopped:
            control.stop = 1
        return made

    def steps(self) -> int:
        """Steps of all runs so far."""
        return sum(control.steps_done for control in self._controls) + sum(self._told.values())

    def stop(self) -> None:
        """Asks all runs to stop at their next step."""
        self.stopped = True
        for control in self._controls:
            control.stop = 1

    @property
    def look_seconds(self) -> float | None:
        """How long to wait between two looks; None, for ever, where nobody listens."""
        return None if self.listener is None else LOOK_SECONDS

    def pauses(self) -> tuple[Pause, ...]:
        """The pauses of a run in which it has the listener look."""
        return (Pause(every=1, then=self.look),) if self.here else ()

    def look(self, _segment: Any = None) -> None:
        """Gives the listener what is new."""
        if self.listener is None:
            return
        for view in list(self._views):
            over = view.over  # before the rows, so that no row is missed
            for rows in view.new_rows():
                self.listener(rows)
            if over:
                self._views.remove(view)

    def hear(self, number: int, told: Told) -> None:
        """Takes in what another process tells of the runs that begin with this number."""
        self._told[number] = told.steps
        for rows in told.rows if self.listener is not None else ():
            self.listener(rows)  # type: ignore[misc]
