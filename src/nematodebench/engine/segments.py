"""A phase in segments: whoever has something to do between the episodes of a run is called at their pauses.

A run goes through a phase in one call. With pauses it goes in several, each from where the last one ended, and has the
same bits. Without any there is nothing to pay for.

>>> def show(segment):                                          # doctest: +SKIP
...     print(segment.phase.name, segment.records[segment.first :, 0])
>>> execute(spec, pauses=[Pause(every=100, then=show)])         # doctest: +SKIP
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nematodebench.engine import loop
from nematodebench.tasks.base import Phase

__all__ = ["Pause", "Segment", "in_segments"]


@dataclass(frozen=True)
class Segment:
    """What a run has done since the last pause of the same kind.

    Attributes:
        brains: The brains of the run as they are now (``Agents.brains``).
        control: The control of the run; to set its ``stop`` ends the run.
        phase: The phase the run is in.
        first_episode: The number in the run of the phase's first episode.
        first: The first episode of the segment, counted from the beginning of the phase.
        records: The phase's episodes so far, one row each; those of the segment begin at row ``first``.
        last: Whether the phase ends here.
    """

    brains: Any
    control: loop.Control
    phase: Phase
    first_episode: int
    first: int
    records: NDArray[np.float64]
    last: bool


@dataclass(frozen=True)
class Pause:
    """Calls ``then`` after ``every`` so many episodes of a phase, and when the phase has ended."""

    every: int
    then: Callable[[Segment], Any]


def in_segments(
    go: Callable[[], int],
    plan: loop.Plan,
    control: loop.Control,
    pauses: Sequence[Pause],
    segment: Callable[[int, int, bool], Segment],
) -> int:
    """Goes through a phase with pauses; returns what the run loop returns.

    Args:
        go: Goes on to the next pause of the plan; returns the episodes so far, or a negative code.
        plan: The plan of the phase.
        control: The control of the run, which a pause may have set to stop.
        pauses: Who is called, and when.
        segment: Describes the segment from one episode to another; the third argument says if the phase ends there.
    """
    told = [0] * len(pauses)
    while True:
        plan.pause = min(((plan.episode // pause.every + 1) * pause.every for pause in pauses), default=0)
        code = go()
        last = loop.is_over(plan)
        for n, pause in enumerate(pauses if code > 0 else ()):
            if last or code % pause.every == 0:
                pause.then(segment(told[n], code, last))
                told[n] = code
        if code < 0 or last:
            return code
        if control.stop:
            return loop.CANCELLED
