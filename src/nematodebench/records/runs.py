"""What a run leaves behind: the same whether it was just executed, kept by an unfinished session or measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["RunFailure", "RunResult"]


@dataclass(frozen=True)
class RunFailure:
    """Why a run has no result. A failed run is listed as failed and never scored."""

    message: str
    phase: str = ""
    episode: int | None = None
    step: int | None = None
    traceback: str = ""


@dataclass(frozen=True, repr=False)
class RunResult:
    """One run of a session.

    Attributes:
        index: Its number in the session.
        seed: What it was executed from.
        records: Its episodes: for each phase a matrix with one row for each episode.
        record_hash: SHA-256 of the episodes.
        memory_hash: SHA-256 of the brain's final memory; None where it cannot be had.
        descriptors: What the brain says of its final state.
        steps: Steps in the world.
        seconds: How long it took.
        failure: Why there is no result.
        metrics: What the session measured of it; empty before that, and for a failed run.
    """

    index: int
    seed: int
    records: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    record_hash: str = ""
    memory_hash: str | None = ""
    descriptors: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    seconds: float = 0.0
    failure: RunFailure | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.failure is not None:
            return f"<Run {self.index}, seed {self.seed}: failed, {' '.join(self.failure.message.split())}>"
        values = "".join(f", {name} {value:.4g}" for name, value in self.metrics.items() if value is not None)
        return f"<Run {self.index}, seed {self.seed}: {self.steps} steps{values}>"
