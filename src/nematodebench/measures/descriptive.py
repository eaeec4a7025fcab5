"""No score: such tasks are described by the means of their world's metrics and never ranked."""

from dataclasses import dataclass
from typing import ClassVar

from nematodebench.measures.anchored import mean_metrics
from nematodebench.measures.base import Episodes, Measure, Measurement

__all__ = ["DESCRIPTIVE", "Descriptive"]


@dataclass(frozen=True)
class Descriptive(Measure):
    """Descriptors only."""

    name: ClassVar[str] = "descriptive"
    has_score: ClassVar[bool] = False

    def measure(self, scored: Episodes, assay: Episodes | None) -> Measurement:
        """Computes the mean of every metric."""
        return mean_metrics(scored)


DESCRIPTIVE = Descriptive()
