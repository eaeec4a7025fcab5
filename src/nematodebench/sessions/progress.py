"""How far a session has come: the engine writes it, and whoever shows the session reads it."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field

from nematodebench.engine.watching import Watch
from nematodebench.records.runs import RunResult
from nematodebench.sessions.audience import Recent

__all__ = ["Progress"]


@dataclass
class Progress:
    """How far a session has come. The engine writes it, and whoever shows the session reads it."""

    total: int = 0
    done: int = 0
    failed: int = 0
    damaged: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    watch: Watch = field(default_factory=Watch)
    shown: bool = False
    """Whether anybody shows it: otherwise nobody looks at runs that go on."""
    kept: int = 0
    """Runs that were finished before it began."""
    current: dict[int, Recent] = field(default_factory=dict)
    """The last episodes of every run that goes on."""

    def begin(self, total: int, results: Collection[RunResult]) -> None:
        """The runs begin; some of them may be finished already."""
        self.watch = Watch()
        self.current.clear()
        self.total, self.done = total, len(results)
        self.failed, self.kept = sum(result.failure is not None for result in results), len(results)
        self.started = time.perf_counter()

    def ended(self, result: RunResult) -> None:
        """A run has ended."""
        self.done += 1
        self.failed += result.failure is not None

    def steps_per_second(self) -> float:
        """Steps a second since the start; on a cluster, those of runs that have ended."""
        return self.watch.steps() / max(1e-9, time.perf_counter() - self.started)

    def under_way(self) -> float:
        """What the runs that go on have done, in runs."""
        return sum(run.share for run in list(self.current.values()))

    def seconds_left(self) -> float | None:
        """How long it will still take at the pace so far; None as long as nothing is done."""
        made = self.done - self.kept + self.under_way()
        left = self.total - self.kept - made
        return (time.perf_counter() - self.started) / made * left if made else None
